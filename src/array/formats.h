/** @file formats.h  The table of array formats (internal). */
#ifndef FBP_SRC_FORMATS_H
#define FBP_SRC_FORMATS_H

#include "array/file/format.h"

/** Format number i of the table; NULL beyond the last. */
const struct fbp_format *fbp_format_at(size_t i);

/** The format of files with such a name, to read; NULL if none has it. */
const struct fbp_format *fbp_format_of_name(const char *path);

/** The format of a folder that is one array; NULL: it is none, or no folder. */
const struct fbp_format *fbp_format_of_folder(const char *path);

/** The format of a file that is written under such a name, of it or of an array in it, the first
 *  *n bytes of which name the file; NULL: there is none. */
const struct fbp_sink_format *fbp_format_to_write(const char *path, size_t *n);

/** The format of an output of a file a slice, "out/slice_%04d.tif" or "slice.png"; NULL: this is no
 *  such name. */
const struct fbp_format *fbp_format_of_slices(const char *path);

/** Extensions of the outputs that can be written, ".mha .mhd …", into buf; returns buf. */
char *fbp_formats_written(char *buf, size_t n);

/**
 * One format more, behind those of the table, which keeps `format`: for tests, and programs that
 * link the library's objects.  Before any other call of the library.
 * @return false: there are too many
 */
bool fbp_formats_add(const struct fbp_format *format);

#endif /* FBP_SRC_FORMATS_H */
