/** @file choices.h  Permitted values of options, from the library's lists of names: functions for
 * the member `list` of struct opt, used in the option tables of all commands. */
#ifndef FBP_CLI_CHOICES_H
#define FBP_CLI_CHOICES_H

#include <stddef.h>

/** Name of value i of an enum; "": value i cannot be chosen; NULL: beyond the last value. */
const char *choices_weights(size_t i);
/** Weights of plane integrals: name i is value i - 1 of the enum; 0: the scan's weights. */
const char *choices_quadrature(size_t i);
/** Kinds of geometry.  Unsupported kinds are included: the library then reports the reason. */
const char *choices_kind(size_t i);
/** Supported kinds with line integrals: name i is kind i - 1; 0: no kind. */
const char *choices_kind_or_none(size_t i);
const char *choices_precision(size_t i);
const char *choices_output_type(size_t i);
const char *choices_sample_type(size_t i);
/** Formats of geometry files that fbp can read, or write; "": all other formats. */
const char *choices_geometry_read(size_t i);
const char *choices_geometry_written(size_t i);

#endif /* FBP_CLI_CHOICES_H */
