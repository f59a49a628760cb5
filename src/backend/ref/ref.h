/** @file ref.h  The specification: plain C, one thread, double (internal). */
#ifndef FBP_SRC_REF_H
#define FBP_SRC_REF_H

#include "backend/backend.h"
#include "filter/filter.h"

#include <pthread.h>

struct ref_device {
    const struct fbp_job *job;
    pthread_mutex_t lock; /**< stages call from threads of their own; one computes at a time */
    double *weights;      /**< one row */
    struct fbp_row_work work;
    struct fbp_row_filter filter;
    float *ends; /**< a row and its weights, where rows are carried on */
    struct fbp_prep_counts counts;
    struct fbp_ledger ledger;
};

/** filtered: double [n_views][n_rows][wide.n_columns]. */
fbp_status ref_filter(fbp_device *dev, const struct fbp_batch *batch, void *raw, void *filtered);

/** sum_k bilinear(view_k, u, v) / w^2 over a batch's views at the point x [mm], w(0) = 1; Zinsser
 *  and Keck 2013, section II.  Needs no device. */
double ref_value(const struct fbp_job *job, const struct fbp_batch *batch, const double *filtered,
                 const double x[3]);

/** volume: double [frames][nz][ny][nx] of the slab. */
fbp_status ref_backproject(fbp_device *dev, const struct fbp_batch *batch, const void *filtered,
                           const struct fbp_slab *slab, size_t z0, size_t z1, void *volume);

/** A filtered row of plane integrals at u, as the job interpolates. */
double ref_row_value(const struct fbp_job *job, const double *row, double u);

/** A picture of a meridian plane, sample by sample; see fbp_backend.meridian. */
fbp_status ref_meridian(fbp_device *dev, const void *filtered, const struct fbp_picture *picture,
                        void *out);

#endif /* FBP_SRC_REF_H */
