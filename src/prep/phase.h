/** @file phase.h  Phase retrieval of one material (internal).
 *
 * D. Paganin et al., J. Microsc. 206, 33 (2002): behind an object of one material, at distance z in
 * a parallel beam, the transmission is T = (1 - a laplacian) exp(-p), p = mu times the thickness
 * and a = z delta / mu; so exp(-p) is T divided, in frequencies k along the detector, by 1 + a
 * |k|^2. It takes whole views.
 */
#ifndef FBP_SRC_PHASE_H
#define FBP_SRC_PHASE_H

#include "fft/fft.h"

#include <stdbool.h>
#include <stddef.h>

/** Of views of one size. */
struct fbp_retrieval {
    size_t n_columns, n_rows;
    size_t pad[2]; /**< columns and rows that are added at either end, with the outermost values */
    size_t n[2];   /**< of the transform */
    struct fbp_mixed along, across; /**< rows; columns */
    size_t *frequency;              /**< [n[0]]: which is at a place of a transform along rows */
    size_t *place;                  /**< [n[1]]: of a frequency, in one across them */
};

/** reach: sqrt(a) in columns and in rows, the greatest of all views. */
fbp_status fbp_retrieval_open(struct fbp_retrieval *f, size_t n_columns, size_t n_rows,
                              const double reach[2]);
void fbp_retrieval_close(struct fbp_retrieval *f);

/** Bytes of one thread's work; memory of fbp_alloc(). */
size_t fbp_retrieval_bytes(const struct fbp_retrieval *f);

/** By multiplication and addition as one operation?  Without, last bits differ. */
bool fbp_retrieval_is_fused(void);

/** Of what a view is before: T, or its line integrals -log(T). */
enum fbp_retrieved_from { FBP_FROM_INTEGRALS, FBP_FROM_TRANSMISSIONS };

/**
 * A view, [row][column], to line integrals of exp(-p), in place.
 *
 * reach: sqrt(a) in columns and in rows
 */
void fbp_retrieve(const struct fbp_retrieval *f, enum fbp_retrieved_from from,
                  const double reach[2], float *view, void *work);

#endif /* FBP_SRC_PHASE_H */
