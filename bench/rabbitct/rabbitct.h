/** @file rabbitct.h  Writing files of the RabbitCT benchmark, and its error measure
 * (docs/rabbitct.md).  Called by the *_command.c files of this folder.
 *
 * A data set contains filtered views of a C-arm, a matrix for each, and reference volumes.  A
 * volume is a cube of 256 mm about the origin, with L voxels on each side, x fastest.  Its values f
 * become grey values HU = floor(hu[0] f + hu[1] + 1/2), 0 if f <= 0, and at most 4095.
 */
#ifndef FBP_BENCH_RABBITCT_RABBITCT_H
#define FBP_BENCH_RABBITCT_RABBITCT_H

#include "array/file/outfile.h"
#include "array/format/rabbitct.h"
#include "fbp/recon.h"

FBP_BEGIN

enum { FBP_RABBITCT_BINS = 11 };

/** Write a data set in the other version; views and references do not change. */
FBP_MUST_CHECK fbp_status fbp_rabbitct_convert(const char *path, const char *output, int version);

/** Write the parts of a data set into a folder: RabbitInput.rct (version 1, no references),
 *  RabbitGeometry.rct, and one ReferenceL.vol for each reference.  The folder is created if only
 *  itself is missing. */
FBP_MUST_CHECK fbp_status fbp_rabbitct_split(const char *path, const char *folder);

/** Parameters of a new data set.  Zero means default. */
struct fbp_rabbitct_make {
    size_t struct_size;
    int version;         /**< 0 = 2 */
    size_t n_references; /**< 0 … 4: sizes 128, 256, 512, 1024 */
    double mu_water;     /**< air is 0, water 1000: hu = {1000 / mu_water, 0}; 0 = 0.02 [1/mm] */
    /** For the references: `device`, `n_threads`, `memory_bytes`, `device_memory_bytes`, `progress`
     *  and `log` are used; precision is exact. */
    const struct fbp_recon_params *params;
};

/**
 * Make a data set from a cone-beam scan of line integrals or intensities.  Its views are weighted
 * and filtered in double.  At the origin, w of its matrices varies around 1 as that of the scan
 * does.  The references are reconstructed from the views that were written. Memory: two views for
 * each thread, and 4 bytes for each voxel of the largest reference.
 */
FBP_MUST_CHECK fbp_status fbp_rabbitct_create(const char *path, const struct fbp_scan *scan,
                                              const struct fbp_rabbitct_make *make);

/** The error of a volume as the benchmark defines it, in grey values. */
struct fbp_rabbitct_error {
    double mse, rmse, max;                 /**< of HU - reference */
    double psnr_db;                        /**< 10 log10(4095^2 / mse); infinite if mse <= 1e-8 */
    uint32_t histogram[FBP_RABBITCT_BINS]; /**< counts of floor(|HU - reference|); last bin: 10 and
                                              more */
};

/** Read the reference of size^3 voxels, from a data set or from its own file (.vol, raw uint16). */
FBP_MUST_CHECK fbp_status fbp_rabbitct_reference(const char *path, size_t size, uint16_t *out);

/** The grey value of f. */
float fbp_rabbitct_hu(const float hu[2], float f);

/** Compare n voxels with a reference.  hu NULL: the values are already grey values. */
void fbp_rabbitct_compare(const float *volume, const uint16_t *reference, size_t n,
                          const float hu[2], struct fbp_rabbitct_error *out);

/** Results that a runner stores. */
struct fbp_rabbitct_result {
    int version;
    size_t size, n_views; /**< L, N */
    const uint64_t *us;   /**< microseconds of each view */
    const float *slice;   /**< slice L/2 - 1 as grey values, L x L */
    struct fbp_rabbitct_error error;
};

FBP_MUST_CHECK fbp_status fbp_rabbitct_result_write(const char *path,
                                                    const struct fbp_rabbitct_result *r);
FBP_MUST_CHECK fbp_status fbp_rabbitct_result_read(const char *path,
                                                   struct fbp_rabbitct_result *out);
/** Free what fbp_rabbitct_result_read() allocated. */
void fbp_rabbitct_result_clear(struct fbp_rabbitct_result *r);

/** Append a header of info->version to a file. */
fbp_status fbp_rabbitct_put_header(struct fbp_outfile *out, const struct fbp_rabbitct_info *info);

/** Append n bytes to a file. */
fbp_status fbp_rabbitct_put(struct fbp_outfile *out, const void *data, size_t n);

FBP_END

#endif /* FBP_BENCH_RABBITCT_RABBITCT_H */
