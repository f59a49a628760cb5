/** @file rabbitct.h  The files and the error of the RabbitCT benchmark (docs/rabbitct.md).
 *
 * A data set holds filtered views of a C-arm with a matrix each, and reference volumes.  A volume
 * of L voxels a side is a cube of 256 mm about the origin, x fastest; its values f become grey
 * values HU = floor(hu[0] f + hu[1] + 1/2), 0 where f <= 0, at most 4095.
 */
#ifndef FBP_RABBITCT_H
#define FBP_RABBITCT_H

#include "fbp/recon.h"

FBP_BEGIN

/** References come in these sizes, in this order: 128 << i. */
enum { FBP_RABBITCT_REFERENCES = 4, FBP_RABBITCT_BINS = 11 };

/** What the header and the size of a data set say. */
struct fbp_rabbitct_info {
    int version; /**< 1: .rct, a header of 20 bytes; 2: .rctd, of 24 */
    size_t n_columns, n_rows, n_views;
    float hu[2];           /**< grey value = hu[0] f + hu[1] */
    size_t n_references;   /**< 128^3, 256^3, 512^3, 1024^3 */
    bool matrices_only;    /**< RabbitGeometry.rct: no images */
    uint64_t header_bytes; /**< of the file, before the first view */
    uint64_t bytes;        /**< of the file */
};

/**
 * Look at a data set.
 * @return FBP_OK, FBP_ERR_IO, FBP_ERR_INVALID (not a data set, or damaged), FBP_ERR_UNSUPPORTED.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_rabbitct_probe(const char *path,
                                                     struct fbp_rabbitct_info *out);

/** The matrices of a data set or a RabbitGeometry.rct, 12 numbers a view, row by row.  free(*out).
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_rabbitct_matrices(const char *path, double **out,
                                                        size_t *n_views);

/** The reference of size^3 voxels of a data set, or from a file of it alone (.vol, raw uint16). */
FBP_API FBP_MUST_CHECK fbp_status fbp_rabbitct_reference(const char *path, size_t size,
                                                         uint16_t *out);

/** The other version of a data set, views and references unchanged. */
FBP_API FBP_MUST_CHECK fbp_status fbp_rabbitct_convert(const char *path, const char *output,
                                                       int version);

/** The parts of a data set in a folder: RabbitInput.rct (version 1, no references),
 *  RabbitGeometry.rct and a ReferenceL.vol a reference. */
FBP_API FBP_MUST_CHECK fbp_status fbp_rabbitct_split(const char *path, const char *folder);

/** How a data set is made.  Zero means default. */
struct fbp_rabbitct_make {
    size_t struct_size;
    int version;         /**< 0 = 2 */
    size_t n_references; /**< 0 … 4: sizes 128, 256, 512, 1024 */
    double mu_water;     /**< air is 0, water 1000: hu = {1000 / mu_water, 0}; 0 = 0.02 [1/mm] */
    /** For the references, `device`, `n_threads`, `memory_bytes`, `device_memory_bytes`, `progress`
     * and `log`; precision is exact. */
    const struct fbp_recon_params *params;
};

/**
 * A data set from a cone-beam scan of line integrals or intensities: its views weighted and
 * filtered in double, matrices whose w varies around 1 at the origin as the scan's does, and
 * references reconstructed from what was written.
 * Memory: two views a thread, and 4 bytes a voxel of the largest reference.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_rabbitct_create(const char *path, const struct fbp_scan *scan,
                                                      const struct fbp_rabbitct_make *make);

/** The error of a volume, in grey values, as the benchmark defines it. */
struct fbp_rabbitct_error {
    double mse, rmse, max;                 /**< of HU - reference */
    double psnr_db;                        /**< 10 log10(4095^2 / mse); infinite if mse <= 1e-8 */
    uint32_t histogram[FBP_RABBITCT_BINS]; /**< of floor(|HU - reference|); the last: 10 and more */
};

/** Grey value of f. */
FBP_API float fbp_rabbitct_hu(const float hu[2], float f);

/** n voxels against a reference.  hu NULL: the values are grey values already. */
FBP_API void fbp_rabbitct_compare(const float *volume, const uint16_t *reference, size_t n,
                                  const float hu[2], struct fbp_rabbitct_error *out);

/** What a runner stores of a run. */
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
