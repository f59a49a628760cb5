/** @file gpu_bytes.h  What a job takes of a GPU's memory: slots of its backend (internal; pure). */
#ifndef FBP_SRC_GPU_BYTES_H
#define FBP_SRC_GPU_BYTES_H

#include "backend/gpu/gpu_kernel.h"
#include "backend/gpu/tables.h"

FBP_BEGIN
/** As the slots of struct fbp_backend, of the kernel that was chosen. */
size_t gpu_filtered_bytes(const struct fbp_job *job, size_t n_views, size_t n_rows);
size_t gpu_volume_bytes(const struct fbp_job *job, const struct fbp_slab *slab);

/** ... of tables and scratch, and what allocations are rounded up by. */
size_t gpu_fixed_bytes(const struct fbp_job *job, const struct gpu_offer *offer);
FBP_END

#endif /* FBP_SRC_GPU_BYTES_H */
