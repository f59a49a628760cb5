/** @file rabbitct.h  Files and error measure of the RabbitCT benchmark (docs/rabbitct.md).
 *
 * A data set contains filtered views of a C-arm, a matrix for each, and reference volumes.  A
 * volume is a cube of 256 mm about the origin, with L voxels on each side, x fastest.  Its values f
 * become grey values HU = floor(hu[0] f + hu[1] + 1/2), 0 if f <= 0, and at most 4095.
 */
#ifndef FBP_RABBITCT_H
#define FBP_RABBITCT_H

#include "fbp/recon.h"

FBP_BEGIN

/** The sizes of references, in this order, are 128 << i. */
enum { FBP_RABBITCT_REFERENCES = 4, FBP_RABBITCT_BINS = 11 };

/** Facts from the header and the size of a data set. */
struct fbp_rabbitct_info {
    int version; /**< 1: .rct, a header of 20 bytes; 2: .rctd, of 24 */
    size_t n_columns, n_rows, n_views;
    float hu[2];           /**< grey value = hu[0] f + hu[1] */
    size_t n_references;   /**< 128^3, 256^3, 512^3, 1024^3 */
    bool matrices_only;    /**< RabbitGeometry.rct: no images */
    uint64_t header_bytes; /**< bytes before the first view */
    uint64_t bytes;        /**< size of the file */
};

/**
 * Read the facts of a data set.
 * @return FBP_OK, FBP_ERR_IO, FBP_ERR_INVALID (not a data set, or damaged), FBP_ERR_UNSUPPORTED.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_rabbitct_probe(const char *path,
                                                     struct fbp_rabbitct_info *out);

/** The matrices of a data set or a RabbitGeometry.rct: 12 numbers a view, row-major.  free(*out).
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_rabbitct_matrices(const char *path, double **out,
                                                        size_t *n_views);

/** The reference of size^3 voxels, from a data set or from its own file (.vol, raw uint16). */
FBP_API FBP_MUST_CHECK fbp_status fbp_rabbitct_reference(const char *path, size_t size,
                                                         uint16_t *out);

/** Write a data set in the other version; views and references do not change. */
FBP_API FBP_MUST_CHECK fbp_status fbp_rabbitct_convert(const char *path, const char *output,
                                                       int version);

/** Write the parts of a data set into a folder: RabbitInput.rct (version 1, no references),
 *  RabbitGeometry.rct, and one ReferenceL.vol for each reference.  The folder is created if only
 *  itself is missing. */
FBP_API FBP_MUST_CHECK fbp_status fbp_rabbitct_split(const char *path, const char *folder);

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
FBP_API FBP_MUST_CHECK fbp_status fbp_rabbitct_create(const char *path, const struct fbp_scan *scan,
                                                      const struct fbp_rabbitct_make *make);

/** The error of a volume as the benchmark defines it, in grey values. */
struct fbp_rabbitct_error {
    double mse, rmse, max;                 /**< of HU - reference */
    double psnr_db;                        /**< 10 log10(4095^2 / mse); infinite if mse <= 1e-8 */
    uint32_t histogram[FBP_RABBITCT_BINS]; /**< of floor(|HU - reference|); last bin: 10 and more */
};

/** The grey value of f. */
FBP_API float fbp_rabbitct_hu(const float hu[2], float f);

/** Compare n voxels with a reference.  hu NULL: the values are already grey values. */
FBP_API void fbp_rabbitct_compare(const float *volume, const uint16_t *reference, size_t n,
                                  const float hu[2], struct fbp_rabbitct_error *out);

/** Results that a runner stores. */
struct fbp_rabbitct_result {
    int version;
    size_t size, n_views; /**< L, N */
    const uint64_t *us;   /**< microseconds of each view */
    const float *slice;   /**< slice L/2 - 1 as grey values, L x L */
    struct fbp_rabbitct_error error;
};

FBP_API FBP_MUST_CHECK fbp_status fbp_rabbitct_result_write(const char *path,
                                                            const struct fbp_rabbitct_result *r);
FBP_API FBP_MUST_CHECK fbp_status fbp_rabbitct_result_read(const char *path,
                                                           struct fbp_rabbitct_result *out);
/** Free what fbp_rabbitct_result_read() allocated. */
FBP_API void fbp_rabbitct_result_clear(struct fbp_rabbitct_result *r);

FBP_END

#endif /* FBP_RABBITCT_H */
