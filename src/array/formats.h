/** @file formats.h  The table of array formats (internal). */
#ifndef FBP_SRC_FORMATS_H
#define FBP_SRC_FORMATS_H

#include "array/file/format.h"

/** The format of files with such a name; NULL if none has it. */
const struct fbp_format *fbp_format_of_name(const char *path);

/** Format number i of the table of arrays; NULL beyond the last. */
const struct fbp_format *fbp_source_format(size_t i);

#endif /* FBP_SRC_FORMATS_H */
