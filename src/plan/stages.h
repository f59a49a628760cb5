/** @file stages.h  Plane integrals in two stages: the scan of pictures (internal).
 *
 * Stage one filters the views and adds up those of each meridian plane to a picture (s, z) of it
 * (backend/meridian.h).  With s across the axis, z along it, and f the picture's angle, stage two
 * is
 *
 *     volume(x) = sum over planes  picture(x . across(f), x . axis),
 *
 * the backprojection of parallel views that are weighted and filtered already.
 */
#ifndef FBP_SRC_STAGES_H
#define FBP_SRC_STAGES_H

#include "geometry/meridians.h"
#include "plan/job.h"

struct fbp_stages {
    bool used;
    struct fbp_job_tables first; /**< of stage one, arranged for `backend` */
    const struct fbp_backend *backend;
    struct fbp_meridian_planes planes;
    struct fbp_meridian_pictures pictures;
    size_t *order;        /**< [n_views] of the scan, by planes: what is k-th there */
    struct fbp_scan scan; /**< of the pictures; owns its views alone */
};

/**
 * The scan of the pictures, for the volume that the parameters ask for, and what makes them.
 *
 * scan, params: as of fbp_job_create(); scan outlives *out
 * wanted: the backend that computes stage two; stage one is done by it or, where it cannot, by cpu
 * @return FBP_ERR_UNSUPPORTED if the directions do not lie in meridian planes.
 */
fbp_status fbp_stages_create(struct fbp_stages *out, const struct fbp_scan *scan,
                             const struct fbp_recon_params *params,
                             const struct fbp_backend *wanted, bool top_down);
void fbp_stages_clear(struct fbp_stages *stages);

/** Updates of stage one: views x samples of a picture, in all frames. */
uint64_t fbp_stages_updates(const struct fbp_stages *stages);

/** For people: "; two stages: 18 planes through z". */
void fbp_stages_describe(const struct fbp_stages *stages, char *buf, size_t n);

#endif /* FBP_SRC_STAGES_H */
