/** @file modules.h  What GPUs do for benchmarks alone.
 *
 * fbp-bench prefers modules of its own, such as libfbp_bench_cuda.so.  They contain the backend of
 * libfbp_cuda.so, the kernels of papers, and a table of the functions below.
 */
#ifndef FBP_BENCH_COMMON_MODULES_H
#define FBP_BENCH_COMMON_MODULES_H

#include "backend/backend.h"
#include "bench/common/measure.h"
#include "bench/papers/ino2009/s3.h"
#include "bench/papers/okitsu2008/rules.h"
#include "bench/papers/qiao2015/s4.h"
#include "bench/papers/zinsser2013/s1.h"

/** The kernels of S1 (bench/papers/zinsser2013/s1.h), for a job whose kernel is `matrix`,
 * precision fast. */
struct fbp_s1_kernels {
    /** NULL beyond the last. */
    const struct fbp_s1_shape *(*shape)(size_t index);
    /** One run over a batch of all views into the whole volume; returns when it is done. */
    fbp_status (*run)(fbp_device *dev, const struct fbp_batch *batch, const void *filtered,
                      void *volume, size_t index, enum fbp_s1_part part, struct fbp_s1_time *out);
};

struct fbp_s3_device;

/** The variants of S3, drawn; jobs of views and slices one by one. */
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
     *  NULL: all; others are 0.  check: called after every layer of views and every group of
     * slices; the run stops with its status unless that is FBP_OK. */
    fbp_status (*run)(struct fbp_s3_device *dev, const struct fbp_s3_way *way, const float *views,
                      const uint8_t *wanted, float *voxels, fbp_status (*check)(void),
                      struct fbp_s3_time *out);
};

/** Arguments of the kernels of S4: arrays of the host, [Q][S] and [Q] each. */
struct fbp_s4_arguments {
    const double *projection, *gx, *gy, *gz;
    double d_object, d_proj;
    int n, q, s; /**< the paper's N, Q and S */
};

/** Kernels with the arguments of S4's paper. */
struct fbp_s4_kernels {
    fbp_status (*describe)(int index, struct fbp_s4_gpu *out);
    fbp_status (*occupancy)(int index, const struct fbp_s4_arguments *a, enum fbp_s4_kernel kernel,
                            unsigned block, struct fbp_s4_occupancy *out);
    /** object: [N][N][N], of the host. */
    fbp_status (*run)(int index, const struct fbp_s4_arguments *a, enum fbp_s4_kernel kernel,
                      unsigned block, double *object, struct fbp_s4_launch *out);
};

/** The functions of a module; members are NULL if it lacks them. */
struct bench_device {
    /** Measure the limits of the device of this index. */
    fbp_status (*limits)(int index, struct fbp_limits *out);
    /** The device's clock: start it (seconds NULL), or wait until the stage has done its work so
     * far and stop it. */
    fbp_status (*time)(fbp_device *dev, enum fbp_stage stage, double *seconds);
    /** Loops of the filter and of the proposed backprojection of Okitsu 2008, as compiled for the
     * device of this index; left alone if they were not counted. */
    fbp_status (*s0_code)(int index, struct s0_code *filter, struct s0_code *backproject);
    const struct fbp_s1_kernels *s1;
    const struct fbp_s3_kernels *s3;
    const struct fbp_s4_kernels *s4;
    struct gl_fault_injection *plant; /**< fault injection for tests (backend/gl/egl.h) */
};

/** The backend of a name ("auto" or NULL: the first that can be used), loaded and with a device.
 *  @return FBP_ERR_INVALID: another device than the first of its kind. */
fbp_status fbp_bench_device(const char *name, const struct fbp_backend **out);

/** What a module libfbp_bench_NAME.so exports as fbp_bench_NAME. */
typedef const struct bench_device *bench_device_fn(void);

/** The functions of a backend that is loaded; never NULL. */
const struct bench_device *bench_device_of(const struct fbp_backend *backend);

#endif /* FBP_BENCH_COMMON_MODULES_H */
