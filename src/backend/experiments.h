/** @file experiments.h  What a device brings for benchmarks alone (internal).
 *
 * A backend's slot experiment(name) hands out one of these structs, or NULL; nothing of the
 * pipeline knows of them.  ("links", which plans ask for, too, is in backend/link_meter.h; "mip",
 * for pictures, in picture/projector.h.)
 */
#ifndef FBP_SRC_EXPERIMENTS_H
#define FBP_SRC_EXPERIMENTS_H

#include "bench/papers/ino2009/s3.h"

#include "backend/backend.h"

/** "shapes": those that kernels have (gpu/tuner.h). */
struct fbp_shape_kernels {
    /** How many the job's kernel has; 1: it has no choice. */
    int (*of_kernel)(const struct fbp_job *job);
};

struct fbp_s3_device;

/** "s3": the variants of S3 (bench/papers/ino2009/s3.h), drawn; jobs of views and slices one by
 * one. */
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

#endif /* FBP_SRC_EXPERIMENTS_H */
