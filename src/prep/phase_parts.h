/** @file phase_parts.h  What the versions of phase retrieval share (internal to phase*). */
#ifndef FBP_SRC_PHASE_PARTS_H
#define FBP_SRC_PHASE_PARTS_H

#include "base/vec.h"
#include "prep/phase.h"

/** As fbp_transmission() has it. */
#define FBP_LEAST_TRANSMISSION 1e-6f

/** A thread's. */
struct phase_room {
    double *spectrum; /**< of blocks of columns, [n[1]][part][column] */
    double *x;        /**< of the longer transform */
    double *u2;       /**< [n[0]], of frequencies along rows */
};

/** What fbp_retrieve() does; the last two on x86-64 only. */
void fbp_retrieve_c(const struct fbp_retrieval *f, enum fbp_retrieved_from from,
                    const double reach[2], float *view, const struct phase_room *r);
void fbp_retrieve_avx2(const struct fbp_retrieval *f, enum fbp_retrieved_from from,
                       const double reach[2], float *view, const struct phase_room *r);
void fbp_retrieve_avx512(const struct fbp_retrieval *f, enum fbp_retrieved_from from,
                         const double reach[2], float *view, const struct phase_room *r);

#endif /* FBP_SRC_PHASE_PARTS_H */
