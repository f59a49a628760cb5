/** @file phase.h  Phase retrieval for objects of one material, a filter of whole views (internal).
 *
 * D. Paganin et al., J. Microsc. 206, 33 (2002): at distance z behind an object of one material in
 * a parallel beam, the transmission is T = (1 - a laplacian) exp(-p), where p is mu times the
 * thickness and a = z delta / mu. Therefore exp(-p) is T divided, at frequency k along the
 * detector, by 1 + a |k|^2.
 * Used by: pipeline/, prep/.
 */
#ifndef FBP_SRC_PREP_PHASE_H
#define FBP_SRC_PREP_PHASE_H

#include "fft/fft.h"

/** Tables for views of one size. */
struct fbp_retrieval {
    size_t n_columns, n_rows;
    /** Number of padding points at each end of a row and of a column [columns, rows]; they repeat
     * the outermost value. */
    size_t pad[2];
    size_t n[2]; /**< size of the transforms [columns, rows] */
    /** transforms of rows (along) and of columns (across) */
    struct fbp_mixed along, across;
    /** [n[0]] index of the frequency at each position of a transformed row */
    size_t *frequency;
    size_t *place; /**< [n[1]] position of each frequency in a transformed column */
};

/** Compute the tables for views of one size.  reach: greatest width sqrt(a) of the filter in all
 * views [columns, rows] (a: see the top of this file). */
fbp_status fbp_retrieval_open(struct fbp_retrieval *f, size_t n_columns, size_t n_rows,
                              const double reach[2]);
void fbp_retrieval_close(struct fbp_retrieval *f);

/** Size of the scratch memory of a thread [bytes], which the caller allocates by fbp_alloc(). */
size_t fbp_retrieval_bytes(const struct fbp_retrieval *f);

/** Return whether phase retrieval uses fused multiply-add on this processor; without it, the last
 * bits of results differ. */
bool fbp_retrieval_is_fused(void);

/** Contents of a view before phase retrieval: line integrals -log(T), or transmissions T. */
enum fbp_retrieved_from { FBP_FROM_INTEGRALS, FBP_FROM_TRANSMISSIONS };

/** Replace a view [row][column] by its phase-retrieved line integrals p.
 *
 * reach: width sqrt(a) of the filter [columns, rows]
 * work:  scratch memory of this thread */
void fbp_retrieve(const struct fbp_retrieval *f, enum fbp_retrieved_from from,
                  const double reach[2], float *view, void *work);

/* Only for phase*.c */

/** Scratch memory of one thread. */
struct phase_room {
    double *spectrum; /**< blocks of columns, [n[1]][part][column] */
    double *x;        /**< points of one transform of rows */
    double *u2;       /**< [n[0]] 1 + a k^2 for the frequencies k of rows, times divisor() of
                         phase_tmpl.h */
};

/** Versions of fbp_retrieve() for any processor, for AVX2, and for AVX-512; the latter two on
 *  x86-64 only. */
void fbp_retrieve_c(const struct fbp_retrieval *f, enum fbp_retrieved_from from,
                    const double reach[2], float *view, const struct phase_room *r);
void fbp_retrieve_avx2(const struct fbp_retrieval *f, enum fbp_retrieved_from from,
                       const double reach[2], float *view, const struct phase_room *r);
void fbp_retrieve_avx512(const struct fbp_retrieval *f, enum fbp_retrieved_from from,
                         const double reach[2], float *view, const struct phase_room *r);

#endif /* FBP_SRC_PREP_PHASE_H */
