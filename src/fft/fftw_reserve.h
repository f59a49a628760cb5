/** @file fftw_reserve.h  A block of memory shared out in pieces (internal; no locks, no other
 *  memory). */
#ifndef FBP_SRC_FFTW_RESERVE_H
#define FBP_SRC_FFTW_RESERVE_H

#include <stdbool.h>
#include <stddef.h>

/** Pieces lie one behind the other, each behind its header, which is as long as an alignment. */
struct fbp_reserve {
    struct fbp_reserve *next; /**< of the caller's list */
    char *base;               /**< FBP_ALIGN-aligned; the caller's */
    size_t bytes, n_used;     /**< pieces in use */
};

/** `base` of `bytes`, a multiple of FBP_ALIGN, as one free piece. */
void fbp_reserve_init(struct fbp_reserve *r, void *base, size_t bytes);

/** n bytes, FBP_ALIGN-aligned; NULL if no free piece is as large. */
void *fbp_reserve_take(struct fbp_reserve *r, size_t n);

/** Is p one of its pieces? */
bool fbp_reserve_has(const struct fbp_reserve *r, const void *p);

void fbp_reserve_give_back(struct fbp_reserve *r, void *p);

/** The largest piece that can be taken. */
size_t fbp_reserve_room(const struct fbp_reserve *r);

#endif /* FBP_SRC_FFTW_RESERVE_H */
