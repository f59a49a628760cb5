/** @file harden.h  Beam hardening: a polynomial of the line integral (internal; pure). */
#ifndef FBP_SRC_HARDEN_H
#define FBP_SRC_HARDEN_H

#include "fbp/correction.h"

/** p' = a[0] p + a[1] p^2 + ... + a[n - 1] p^n; n 0: p' = p. */
struct fbp_hardening {
    float a[FBP_HARDENING_TERMS];
    unsigned n;
};

/** Of n > 0 coefficients, by Horner's rule. */
static inline float fbp_harden(const struct fbp_hardening *h, float p)
{
    float sum = h->a[h->n - 1];

    for (unsigned i = h->n - 1; i > 0; i--)
        sum = sum * p + h->a[i - 1];
    return sum * p;
}

#endif /* FBP_SRC_HARDEN_H */
