/** @file s1.h  The kernels of Zinsser and Keck (2013) as s1_a.cu and s1_b.cu define them and
 * s1.c launches them (internal; C and CUDA). */
#ifndef FBP_BENCH_CUDA_S1_H
#define FBP_BENCH_CUDA_S1_H

#include "backend/cuda/runtime.h"
#include "bench/common/modules.h"

/** Most views of a launch. */
enum { CUDA_S1_VIEWS = 128 };

/** The volume; t = index - reference voxel. */
struct s1_grid {
    int nx, ny, nz;
    float x_ref, y_ref, z_ref;
};

/** Parameters of a launch; a kernel reads as many matrices as it was instantiated for. */
struct s1_launch {
    int layer;                  /**< of the first */
    float m[CUDA_S1_VIEWS][12]; /**< rows of u w, v w and w, of (t, 1); u and v half a pixel on */
};

/** A kernel of one number of views, by part: (s1_views<I>, s1_grid, texture, volume). */
struct s1_entry {
    unsigned views; /**< 0: none */
    const void *part[FBP_S1_PARTS];
};

struct s1_kernel {
    struct fbp_s1_shape shape;
    struct s1_entry whole; /**< of shape.views */
    struct s1_entry half;  /**< kernel of half as many views, for the last views of a scan */
};

FBP_BEGIN
/** The kernel of this number; NULL beyond the last. */
const struct s1_kernel *cuda_s1_a(size_t index);
const struct s1_kernel *cuda_s1_b(size_t index);

/** The slots. */
extern const struct fbp_s1_kernels cuda_s1;
FBP_END

#endif /* FBP_BENCH_CUDA_S1_H */
