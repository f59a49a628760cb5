/** @file pattern.h  Names with a place for a number, "views/%04d.mha 1 360" (internal). */
#ifndef FBP_SRC_PATTERN_H
#define FBP_SRC_PATTERN_H

#include "base/base.h"

#include <stdbool.h>
#include <stddef.h>

/** The parts of "views/%04d.mha 1 360": pieces of the text, lengths, numbers. */
struct fbp_pattern {
    const char *prefix, *suffix;
    int n_prefix, n_suffix, width;
    unsigned long long first, last;
};

/** The place for a number in text[n], the last one: %d, or %0Nd.  Fills in all but the numbers. */
bool fbp_pattern_place(const char *text, size_t n, struct fbp_pattern *out);
/** malloc'ed name with this number in it; NULL when out of memory. */
char *fbp_pattern_name(const struct fbp_pattern *p, unsigned long long number);

/** Is there a number where the pattern has its place in the name of a file, without folders? */
bool fbp_pattern_fits(const struct fbp_pattern *p, const char *name, unsigned long long *number);

/** A pattern with its two numbers? */
bool fbp_pattern_parse(const char *path, struct fbp_pattern *out);

#endif /* FBP_SRC_PATTERN_H */
