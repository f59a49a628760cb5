/** @file cpu.h  Threads and vectors: the device of every machine (internal). */
#ifndef FBP_SRC_CPU_DEVICE_H
#define FBP_SRC_CPU_DEVICE_H

#include "backend/backend.h"
#include "backend/cpu/bp.h"
#include "backend/cpu/kernel.h"
#include "backend/cpu/orbit_bp.h"

#include <fftw3.h>

/** What one thread needs to filter rows and to backproject. */
struct cpu_scratch {
    double *weights;
    float *line;
    fftwf_complex *spectrum;
    float *rows;  /**< filtered rows on their way into the kernel's layout (cpu_kernel.store) */
    float *lines; /**< the kernel's own */
    struct fbp_prep_counts counts;
    char pad[64]; /* counters of two threads must not share a cache line */
};

struct cpu_device {
    const struct fbp_job *job;
    fbp_pool *pool;
    struct fbp_bp_dsp dsp;
    struct fbp_orbit_dsp orbit_dsp;
    const struct cpu_kernel *kernel;
    double (*principal)[2];      /**< a view: the pixel that kernels count coordinates from */
    struct cpu_scratch *scratch; /**< one a thread */
    fftwf_plan forward, inverse; /**< of one row; executed on every thread's own buffers */
    float *response;             /**< filter factors, n_fft/2 + 1 */
    float *taps;                 /**< spatial form, 2 S + 1 */
    float *image, *lines;        /**< tabulated weights, or NULL: computed a row at a time */
};

fbp_status cpu_filter_open(struct cpu_device *dev);
void cpu_filter_close(struct cpu_device *dev);
fbp_status cpu_filter(fbp_device *dev, const struct fbp_batch *batch, void *raw, void *filtered);

#endif /* FBP_SRC_CPU_DEVICE_H */
