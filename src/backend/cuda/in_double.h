/** @file in_double.h  Plane integrals in double: tables, filter and volume of such jobs, in place
 * of those of float (internal; C and CUDA).
 *
 * Rows are filtered in space, one by one, and `planes` backprojects them.
 */
#ifndef FBP_SRC_CUDA_IN_DOUBLE_H
#define FBP_SRC_CUDA_IN_DOUBLE_H

#include "backend/cuda/cuda.h"
#include "backend/cuda/in_double_kernels.h"

/** Can it compute the job, by the kernel of this name (NULL: any)?  Then it is chosen. */
bool cuda_double_choose(struct fbp_job *job, const char *name, const char *isa);

size_t cuda_double_filtered_bytes(const struct fbp_job *job, size_t n_views, size_t n_rows);
size_t cuda_double_volume_bytes(const struct fbp_job *job, const struct fbp_slab *slab);
size_t cuda_double_fixed_bytes(const struct fbp_job *job);

/** Where tables of a device will be, and what is written there. */
void cuda_double_lay_out(struct cuda_device *dev);
fbp_status cuda_double_write(struct cuda_device *dev);

fbp_status cuda_double_filter(struct cuda_device *dev, const struct fbp_batch *batch, void *raw,
                              void *filtered);
fbp_status cuda_double_share(struct cuda_device *dev, const struct fbp_batch *batch, void *filtered,
                             const struct cuda_device *from, const void *theirs);
fbp_status cuda_double_backproject(struct cuda_device *dev, struct cuda_bp *bp,
                                   const void *filtered, char *volume);
fbp_status cuda_double_fetch(struct cuda_device *dev, const struct fbp_slab *slab, size_t z0,
                             size_t z1, const double *volume, double *host);
fbp_status cuda_double_statistics(const struct cuda_device *dev, struct fbp_statistics *out);

#endif /* FBP_SRC_CUDA_IN_DOUBLE_H */
