/** @file cpu.h  Threads and vectors: the device of every machine (internal). */
#ifndef FBP_SRC_CPU_DEVICE_H
#define FBP_SRC_CPU_DEVICE_H

#include "backend/backend.h"
#include "backend/cpu/bp.h"
#include "backend/cpu/column_double_bp.h"
#include "backend/cpu/columns.h"
#include "backend/cpu/convolve.h"
#include "backend/cpu/kernel.h"
#include "backend/cpu/line.h"
#include "backend/cpu/orbit_bp.h"
#include "backend/cpu/planes_bp.h"
#include "backend/cpu/planes_double_bp.h"
#include "filter/filter.h"

/** Greatest number of rows that an item of the filter takes: those of 4 turns. */
enum { CPU_FILTER_LINES = 4 * CPU_ROWS };

/** What one thread needs to filter rows and to backproject. */
struct cpu_scratch {
    double *weights;
    float *rows;    /**< [line][row][column]: rows on their way into the kernel's layout */
    float *work;    /**< of a convolution */
    float *columns; /**< of the filter along columns */
    float *lines;   /**< the kernel's own */
    float *ends;    /**< a row's weights, where rows are carried on */
    struct fbp_prep_counts counts;
    char pad[64]; /* counters of two threads must not share a cache line */
};

/** What jobs in double need in place of the float's. */
struct cpu_doubles {
    fbp_bp_planes_double_fn *planes;
    fbp_bp_column_double_fn *column;
    struct fbp_row_filter filter;
    struct cpu_double_work *works; /**< one a thread */
};

struct cpu_device {
    const struct fbp_job *job;
    fbp_pool *pool;
    struct fbp_bp_dsp dsp;
    struct fbp_orbit_dsp orbit_dsp;
    fbp_bp_planes_fn *planes;
    struct fbp_line_dsp line;
    struct cpu_doubles doubles;
    const struct cpu_kernel *kernel;
    struct fbp_ledger ledger;
    double (*principal)[2];      /**< a view: the pixel that kernels count coordinates from */
    struct cpu_scratch *scratch; /**< one a thread */
    struct cpu_convolution convolution;
    float *taps_v;                /**< of the filter along columns, or NULL */
    struct fbp_statistics *found; /**< by row of the slab, of what was fetched */
    float *image, *lines;         /**< tabulated weights, or NULL: computed a row at a time */
};

fbp_status cpu_filter_open(struct cpu_device *dev);
/** What cpu_filter_open() will take, the kernel's scratch included. */
size_t cpu_filter_bytes(const struct fbp_job *job, const struct cpu_kernel *kernel);
void cpu_filter_close(struct cpu_device *dev);
fbp_status cpu_filter(fbp_device *dev, const struct fbp_batch *batch, void *raw, void *filtered);
fbp_status cpu_filter_rows(fbp_device *dev, const struct fbp_batch *batch, void *raw, float *rows);
/** See fbp_backend.meridian; filtered views lie as kernel planes has them (meridian_tmpl.h). */
fbp_status cpu_meridian(fbp_device *dev, const void *filtered, const struct fbp_picture *picture,
                        void *out);
void cpu_meridian_float(const struct cpu_device *dev, const float *filtered,
                        const struct fbp_picture *picture, float *out);
void cpu_meridian_double(const struct cpu_device *dev, const double *filtered,
                         const struct fbp_picture *picture, double *out);

/** The same of jobs in double (filter_double.c). */
fbp_status cpu_filter_double_open(struct cpu_device *dev);
size_t cpu_filter_double_bytes(const struct fbp_job *job);
void cpu_filter_double_close(struct cpu_device *dev);
fbp_status cpu_filter_double(struct cpu_device *dev, const struct fbp_batch *batch, void *raw,
                             void *filtered);
/** What was mended so far. */
struct fbp_prep_counts cpu_filter_double_counts(const struct cpu_device *dev);

#endif /* FBP_SRC_CPU_DEVICE_H */
