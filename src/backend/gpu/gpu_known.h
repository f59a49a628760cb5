/** @file gpu_known.h  Table of the CUDA kernels: their properties that are known without a GPU, and
 * measured rates of known cards (cards.c) (internal; C and C++).
 *
 * The CUDA backend adds the functions of each kernel; `fbp-bench predict` needs only this table.
 * Used by: bench/predict/model.c, bench/predict/model_gpu.c, backend/cuda/kernel.h, cards.c.
 */
#ifndef FBP_SRC_BACKEND_GPU_GPU_KNOWN_H
#define FBP_SRC_BACKEND_GPU_GPU_KNOWN_H

#include "backend/gpu/gpu_kernel.h"

/** The CUDA kernels in the order in which they are tried; a job gets the first one that suits it.
 * X(id, name, precision, symmetric views per group, required symmetry, function that tests
 * usability, bits per texture channel).  0 bits, and "parallel": views are stored in plain memory.
 */
#define GPU_KNOWN(X)                                                                               \
    X(PLANES_EXACT, "planes", EXACT, 1, 0, gpu_planes_usable, 0)                                   \
    X(PLANES_DOUBLE, "planes", DOUBLE, 1, 0, gpu_planes_usable, 0)                                 \
    X(PARALLEL_HALF, "parallel", HALF, 1, FBP_SYM_COLUMN, gpu_parallel_usable, 16)                 \
    X(PARALLEL_EXACT, "parallel", EXACT, 1, FBP_SYM_COLUMN, gpu_parallel_usable, 16)               \
    X(HIERARCHICAL_ROT90, "hierarchical", HALF, 4, FBP_SYM_ROT90, gpu_decimation_rot90_usable, 16) \
    X(HIERARCHICAL, "hierarchical", HALF, 1, FBP_SYM_COLUMN, gpu_decimation_usable, 16)            \
    X(ROT90_HALF, "rot90", HALF, 4, FBP_SYM_ROT90, NULL, 16)                                       \
    X(ROT90_EXACT, "rot90", EXACT, 4, FBP_SYM_ROT90, NULL, 0)                                      \
    X(ROT180_HALF, "rot180", HALF, 2, FBP_SYM_ROT180, NULL, 16)                                    \
    X(ROT180_FAST, "rot180", FAST, 2, FBP_SYM_ROT180, NULL, 32)                                    \
    X(ROT180_EXACT, "rot180", EXACT, 2, FBP_SYM_ROT180, NULL, 0)                                   \
    X(COLUMN_HALF, "column", HALF, 1, FBP_SYM_COLUMN, gpu_column_texture_pays, 16)                 \
    X(COLUMN_EXACT, "column", EXACT, 1, FBP_SYM_COLUMN, NULL, 0)                                   \
    X(MATRIX_HALF, "matrix", HALF, 1, 0, NULL, 16)                                                 \
    X(MATRIX_FAST, "matrix", FAST, 1, 0, NULL, 32)                                                 \
    X(MATRIX_EXACT, "matrix", EXACT, 1, 0, NULL, 0) /* any job */

/** Index of a kernel in gpu_known[]. */
enum gpu_id {
#define GPU_ID(ID, ...) GPU_##ID,
    GPU_KNOWN(GPU_ID) GPU_N_KNOWN
#undef GPU_ID
};

/** True for kernels for plane integrals. */
#define GPU_IS_PLANES(ID) (GPU_##ID == GPU_PLANES_EXACT || GPU_##ID == GPU_PLANES_DOUBLE)

/** True for kernels for parallel beams, which read views in plain memory as fp16. */
#define GPU_IS_PARALLEL(ID) (GPU_##ID == GPU_PARALLEL_HALF || GPU_##ID == GPU_PARALLEL_EXACT)

/** True for kernels that decimate views. */
#define GPU_DECIMATES(ID) (GPU_##ID == GPU_HIERARCHICAL || GPU_##ID == GPU_HIERARCHICAL_ROT90)

/** Initialises a struct gpu_kernel from an entry X(…) of GPU_KNOWN. */
#define GPU_FACTS(ID, NAME, PRECISION, TURNS, SYMMETRY, USABLE, BITS) \
    {.name = (NAME),                                                  \
     .precision = FBP_PRECISION_##PRECISION,                          \
     .symmetric_views = (TURNS),                                      \
     .by_name = GPU_DECIMATES(ID),                                    \
     .symmetry = (SYMMETRY),                                          \
     .usable = (USABLE),                                              \
     .channels = (BITS) && !GPU_IS_PARALLEL(ID) ? (TURNS) : 0,        \
     .bits = (BITS),                                                  \
     .halves_columns = (BITS) && !GPU_IS_PARALLEL(ID),                \
     .planes = GPU_IS_PLANES(ID),                                     \
     .slices = GPU_IS_PARALLEL(ID),                                   \
     .decimates = GPU_DECIMATES(ID),                                  \
     .views_bytes = GPU_IS_PARALLEL(ID) ? gpu_slices_bytes            \
                    : (BITS)            ? NULL                        \
                    : GPU_IS_PLANES(ID) ? gpu_planes_bytes            \
                                        : gpu_plain_bytes,            \
     .volume_size = (TURNS) > 1 ? gpu_symmetric_volume_size : NULL},

#ifdef __cplusplus
static constexpr gpu_kernel gpu_known[GPU_N_KNOWN] = {GPU_KNOWN(GPU_FACTS)};
#else
static const struct gpu_kernel gpu_known[GPU_N_KNOWN] = {GPU_KNOWN(GPU_FACTS)};
#endif

/** A GPU card, with rates of copies [bytes per second]: up: from host to card; down: from card to
 * host; "_all": sum over all cards of a host that copy at the same time. */
struct gpu_card {
    const char *name;
    uint64_t memory_bytes;
    double up, down, up_all, down_all;
    /** rate per direction if both are in use; both_all: sum of all cards */
    double both, both_all;
    double peer;  /**< from one card to another */
    double copy;  /**< within the card's memory */
    double speed; /**< speed of kernels, relative to the H200 (cards.c) */
};

FBP_BEGIN
/** Returns card i of the table of known cards, counted from 0; NULL: the table has no card i. */
const struct gpu_card *gpu_card_at(size_t i);

/** Computes the rates of the job's kernel, its filter and copies on a card; out->update applies to
 * voxels that project onto the detector in all views. */
void gpu_rates(const struct gpu_card *card, const struct fbp_job *job, struct fbp_rates *out);
FBP_END

#endif /* FBP_SRC_BACKEND_GPU_GPU_KNOWN_H */
