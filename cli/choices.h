/** @file choices.h  Names that options take, from the library's lists: functions for opt.list. */
#ifndef FBP_CLI_CHOICES_H
#define FBP_CLI_CHOICES_H

#include <stddef.h>

/** The name of number i of an enum; "" where no name chooses it; NULL beyond the last. */
const char *choices_filter(size_t i);
const char *choices_pad(size_t i);
const char *choices_weights(size_t i);
const char *choices_precision(size_t i);
const char *choices_output_type(size_t i);
/** Formats of geometry files that can be read, and written; "" for the others. */
const char *choices_geometry_read(size_t i);
const char *choices_geometry_written(size_t i);

#endif /* FBP_CLI_CHOICES_H */
