/** @file sink_stack.h  Slices in a file each (internal).
 *
 * Slice k is written whole as NAME.part; all get their names at the end.  PATTERN.part.log is lock
 * and journal; a line's hash is that of a whole file.
 */
#ifndef FBP_SRC_SINK_STACK_H
#define FBP_SRC_SINK_STACK_H

#include "array/sink.h"

fbp_status fbp_sink_stack_open(struct fbp_sink *s, const char *path,
                               const struct fbp_sink_params *params);
fbp_status fbp_sink_stack_write(struct fbp_sink *s, size_t z0, size_t nz, const void *data);
fbp_status fbp_sink_stack_publish(struct fbp_sink *s);
/** Remove what is there of an unfinished stack. */
void fbp_sink_stack_remove(struct fbp_sink *s);

/* --- its files (sink_stack_files.c) --- */

/** malloc'ed "out/slice_0007.tif", with ".part" behind it or nothing; NULL when out of memory. */
char *fbp_sink_stack_name(const struct fbp_sink *s, size_t z, const char *behind);
/** All names can be taken. */
fbp_status fbp_sink_stack_check_names(const struct fbp_sink *s);
/** No slices of another, larger volume are there, which would be taken for some of this one. */
fbp_status fbp_sink_stack_check_others(const struct fbp_sink *s);
/** No slice replaces an input, or joins a stack that is one. */
fbp_status fbp_sink_stack_spare(const struct fbp_sink *s, const struct fbp_sink_params *params);
/** Remove temporary slices of any volume of this name, which must be `ours`, or empty. */
fbp_status fbp_sink_stack_clear(const struct fbp_sink *s, const struct fbp_part_inputs *inputs,
                                bool ours);
/** Remove those that are still to be written here. */
fbp_status fbp_sink_stack_clear_missing(const struct fbp_sink *s,
                                        const struct fbp_part_inputs *inputs);
/** Remove those of this volume. */
void fbp_sink_stack_remove_parts(const struct fbp_sink *s);
/** Give slice z, or all slices, their names, which they may have already; *gone: some are nowhere.
 */
fbp_status fbp_sink_stack_name_slice(const struct fbp_sink *s, size_t z, bool *gone);
fbp_status fbp_sink_stack_name_slices(const struct fbp_sink *s, bool *gone);

#endif /* FBP_SRC_SINK_STACK_H */
