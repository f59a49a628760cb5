/** @file s1.h  The kernels of Zinsser and Keck (2013), whole or in parts (arithmetic, volume,
 * fetches), and the transfers of section V. Functions of measure.c and transfers.c, called by
 * command.c. */
#ifndef FBP_BENCH_PAPERS_ZINSSER2013_S1_H
#define FBP_BENCH_PAPERS_ZINSSER2013_S1_H

#include "fbp/recon.h"

FBP_BEGIN

/** Which part of a kernel runs.  Every part runs at the occupancy of the whole kernel. */
enum fbp_s1_part {
    FBP_S1_I,   /**< only instructions: no fetches, no reads or writes of the volume */
    FBP_S1_IM,  /**< instructions, and reads and writes of the volume */
    FBP_S1_IMT, /**< instructions, volume, and fetches that are all from one position (voxels of
                   1e-6 mm) */
    FBP_S1_ALL, /**< the whole kernel */
    FBP_S1_PARTS
};

/** Shape of a kernel, fixed when it is compiled. */
struct fbp_s1_shape {
    int test;     /**< 1 … 8: row of the paper's Table II; 0: a shape of today */
    char kernel;  /**< 'A': outer loop along z, inner loop over views; 'B': the other order */
    bool sync;    /**< A only: the warps of a block wait for each other at every voxel */
    bool squares; /**< the lanes of a warp of 8 x 4 are ordered in squares of 2 x 2, not in rows */
    unsigned views, voxels;    /**< I: views in a launch; K: voxels along z of a thread */
    unsigned block_x, block_y; /**< threads of a block */
};

/** One run over all views.  The device sets the first members, s1_account() the others. */
struct fbp_s1_time {
    double seconds;   /**< by the device's clock */
    double occupancy; /**< resident threads, as a part of the greatest possible number */
    int registers;    /**< of one thread */
    size_t n_launches;
    double gups;    /**< voxels x views / seconds / 1e9; also voxels projected beside the panel */
    double updates; /**< voxels x views; the number of fetches, if there are any */
    double instructions; /**< fp32 instructions in the source; a multiply-add counts as one */
    double volume_bytes; /**< read and written of the volume */
};

/** Error against the kernel `matrix` in precision exact, on filtered views of a phantom. */
struct fbp_s1_error {
    double rmse_hu, max_hu; /**< HU of water at 0.02/mm */
    double psnr_db;         /**< peak: the largest value of the exact volume */
    double double_hu; /**< RMSE at some voxels (bench/common/truth.h) against a backprojection of
                           the same views in double */
};

/** A device with a volume, and with the filtered views of a scan in one layered texture. */
typedef struct fbp_s1 fbp_s1;

/**
 * Open a device, and fill its views with filtered random samples.
 *
 * scan    cone beam, geometry and volume; no arrays are opened; must outlive the session
 * params  device and n_threads are used
 * @return FBP_OK, FBP_ERR_UNSUPPORTED (a device without these kernels), FBP_ERR_INVALID (no such
 *         device, more views than a texture has layers), FBP_ERR_NOMEM, FBP_ERR_DEVICE.
 */
FBP_MUST_CHECK fbp_status fbp_s1_open(fbp_s1 **out, const struct fbp_scan *scan,
                                      const struct fbp_recon_params *params);
void fbp_s1_close(fbp_s1 **s);

/** Shape `index`; NULL beyond the last.  The paper's eight come first, in their order. */
const struct fbp_s1_shape *fbp_s1_shape_at(const fbp_s1 *s, size_t index);

/** Measure the median of 1 to 1000 runs, after one run that is not counted. */
FBP_MUST_CHECK fbp_status fbp_s1_measure(fbp_s1 *s, size_t index, enum fbp_s1_part part,
                                         size_t n_runs, struct fbp_s1_time *out);

/** Compare shape `index` with the exact kernel.  From then on, the views are those of a phantom. */
FBP_MUST_CHECK fbp_status fbp_s1_compare(fbp_s1 *s, size_t index, struct fbp_s1_error *out);

/** Fill `views` [n_views][n_rows][n_columns] with projections of a phantom that fills the volume;
 * filtered if scan->filtered. */
FBP_MUST_CHECK fbp_status fbp_s1_project(const struct fbp_scan *scan, int n_threads, float *views);

/** Compare a volume [nz][ny][nx] that was reconstructed from `views`. params: device and n_threads
 * are used. */
FBP_MUST_CHECK fbp_status fbp_s1_compare_volume(const struct fbp_scan *scan,
                                                const struct fbp_recon_params *params,
                                                const float *views, const float *volume,
                                                struct fbp_s1_error *out);

/* transfers.c: section V, copies between host and device during the kernels */

/** Result of fbp_s1_transfers(); seconds are medians, those of steps of one run.  NAN: not
 * measured. */
struct fbp_s1_transfers {
    bool streamed;
    double steps[4]; /**< uploads, layout of the views, kernels and copies to the host, if the host
                          waits for each step */
    double in_order, overlapped; /**< total if it waits, and if it does not */
    struct fbp_s1_error error;
    uint64_t hash; /**< of the volume */
};

/**
 * Run the job of section V on filtered views of a phantom, from host memory to host memory.
 *
 * scan      filtered views; must outlive the call
 * params    device and n_threads are used; the kernel is `matrix`
 * streamed  which division: s1_divide()
 * timeline  SVG file for the timeline of one more run with overlap; NULL: none
 * @return FBP_OK, FBP_ERR_UNSUPPORTED, FBP_ERR_INVALID, FBP_ERR_NOMEM, FBP_ERR_DEVICE.
 */
FBP_MUST_CHECK fbp_status fbp_s1_transfers(const struct fbp_scan *scan,
                                           const struct fbp_recon_params *params, bool streamed,
                                           size_t n_runs, const char *timeline,
                                           struct fbp_s1_transfers *out);

FBP_END

#endif /* FBP_BENCH_PAPERS_ZINSSER2013_S1_H */
