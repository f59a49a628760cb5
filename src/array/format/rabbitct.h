/** @file rabbitct.h  Data sets of the RabbitCT benchmark: properties, matrices, positions of views
 * (rabbitct.c), and import as a scan (scan/format/matrices.c) (internal).
 * Used by: bench/rabbitct/make.c, bench/rabbitct/rabbitct.h, rabbitct.c, scan/format/matrices.c. */
#ifndef FBP_SRC_RABBITCT_H
#define FBP_SRC_RABBITCT_H

#include "array/file/format.h"
#include "fbp/scan.h"

/** Greatest number of reference volumes in a RabbitCT data set; volume i has 128 << i voxels along
 * each side. */
enum { FBP_RABBITCT_REFERENCES = 4 };

/** Properties of a RabbitCT data set, from its header and the size of its file. */
struct fbp_rabbitct_info {
    /** 1: file .rct, header of 20 bytes; 2: file .rctd, header of 24 bytes */
    int version;
    size_t n_columns, n_rows, n_views;
    float hu[2];         /**< grey value = hu[0] * (value of a voxel) + hu[1] */
    size_t n_references; /**< number of reference volumes in the file: the first ones of those with
                            128^3, 256^3, 512^3 and 1024^3 voxels */
    bool matrices_only;  /**< RabbitGeometry.rct: no images */
    uint64_t header_bytes; /**< bytes before the first view */
    uint64_t bytes;        /**< size of the file */
};

/**
 * Read the properties of a RabbitCT data set.
 * @return FBP_OK, FBP_ERR_IO, FBP_ERR_INVALID (not a data set, or damaged), FBP_ERR_UNSUPPORTED.
 */
FBP_MUST_CHECK fbp_status fbp_rabbitct_probe(const char *path, struct fbp_rabbitct_info *out);

/** Read the projection matrices of a RabbitCT data set, or of the file RabbitGeometry.rct: 12
 * numbers per view, row by row. The caller frees *out. */
FBP_MUST_CHECK fbp_status fbp_rabbitct_matrices(const char *path, double **out, size_t *n_views);

/** Size of the projection matrix that precedes the image of each view in the file [bytes]. */
enum { FBP_RABBITCT_MATRIX = 12 * sizeof(double) };

/** Side of reference volume i [voxels]. */
static inline size_t fbp_rabbitct_side(size_t i)
{
    return (size_t)128 << i;
}

/** Byte at which view k (matrix and image) begins; k = n_views: the first reference volume. */
static inline uint64_t fbp_rabbitct_view(const struct fbp_rabbitct_info *info, size_t k)
{
    const uint64_t pixels = (uint64_t)info->n_columns * info->n_rows;
    const uint64_t image = info->matrices_only ? 0 : pixels * sizeof(float);
    return info->header_bytes + k * (FBP_RABBITCT_MATRIX + image);
}

/** Whether a file name has an extension of RabbitCT data sets, .rct or .rctd. */
bool fbp_rabbitct_named(const char *path);

/** Read the properties of an open RabbitCT data set, a file of `size` bytes. */
fbp_status fbp_rabbitct_read_info(int fd, const char *path, uint64_t size,
                                  struct fbp_rabbitct_info *out);

/** Format table of RabbitCT: reads the images of a data set as an array [view][row][column]. */
extern const struct fbp_format fbp_format_rabbitct;

/** Create a scan of a RabbitCT data set, whose images are filtered: its matrices, and its standard
 * volume of 512^3 voxels. */
fbp_status fbp_rabbitct_load(struct fbp_scan *out, const char *path);

#endif /* FBP_SRC_RABBITCT_H */
