/** @file stack.h  Views in a file each: a pattern of names, or a folder, as one source (internal).
 */
#ifndef FBP_SRC_STACK_H
#define FBP_SRC_STACK_H

#include "io/format.h"

/** Is this a pattern, "views/%04d.mha 1 360": a name with a place for a number (%d, or %0Nd padded
 *  with zeros to N digits), and the first and the last number?  Or a folder? */
bool fbp_stack_is(const char *path);

/** Is `file` one of the pattern's or the folder's files, by its name or as a link to it, or would
 * it become one? */
bool fbp_stack_holds(const char *path, const char *file);

/** Would a file of this name become one of a pattern's or folder's kind, beside its files? */
bool fbp_stack_joins(const char *path, const char *file);

/** Hash size and time of a file, or of all files of a stack; those that are missing count, too.
 */
uint64_t fbp_stack_hash(uint64_t h, const char *path);

/** Fill in src, whose path is a pattern or a folder.  raw: n[2] is the number of files or 0, the
 * rest holds for each file.  All files are looked at; of a growing source the first, if it has a
 * header. */
fbp_status fbp_stack_open(struct fbp_source *src, const struct fbp_raw *raw);

#endif /* FBP_SRC_STACK_H */
