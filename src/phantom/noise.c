#include "phantom/noise.h"

#include "base/vec.h"

#include <math.h>

/* splitmix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014. */
static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static const uint64_t golden = 0x9e3779b97f4a7c15u;

struct fbp_random fbp_random_at(uint64_t seed, uint64_t view, uint64_t pixel)
{
    const uint64_t of_view = mix(mix(seed + golden) + (view + 1) * golden);
    return (struct fbp_random){mix(of_view + (pixel + 1) * golden)};
}

/* Uniform in (0, 1): the middles of 2^53 equal parts. */
static double uniform(struct fbp_random *r)
{
    r->state += golden;
    return ((double)(mix(r->state) >> 12) + .5) * 0x1p-52;
}

/* Inversion: the number of terms of the distribution below u. */
static double small_mean(struct fbp_random *r, double mean)
{
    double p = exp(-mean), u = uniform(r);
    int k = 0;

    while (u > p && k < 1000) {
        u -= p;
        p *= mean / ++k;
    }
    return k;
}

/* Transformed rejection: W. Hormann, "The transformed rejection method for generating Poisson
 * random variables", Insurance: Mathematics and Economics 12 (1993), algorithm PTRS, mean >= 10. */
static double large_mean(struct fbp_random *r, double mean)
{
    const double log_mean = log(mean);
    const double b = .931 + 2.53 * sqrt(mean), a = -.059 + .02483 * b;
    const double inv_alpha = 1.1239 + 1.1328 / (b - 3.4), v_r = .9277 - 3.6224 / (b - 2);

    for (;;) {
        const double u = uniform(r) - .5, v = uniform(r), us = .5 - fabs(u);
        const double k = floor((2 * a / us + b) * u + mean + .43);
        int sign;
        if (us >= .07 && v <= v_r)
            return k;
        if (k < 0 || (us < .013 && v > us))
            continue;
        if (log(v * inv_alpha / (a / (us * us) + b)) <=
            k * log_mean - mean - lgamma_r(k + 1, &sign))
            return k;
    }
}

double fbp_poisson(struct fbp_random *r, double mean)
{
    return mean < 10 ? small_mean(r, mean) : large_mean(r, mean);
}

/* Box & Muller 1958, the first of two. */
double fbp_normal(struct fbp_random *r)
{
    const double u = uniform(r), v = uniform(r);

    return sqrt(-2 * log(u)) * cos(2 * FBP_PI * v);
}
