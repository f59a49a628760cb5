/** @file tables.h  One block of device memory for tables and scratch: its layout, a pure function
 * of the job, so that the plan knows its size, and what the tables hold (internal; C and C++).
 */
#ifndef FBP_SRC_GPU_TABLES_H
#define FBP_SRC_GPU_TABLES_H

#include "backend/backend.h"

/** How rows are filtered: in one launch (chain.h), or step by step, as spectra by a library where
 *  rows are too long for that, or in space where that was asked for or there is no library; or they
 *  are already. */
enum gpu_way { GPU_AT_ONCE = 0, GPU_BY_FFT, GPU_IN_SPACE, GPU_NO_FILTER };

/** What a module has for filtering; asked for only where it matters. */
struct gpu_offer {
    /** Shared memory that a block has for a row, on every device; 0: no filter in one launch. */
    size_t (*row_bytes)(void);
    /** Is there a library for Fourier transforms? */
    bool (*has_fft)(void);
};

/** Buffers for slices on their way out: one is filled while the other is copied.  Rows of a column
 *  that a thread of the filter along columns computes side by side. */
enum { GPU_STAGES = 2, GPU_COLUMN_ROWS = 8 };

/** As struct fbp_bridge; pixels count from the panel's first. */
struct gpu_bridge {
    unsigned pixel, from[4];
    float weight[4];
};

/** Least, most and sum of the voxels that one of GPU_FOUND blocks looked at. */
struct gpu_found {
    float min, max;
    double sum;
};
enum { GPU_FOUND = 512 };

/** ... of doubles. */
struct gpu_found_double {
    double min, max, sum;
};

/** Places as bytes from the start of the block. */
struct gpu_tables {
    size_t dark, gain;   /**< [row][column], where the scan has them */
    size_t bridges;      /**< struct gpu_bridge, one a bad pixel */
    size_t image, lines; /**< separable weights: [row][column], [view][column] */
    size_t scales;       /**< weights of views in double, one each, of plane integrals */
    size_t rays;         /**< others: struct fbp_ray_view, one per view; per ray: and lines */
    enum gpu_way way;
    size_t filter;     /**< response, in the chain's order or n_fft/2 + 1, or taps, 2 S + 1 */
    bool in_double;    /**< taps, and sums, of what would be convolved by transforms elsewhere: of
                          plane integrals terms nearly cancel, where spectra have none to lose */
    size_t turns;      /**< the chain's factors */
    size_t fft_length; /**< of the chain's transforms */
    size_t rows;       /**< [rows_a_call][row_length] complex */
    size_t work;       /**< as large: the library's scratch, or the rows convolved in space */
    size_t taps_v;     /**< of the filter along columns, between zeros */
    size_t weighted;   /**< views_a_call views that it is applied to */
    size_t pad;        /**< tables of rows that are carried on beyond the panel */
    size_t ends;       /**< struct fbp_pad_end [rows_a_call][row of the pair][end] */
    size_t planes;     /**< struct gpu_plane, one a view, of kernels that take them */
    size_t wanted;     /**< struct gpu_wanted [y][x] of the cells of a volume with a region */
    size_t counters;   /**< two 64-bit counts */
    size_t ledger;     /**< words of struct fbp_ledger */
    size_t found;      /**< struct gpu_found, GPU_FOUND of them */
    size_t slices;     /**< slices on their way out, scaled: GPU_STAGES times slice_bytes */
    size_t rows_a_call, row_length, work_bytes, slice_bytes, views_a_call;
    size_t bytes; /**< all of it */
};

FBP_BEGIN
/** Decided from job and offer alone, so that no limit changes what is computed. */
void gpu_tables_lay_out(const struct fbp_job *job, const struct gpu_offer *offer,
                        struct gpu_tables *out);

/** Was the filter in space asked for, or is it the only one that takes the job: samples between
 *  those measured, two passes, a kernel that is not symmetric? */
bool gpu_wants_space(const struct fbp_job *job);

/** The fastest that can be used. */
enum gpu_way gpu_way_of(const struct fbp_job *job, const struct gpu_offer *offer);

/** Taps of the filter along columns: 2 S + 1 between GPU_COLUMN_ROWS zeros on either side. */
size_t gpu_column_taps(const struct fbp_job *job);

/** Copies bytes to a place of the block. */
typedef fbp_status gpu_put_fn(void *user, size_t at, const void *data, size_t bytes);

/** Write all tables, part after part. */
fbp_status gpu_tables_write(const struct fbp_job *job, const struct gpu_tables *tables,
                            gpu_put_fn *put, void *user);

/** What the blocks found, added up in their order; they begin anew. */
void gpu_found_take(struct gpu_found found[GPU_FOUND], struct fbp_statistics *out);
void gpu_found_take_double(struct gpu_found_double found[GPU_FOUND], struct fbp_statistics *out);
FBP_END

#endif /* FBP_SRC_GPU_TABLES_H */
