/** @file choices.h  Names that options take, from the library's lists: functions for opt.list. */
#ifndef FBP_CLI_CHOICES_H
#define FBP_CLI_CHOICES_H

#include <stddef.h>

/** The name of number i of an enum; "" where no name chooses it; NULL beyond the last. */
const char *choices_filter(size_t i);
const char *choices_interpolation(size_t i);
const char *choices_rings(size_t i);
const char *choices_unit(size_t i);
const char *choices_pad(size_t i);
const char *choices_weights(size_t i);
/** Weights of plane integrals, number i being weights i - 1; 0 stands for the scan's. */
const char *choices_quadrature(size_t i);
/** Kinds of geometry; those that are not supported can be chosen, and the library says why not. */
const char *choices_kind(size_t i);
/** The kinds that are supported, number i being kind i - 1; 0 stands for none. */
const char *choices_kind_or_none(size_t i);
const char *choices_precision(size_t i);
const char *choices_output_type(size_t i);
const char *choices_sample_type(size_t i);
/** Formats of geometry files that can be read, and written; "" for the others. */
const char *choices_geometry_read(size_t i);
const char *choices_geometry_written(size_t i);

#endif /* FBP_CLI_CHOICES_H */
