/** @file s3_plan.h  The variants of Ino et al. (2009), their numbers and shaders, without OpenGL
 * calls (s3_plan.c, s3_text.c; internal, pure).  Called by the other s3_*.c files of this folder.
 *
 * What each variant packs is read from Table 2 of the paper.  A draws N K passes, B and C a quarter
 * of them, D and E a sixteenth.  Packing views takes .3 s in A and B, .6 s from C on: there four
 * views are a texel.  Unpacking slices takes 1.0, .9 and .9 s in A to C, .6 s in D and E: only
 * there four slices are a texel.  So C adds four views to one slice, and B shares u, the weight and
 * the denominator among four slices that are targets of their own.
 */
#ifndef FBP_BENCH_GL_S3_PLAN_H
#define FBP_BENCH_GL_S3_PLAN_H

#include "backend/gpu/gpu_kernel.h"
#include "bench/common/modules.h"

/** Numbers that a pass is given of each of its views: u w = u[0] x + u[1] y + u[2], v w and w
 *  likewise, x and y from the reference voxel; dv w of the next slice; where the principal point
 *  is; and du w and dw of the next slice, which variants of any matrices alone are given. */
enum gl_s3_number {
    GL_S3_U = 0,
    GL_S3_V = 3,
    GL_S3_DV = 6,
    GL_S3_W = 7,
    GL_S3_COLUMN = 10,
    GL_S3_ROW = 11,
    GL_S3_NUMBERS = 12,
    GL_S3_DU = 12,
    GL_S3_DW = 13,
    GL_S3_ALL_NUMBERS = 14
};

/** FOUR: greatest number of views per texel, slices per target, and targets; TEXELS: greatest
 * number of texels of views per pass; TEXT: bytes of a shader's text. */
enum { GL_S3_FOUR = 4, GL_S3_TEXELS = 2, GL_S3_TEXT = 32768 };

/* s3_plan.c */

/** NULL beyond the last. */
const struct fbp_s3_variant *gl_s3_variant(size_t index);

/** Four slices are the channels of a target. */
static inline bool gl_s3_packs_slices(const struct fbp_s3_variant *v)
{
    return v->slices > v->targets;
}

/** Number of views per texel (1 or 4), and texels of views per pass. */
static inline unsigned gl_s3_texel(const struct fbp_s3_variant *v)
{
    return v->views < GL_S3_FOUR ? 1 : GL_S3_FOUR;
}

static inline unsigned gl_s3_texels(const struct fbp_s3_variant *v)
{
    return v->views / gl_s3_texel(v);
}

/** Count of numbers per view that the shader of a variant needs. */
static inline unsigned gl_s3_n_numbers(const struct fbp_s3_variant *v)
{
    return v->matrices ? GL_S3_ALL_NUMBERS : GL_S3_NUMBERS;
}

/** Pieces of `each` that hold n. */
static inline size_t gl_s3_pieces(size_t n, size_t each)
{
    return (n + each - 1) / each;
}

/**
 * The numbers of a pass, [texels][gl_s3_n_numbers()][views of a texel].
 *
 * n       views there are, at most variant->views; others add zeros
 * z       of the first slice, from the reference voxel
 * size    columns and rows of a view: interpolated by the texture units, u and v are parts of it
 * stretch a power of two: the weight 1/w^2 is divided by its square, by which samples were
 *         multiplied
 */
void gl_s3_numbers(const struct fbp_s3_way *way, const struct gpu_view *views, size_t n, double z,
                   const size_t size[2], float stretch, float *out);

/** The greatest power of two whose square is not above `scale`. */
float gl_s3_stretch(float scale);

/** Rows of a target in one draw: at most `most` updates (0: GL_S3_MOST_UPDATES), at least one row.
 */
size_t gl_s3_tile_rows(const struct fbp_s3_variant *v, size_t nx, size_t ny, size_t most);

/** Updates per draw: 1.7 s at .005 GUPS, because a watchdog may reset a card after 2 s. */
enum { GL_S3_MOST_UPDATES = 8 << 20 };

/** Set out[ny][nx] to 255 for voxels that are in the region in any of n_slices slices, otherwise to
 * 0. */
void gl_s3_any(const uint8_t *wanted, size_t n_slices, size_t slice, uint8_t *out);

/* s3_text.c: texts of GL_S3_TEXT bytes */

void gl_s3_vertex_text(const struct fbp_s3_way *way, char *out);
void gl_s3_fragment_text(const struct fbp_s3_way *way, char *out);
/** Vertex shader of a triangle that covers the target, at a depth. */
const char *gl_s3_cover_text(void);
/** Weights of a layer; the convolution of its rows: of scalars, or of four views at once, which may
 *  become fp16. */
void gl_s3_weigh_text(unsigned views, char *out);
void gl_s3_convolve_text(unsigned views, bool half, char *out);

void gl_s3_cost(const struct fbp_s3_way *way, struct fbp_s3_cost *out);

#endif /* FBP_BENCH_GL_S3_PLAN_H */
