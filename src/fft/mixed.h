/** @file mixed.h  Complex rows in double whose lengths are 2^a 3^b 5^c (internal). */
#ifndef FBP_SRC_MIXED_H
#define FBP_SRC_MIXED_H

#include "base/status.h"

#include <stddef.h>

enum { FBP_MIXED_LEVELS = 40 };

struct fbp_mixed {
    size_t n;
    unsigned n_levels;
    size_t radix[FBP_MIXED_LEVELS];
    double *turns; /**< of all levels */
};

/** FBP_ERR_UNSUPPORTED, without a message, where n has other prime factors. */
fbp_status fbp_mixed_open(struct fbp_mixed *f, size_t n);
void fbp_mixed_close(struct fbp_mixed *f);

/** x: [n][2], in place; work: as much. */
void fbp_mixed_run(const struct fbp_mixed *f, double *x, double *work);

/** frequency: [n]; which one falls at each place of a transform in place (abreast_tmpl.h). */
void fbp_mixed_order(const struct fbp_mixed *f, size_t *frequency);

#endif /* FBP_SRC_MIXED_H */
