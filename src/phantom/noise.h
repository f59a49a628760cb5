/** @file noise.h  Random numbers that depend on a pixel's place only (internal). */
#ifndef FBP_SRC_NOISE_H
#define FBP_SRC_NOISE_H

#include <stdint.h>

/** A sequence of its own for each (seed, view, pixel). */
struct fbp_random {
    uint64_t state;
};

struct fbp_random fbp_random_at(uint64_t seed, uint64_t view, uint64_t pixel);

/** Exact Poisson variate of mean >= 0 as a whole number. */
double fbp_poisson(struct fbp_random *random, double mean);

/** Gaussian variate of mean 0 and variance 1. */
double fbp_normal(struct fbp_random *random);

#endif /* FBP_SRC_NOISE_H */
