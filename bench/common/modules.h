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

/** Functions for the kernels of Zinsser and Keck (2013), for a job with kernel `matrix` in
 * precision fast. */
struct fbp_s1_kernels {
    /** NULL beyond the last. */
    const struct fbp_s1_shape *(*shape)(size_t index);
    /** Add a batch of all views to the whole volume once, and wait for the end. */
    fbp_status (*run)(fbp_device *dev, const struct fbp_batch *batch, const void *filtered,
                      void *volume, size_t index, enum fbp_s1_part part, struct fbp_s1_time *out);
};

struct fbp_s3_device;

/** Functions that draw the variants of Ino et al. (2009), for jobs without symmetry. */
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

/** Arguments of the kernels of Qiao et al. (2015): arrays [Q][S] and [Q] in host memory. */
struct fbp_s4_arguments {
    const double *projection, *gx, *gy, *gz;
    double d_object, d_proj;
    int n, q, s; /**< the paper's N, Q and S */
};

/** Functions for the kernels with the arguments of Qiao et al. (2015). */
struct fbp_s4_kernels {
    fbp_status (*describe)(int index, struct fbp_s4_gpu *out);
    fbp_status (*occupancy)(int index, const struct fbp_s4_arguments *a, enum fbp_s4_kernel kernel,
                            unsigned block, struct fbp_s4_occupancy *out);
    /** object: [N][N][N], of the host. */
    fbp_status (*run)(int index, const struct fbp_s4_arguments *a, enum fbp_s4_kernel kernel,
                      unsigned block, double *object, struct fbp_s4_launch *out);
};

/** Properties, reported by the driver, of copies from one device to another. */
struct bench_peer {
    bool direct;  /**< copies need not pass through host memory */
    bool atomics; /**< atomics work in the other's memory: the link is direct, not the PCI bus */
    int rank;     /**< rank of the link's speed among the links of the machine; 0: fastest */
};

/** Functions that a GPU module has for benchmarks; NULL: not in this module. */
struct bench_device {
    /** Measure the limits of the device of this index. */
    fbp_status (*limits)(int index, struct fbp_limits *out);
    /** Sets *out to the driver's report about copies from one device to another, if it is known. */
    void (*peer)(int from, int to, struct bench_peer *out);
    /** Start the clock of the device (seconds NULL); or wait for the work of the stage and read the
     * clock. */
    fbp_status (*time)(fbp_device *dev, enum fbp_stage stage, double *seconds);
    /** Instruction counts of the loops of filter and proposed backprojection of Okitsu et al.
     * (2008), compiled for the device `index`; unchanged if they were not counted. */
    fbp_status (*s0_code)(int index, struct s0_code *filter, struct s0_code *backproject);
    const struct fbp_s1_kernels *s1;
    const struct fbp_s3_kernels *s3;
    const struct fbp_s4_kernels *s4;
    struct gl_fault_injection *plant; /**< fault injection for tests (backend/gl/egl.h) */
};

/** The backend of a name ("auto" or NULL: the first that can be used), loaded and with a device.
 *  @return FBP_ERR_INVALID: another device than the first of its kind. */
fbp_status fbp_bench_device(const char *name, const struct fbp_backend **out);

/** Type of the function fbp_bench_NAME() that a module libfbp_bench_NAME.so exports. */
typedef const struct bench_device *bench_device_fn(void);

/** The benchmark functions of a loaded backend; never NULL. */
const struct bench_device *bench_device_of(const struct fbp_backend *backend);

#endif /* FBP_BENCH_COMMON_MODULES_H */
