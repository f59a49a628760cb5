/** @file cpu.h  Threads and vectors: the device of every machine (internal). */
#ifndef FBP_SRC_CPU_DEVICE_H
#define FBP_SRC_CPU_DEVICE_H

#include "backend/backend.h"
#include "backend/cpu/bp.h"

#include <fftw3.h>

/** What one thread needs to filter a row. */
struct cpu_scratch {
    double *weights;
    float *line;
    fftwf_complex *spectrum;
    struct fbp_prep_counts counts;
    char pad[64]; /* counters of two threads must not share a cache line */
};

struct cpu_device {
    const struct fbp_job *job;
    fbp_pool *pool;
    struct fbp_bp_dsp dsp;
    struct cpu_scratch *scratch; /**< one a thread */
    fftwf_plan forward, inverse; /**< of one row; executed on every thread's own buffers */
    float *response;             /**< filter factors, n_fft/2 + 1 */
    float *kernel;               /**< spatial form, 2 S + 1 */
    float *image, *lines;        /**< tabulated weights, or NULL: computed a row at a time */
};

/** Samples from one row of a filtered view to the next; rows start FBP_VIEW_LEFT samples in. */
size_t cpu_stride(const struct fbp_job *job);
/** Samples from one filtered view to the next: the rows and a border of zeros. */
size_t cpu_view_size(const struct fbp_job *job, size_t n_rows);

fbp_status cpu_filter_open(struct cpu_device *dev);
void cpu_filter_close(struct cpu_device *dev);
fbp_status cpu_filter(fbp_device *dev, const struct fbp_batch *batch, void *raw, void *filtered);
fbp_status cpu_backproject(fbp_device *dev, const struct fbp_batch *batch, const void *filtered,
                           const struct fbp_slab *slab, size_t z0, size_t z1, void *volume);

#endif /* FBP_SRC_CPU_DEVICE_H */
