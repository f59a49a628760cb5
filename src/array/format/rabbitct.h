/** @file rabbitct.h  RabbitCT's files from inside (internal). */
#ifndef FBP_SRC_RABBITCT_H
#define FBP_SRC_RABBITCT_H

#include "fbp-lab/rabbitct.h"

#include "array/file/format.h"
#include "array/file/outfile.h"
#include "base/private.h"

/** Bytes of a matrix before the image it belongs to. */
enum { FBP_RABBITCT_MATRIX = 12 * sizeof(double) };

/** Side of reference i. */
static inline size_t fbp_rabbitct_side(size_t i)
{
    return (size_t)128 << i;
}

/** Bytes of an image. */
static inline uint64_t fbp_rabbitct_image(const struct fbp_rabbitct_info *info)
{
    return (uint64_t)info->n_columns * info->n_rows * sizeof(float);
}

/** Where view k starts, and, for k = n_views, the first reference. */
static inline uint64_t fbp_rabbitct_view(const struct fbp_rabbitct_info *info, size_t k)
{
    const uint64_t image = info->matrices_only ? 0 : fbp_rabbitct_image(info);
    return info->header_bytes + k * (FBP_RABBITCT_MATRIX + image);
}

/** Is the file named as a data set is? */
bool fbp_rabbitct_named(const char *path);

/** Header and size of an opened file. */
FBP_PRIVATE_API fbp_status fbp_rabbitct_look(int fd, const char *path, uint64_t size,
                                             struct fbp_rabbitct_info *out);

/** The views of a data set as a source, whatever its name is. */
FBP_PRIVATE_API fbp_status fbp_rabbitct_source(fbp_source **out, const char *path);

/** A scan of filtered views: matrices as they are, the volume of 512^3 voxels. */
FBP_PRIVATE_API fbp_status fbp_rabbitct_load(struct fbp_scan *out, const char *path);

/** A header of info->version. */
fbp_status fbp_rabbitct_put_header(struct fbp_outfile *out, const struct fbp_rabbitct_info *info);

/** n bytes at the end of the file. */
fbp_status fbp_rabbitct_put(struct fbp_outfile *out, const void *data, size_t n);

#endif /* FBP_SRC_RABBITCT_H */
