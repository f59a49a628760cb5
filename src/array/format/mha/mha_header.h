/** @file mha_header.h  The header of a MetaImage (internal). */
#ifndef FBP_SRC_MHA_HEADER_H
#define FBP_SRC_MHA_HEADER_H

#include "array/file/format.h"

enum { FBP_MHA_DIMS = 10 };

/** The header as it stands. */
struct fbp_mha_header {
    size_t n_dims, n_sizes, sizes[FBP_MHA_DIMS];
    size_t n_spacing, n_size, n_origin, n_matrix;
    double spacing[FBP_MHA_DIMS], size[FBP_MHA_DIMS], origin[FBP_MHA_DIMS];
    double matrix[FBP_MHA_DIMS * FBP_MHA_DIMS]; /**< the direction of axis after axis */
    double slope, intercept;                    /**< slope 0: not given */
    enum fbp_type type;
    bool msb, compressed, ascii, wide; /**< wide: integers of 64 bits */
    long long channels, header_size, compressed_size;
    char unit[16], history[256];
    char data_file[1024];
    size_t end; /**< first byte behind the header */
};

/** Take n bytes of text apart, in place, up to the name of the samples' file, and check what they
 *  say. */
fbp_status fbp_mha_parse(const char *path, char *text, size_t n, struct fbp_mha_header *h);

#endif /* FBP_SRC_MHA_HEADER_H */
