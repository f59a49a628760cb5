/** @file bench_s1.h  The kernels of Zinsser and Keck (2013) on a device, one by one, and apart into
 * arithmetic, volume and fetches. */
#ifndef FBP_BENCH_S1_H
#define FBP_BENCH_S1_H

#include "fbp/recon.h"

FBP_BEGIN

/** What of a kernel is run, at the occupancy of the whole. */
enum fbp_s1_part {
    FBP_S1_I,   /**< its instructions, without fetches, and without reading or writing the volume */
    FBP_S1_IM,  /**< with the volume */
    FBP_S1_IMT, /**< with fetches too, all from one place: voxels of 1e-6 mm */
    FBP_S1_ALL, /**< everything where it belongs */
    FBP_S1_PARTS
};

/** How a kernel is made; all of it is known when it is compiled. */
struct fbp_s1_shape {
    int test;     /**< 1 … 8: of the paper's Table II; 0: one of today's */
    char kernel;  /**< 'A': along z outside, over views inside; 'B': the other way round */
    bool sync;    /**< A only: a block's warps wait for each other at every voxel */
    bool squares; /**< lanes lie as squares of 2 x 2 in a warp of 8 x 4, not in rows */
    unsigned views, voxels;    /**< I: views a launch; K: voxels along z a thread */
    unsigned block_x, block_y; /**< threads of a block */
};

/** One run over all views. */
struct fbp_s1_time {
    double seconds;   /**< by the device's clock */
    double gups;      /**< voxels x views / seconds / 1e9; voxels beside the panel count */
    double occupancy; /**< resident threads of the most possible */
    int registers;    /**< of a thread */
    size_t n_launches;
    double updates;      /**< voxels x views: fetches, where there are any */
    double instructions; /**< fp32 ones as the source has them, a multiply-add being one */
    double volume_bytes; /**< read and written of the volume */
};

/** Against the kernel `matrix`, precision exact, on filtered views of a phantom. */
struct fbp_s1_error {
    double rmse_hu, max_hu; /**< HU of water at 0.02/mm */
    double psnr_db;         /**< peak: the largest value of the exact volume */
};

/** A device with filtered views of a scan, all of them in one layered texture, and a volume. */
typedef struct fbp_s1 fbp_s1;

/**
 * Open a device, and fill its views with random samples, filtered.
 *
 * scan    cone beam, geometry and volume; no arrays are opened; must outlive the session
 * params  device and n_threads are used
 * @return FBP_OK, FBP_ERR_UNSUPPORTED (a device without these kernels), FBP_ERR_INVALID (no such
 *         device, more views than a texture has layers), FBP_ERR_NOMEM, FBP_ERR_DEVICE.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_s1_open(fbp_s1 **out, const struct fbp_scan *scan,
                                              const struct fbp_recon_params *params);
FBP_API void fbp_s1_close(fbp_s1 **s);

/** Shape `index`; NULL beyond the last.  The paper's eight come first, in their order. */
FBP_API const struct fbp_s1_shape *fbp_s1_shape_at(const fbp_s1 *s, size_t index);

/** The median of n_runs runs, 1 or more, after one that is not counted. */
FBP_API FBP_MUST_CHECK fbp_status fbp_s1_measure(fbp_s1 *s, size_t index, enum fbp_s1_part part,
                                                 size_t n_runs, struct fbp_s1_time *out);

/** Compare shape `index` with the exact kernel.  From here on the views are of a phantom. */
FBP_API FBP_MUST_CHECK fbp_status fbp_s1_compare(fbp_s1 *s, size_t index, struct fbp_s1_error *out);

FBP_END

#endif /* FBP_BENCH_S1_H */
