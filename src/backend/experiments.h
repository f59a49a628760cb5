/** @file experiments.h  What a device brings for benchmarks alone (internal).
 *
 * A backend's slot experiment(name) hands out one of these structs, or NULL; nothing of the
 * pipeline knows of them.  ("links", which plans ask for, too, is in backend/link_meter.h; "mip",
 * for pictures, in picture/projector.h.)
 */
#ifndef FBP_SRC_EXPERIMENTS_H
#define FBP_SRC_EXPERIMENTS_H

#include "fbp-lab/bench.h"
#include "fbp-lab/s1.h"
#include "fbp-lab/s3.h"
#include "fbp-lab/s4.h"

#include "backend/backend.h"

/** "limits": what the device does at best. */
struct fbp_limit_kernels {
    /** Measure the device of this index. */
    fbp_status (*measure)(int index, struct fbp_limits *out);
    /** Updates a second that the job's kernel could do if it did nothing but what it needs most of,
     *  and what that is. */
    double (*of_kernel)(const struct fbp_job *job, const struct fbp_limits *limits, char *what,
                        size_t n);
};

/** "shapes": those that kernels have (gpu/tuner.h). */
struct fbp_shape_kernels {
    /** How many the job's kernel has; 1: it has no choice. */
    int (*of_kernel)(const struct fbp_job *job);
};

/** "s1": the kernels of S1 (fbp-lab/s1.h), for a job whose kernel is `matrix`, precision fast. */
struct fbp_s1_kernels {
    /** NULL beyond the last. */
    const struct fbp_s1_shape *(*shape)(size_t index);
    /** One run over a batch of all views into the whole volume; returns when it is done. */
    fbp_status (*run)(fbp_device *dev, const struct fbp_batch *batch, const void *filtered,
                      void *volume, size_t index, enum fbp_s1_part part, struct fbp_s1_time *out);
};

struct fbp_s3_device;

/** "s3": the variants of S3 (fbp-lab/s3.h), drawn; jobs of views and slices one by one. */
struct fbp_s3_kernels {
    /** NULL beyond the last. */
    const struct fbp_s3_variant *(*variant)(size_t index);
    void (*cost)(const struct fbp_s3_way *way, struct fbp_s3_cost *out);
    /** The job must outlive the device. */
    fbp_status (*open)(struct fbp_s3_device **out, int index, const struct fbp_job *job);
    void (*close)(struct fbp_s3_device **dev);
    const char *(*renderer)(const struct fbp_s3_device *dev);
    fbp_status (*measure)(struct fbp_s3_device *dev, struct fbp_s3_limits *out);
    /** views: line integrals [n_views][n_rows][n_columns]; wanted, voxels: [nz][ny][nx].  wanted
     *  NULL: all; others are 0. */
    fbp_status (*run)(struct fbp_s3_device *dev, const struct fbp_s3_way *way, const float *views,
                      const uint8_t *wanted, float *voxels, struct fbp_s3_time *out);
};

/** Arguments of the kernels of S4: arrays of the host, [Q][S] and [Q] each. */
struct fbp_s4_arguments {
    const double *projection, *gx, *gy, *gz;
    double d_object, d_proj;
    int n, q, s; /**< the paper's N, Q and S */
};

/** "s4": kernels with the arguments of S4's paper. */
struct fbp_s4_kernels {
    fbp_status (*describe)(int index, struct fbp_s4_gpu *out);
    fbp_status (*occupancy)(int index, const struct fbp_s4_arguments *a, enum fbp_s4_kernel kernel,
                            unsigned block, struct fbp_s4_occupancy *out);
    /** object: [N][N][N], of the host. */
    fbp_status (*run)(int index, const struct fbp_s4_arguments *a, enum fbp_s4_kernel kernel,
                      unsigned block, double *object, struct fbp_s4_launch *out);
};

#endif /* FBP_SRC_EXPERIMENTS_H */
