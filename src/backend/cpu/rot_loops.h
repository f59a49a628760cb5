/** @file rot_loops.h  Inner loops of the CPU kernels "rot90" and "rot180", for scans with a
 * rotational symmetry (internal).  rot.c calls them through struct fbp_bp_dsp of simd.h.  The plain
 * C loops below are the specification; line_loops.h explains which file compiles which loops.
 * Used by: simd.h.
 */
#ifndef FBP_SRC_CPU_ROT_LOOPS_H
#define FBP_SRC_CPU_ROT_LOOPS_H

#include <stddef.h>

/* Kernels "rot90" and "rot180": scans with a rotational symmetry.
 *
 * If view k + K/4 is view k rotated by 90 degrees about z, its value at a voxel is that of view k
 * at the voxel rotated back.  The four voxel columns at p, Rp, RRp, RRRp and the four views share
 * four positions on the detector.  The same holds for two columns and two views 180 degrees apart.
 * Views are stored packed: lane j of a sample is view k + j K/n.  One bilinear interpolation then
 * computes all lanes without a gather (Xu and Mueller 2005).  Lane j of position i belongs to voxel
 * i + j: the lanes are rotated by i before they are added. */

/** Greatest number of symmetric views per group: four, for "rot90". */
enum { FBP_ROT_VIEWS = 4 };

/** Border of zeros of a packed view: columns left and right, rows below and above. */
enum { FBP_ROT_LEFT = 1, FBP_ROT_RIGHT = 2, FBP_ROT_BELOW = 1, FBP_ROT_ABOVE = 2 };

/**
 * Parameters of one group of symmetric views along one set of symmetric voxel columns, which share
 * detector positions i.  With t counted in slices, the detector row at position i is
 *
 *     v = v0[i] + t dv[i],   clamped to v_lo <= v <= v_hi,
 *
 * relative to the integer row `row`.
 */
struct fbp_bp_rot {
    /** [i] row 0 of column floor(u) at position i; the next follows after `stride` floats */
    const float *left[FBP_ROT_VIEWS];
    float wl[FBP_ROT_VIEWS], wr[FBP_ROT_VIEWS]; /**< (1 - a) / w^2, a / w^2, a: fraction of u */
    float v0[FBP_ROT_VIEWS], dv[FBP_ROT_VIEWS];
    float v_lo, v_hi;
    int row; /**< row from which v counts, as an index of stored rows: 0 is the first stored row */
};

/**
 *     dst[slice][lane] += sum over positions i of rotate_i(lerp(wl left + wr right, v_i(t)))
 *
 * rotate_i  moves lane j to lane (j + i) % lanes
 * n_slices  number of slices, the first of which has t = t0
 * stride    floats from column to column, = rows x lanes; the lanes of a row are adjacent
 */
typedef void fbp_bp_rot_fn(float *dst, size_t n_slices, float t0, const struct fbp_bp_rot *r,
                           size_t stride);

#if defined(VL) /* vectors */

/*
 * Operations: VL lanes per vector V, V*() and VI*().
 *
 * One vector of 256 bits (rot90) or 128 bits (rot180) holds two rows of a packed view, on every
 * instruction set of x86-64: two rows of 8 lanes in 512 bits were slower, because half of these
 * loads cross a cache line.  The two rows have the weights (1 - b | b) and are added at the end.
 */

/* Greatest number of slices per block: tables of their detector rows fit the first-level cache. */
enum { ROT_BLOCK = 64 };

struct rot_rows {
    int at[FBP_ROT_VIEWS][ROT_BLOCK];  /* floats from `left` */
    float b[FBP_ROT_VIEWS][ROT_BLOCK]; /* fraction of v */
};

/* Detector rows of n slices, VL slices at a time: n is rounded up to whole vectors. */
static inline void rot_find_rows(struct rot_rows *out, size_t n, float t0,
                                 const struct fbp_bp_rot *r, int lanes)
{
    const V lo = VSET1(r->v_lo), hi = VSET1(r->v_hi);

    for (int i = 0; i < lanes; i++)
        for (size_t z = 0; z < n; z += VL) {
            const V t = VADD(VSET1(t0 + (float)z), VIOTA());
            const V v = VMIN(VMAX(VFMA(t, VSET1(r->dv[i]), VSET1(r->v0[i])), lo), hi);
            const V fv = VFLOOR(v);
            VISTORE(out->at[i] + z, VIMUL(VIADD(VTOI(fv), VISET1(r->row)), VISET1(lanes)));
            VSTORE(out->b[i] + z, VSUB(v, fv));
        }
}

#endif

#if defined(VL) && defined(__aarch64__)

/* Lanes are rotated by vext*(), whose last argument must be a number. */
#    define ROTATE_2(EXT, a, i) ((i) == 1 ? EXT(a, a, 1) : (a))
#    define ROTATE_4(EXT, a, i) \
        ((i) == 1 ? EXT(a, a, 3) : (i) == 2 ? EXT(a, a, 2) : (i) == 3 ? EXT(a, a, 1) : (a))

/* Defines the loop for LANES symmetric views, a row per vector T; Q: q for 128 bits. */
#    define ROT_KERNEL(NAME, LANES, T, Q)                                                      \
        static void NAME(float *dst, size_t n, float t0, const struct fbp_bp_rot *r,           \
                         size_t stride)                                                        \
        {                                                                                      \
            for (size_t z0 = 0; z0 < n; z0 += ROT_BLOCK) {                                     \
                const size_t m = n - z0 < ROT_BLOCK ? n - z0 : ROT_BLOCK;                      \
                struct rot_rows rows;                                                          \
                rot_find_rows(&rows, m, t0 + (float)z0, r, LANES);                             \
                for (size_t z = 0; z < m; z++, dst += LANES) {                                 \
                    T sum = vld1##Q##_f32(dst);                                                \
                    _Pragma("GCC unroll 4") for (int i = 0; i < LANES; i++)                    \
                    {                                                                          \
                        const float *p = r->left[i] + rows.at[i][z], *q = p + stride;          \
                        const float wl = r->wl[i], wr = r->wr[i];                              \
                        const T a = vmul##Q##_n_f32(vld1##Q##_f32(p), wl);                     \
                        const T b = vmul##Q##_n_f32(vld1##Q##_f32(p + LANES), wl);             \
                        const T lower = vfma##Q##_n_f32(a, vld1##Q##_f32(q), wr);              \
                        const T upper = vfma##Q##_n_f32(b, vld1##Q##_f32(q + LANES), wr);      \
                        const T line =                                                         \
                            vfma##Q##_n_f32(lower, vsub##Q##_f32(upper, lower), rows.b[i][z]); \
                        sum = vadd##Q##_f32(sum, ROTATE_##LANES(vext##Q##_f32, line, i));      \
                    }                                                                          \
                    vst1##Q##_f32(dst, sum);                                                   \
                }                                                                              \
            }                                                                                  \
        }

ROT_KERNEL(rot180, 2, float32x2_t, )
ROT_KERNEL(rot90, 4, float32x4_t, q)

#elif defined(VL) /* x86-64 */

/* Moves lane j of each row to lane (j + i) % 2. */
static inline __m128 rotate_2(__m128 a, int i)
{
    return i == 1 ? _mm_permute_ps(a, _MM_SHUFFLE(2, 3, 0, 1)) : a;
}

/* Moves lane j of each row to lane (j + i) % 4. */
static inline __m256 rotate_4(__m256 a, int i)
{
    switch (i) {
    case 1:
        return _mm256_permute_ps(a, _MM_SHUFFLE(2, 1, 0, 3));
    case 2:
        return _mm256_permute_ps(a, _MM_SHUFFLE(1, 0, 3, 2));
    case 3:
        return _mm256_permute_ps(a, _MM_SHUFFLE(0, 3, 2, 1));
    default:
        return a;
    }
}

/* Adds the sum of both rows of `a` to p[0 … lanes - 1]. */
static inline void add_rows_of_2(float *p, __m128 a)
{
    const __m128 to = _mm_castsi128_ps(_mm_loadl_epi64((const void *)p));
    const __m128 sum = _mm_add_ps(to, _mm_add_ps(a, _mm_movehl_ps(a, a)));
    _mm_storel_epi64((void *)p, _mm_castps_si128(sum));
}

static inline void add_rows_of_4(float *p, __m256 a)
{
    const __m128 sum = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    _mm_storeu_ps(p, _mm_add_ps(_mm_loadu_ps(p), sum));
}

/* Defines the loop for LANES symmetric views.  T: vector of two rows of a packed view; OP(name):
 * its intrinsics; BASE + b SLOPE: weights (1 - b | b) of the two rows. */
#    define ROT_KERNEL(NAME, LANES, T, OP, SLOPE, BASE)                                           \
        static void NAME(float *dst, size_t n, float t0, const struct fbp_bp_rot *r,              \
                         size_t stride)                                                           \
        {                                                                                         \
            T wl[LANES], wr[LANES];                                                               \
            for (int i = 0; i < LANES; i++) {                                                     \
                wl[i] = OP(set1_ps)(r->wl[i]);                                                    \
                wr[i] = OP(set1_ps)(r->wr[i]);                                                    \
            }                                                                                     \
            for (size_t z0 = 0; z0 < n; z0 += ROT_BLOCK) {                                        \
                const size_t m = n - z0 < ROT_BLOCK ? n - z0 : ROT_BLOCK;                         \
                struct rot_rows rows;                                                             \
                rot_find_rows(&rows, m, t0 + (float)z0, r, LANES);                                \
                for (size_t z = 0; z < m; z++, dst += LANES) {                                    \
                    T sum = OP(set1_ps)(0);                                                       \
                    _Pragma("GCC unroll 4") for (int i = 0; i < LANES; i++)                       \
                    {                                                                             \
                        const float *p = r->left[i] + rows.at[i][z], *q = p + stride;             \
                        const T b = OP(set1_ps)(rows.b[i][z]);                                    \
                        const T line = OP(fmadd_ps)(wr[i], OP(loadu_ps)(q),                       \
                                                    OP(mul_ps)(wl[i], OP(loadu_ps)(p)));          \
                        sum = OP(fmadd_ps)(OP(fmadd_ps)(b, SLOPE, BASE), rotate_##LANES(line, i), \
                                           sum);                                                  \
                    }                                                                             \
                    add_rows_of_##LANES(dst, sum);                                                \
                }                                                                                 \
            }                                                                                     \
        }

#    define OP_128(name) _mm_##name
#    define OP_256(name) _mm256_##name

ROT_KERNEL(rot180, 2, __m128, OP_128, _mm_setr_ps(-1, -1, 1, 1), _mm_setr_ps(1, 1, 0, 0))
ROT_KERNEL(rot90, 4, __m256, OP_256, _mm256_setr_ps(-1, -1, -1, -1, 1, 1, 1, 1),
           _mm256_setr_ps(1, 1, 1, 1, 0, 0, 0, 0))

#elif defined(SUFFIX) /* plain C */

static inline void rot(float *dst, size_t n_slices, float t0, const struct fbp_bp_rot *r,
                       size_t stride, size_t lanes)
{
    for (size_t z = 0; z < n_slices; z++, dst += lanes)
        for (size_t i = 0; i < lanes; i++) {
            const float v = clampf(r->v0[i] + (t0 + (float)z) * r->dv[i], r->v_lo, r->v_hi);
            const float fv = floorf(v), b = v - fv, wl = r->wl[i], wr = r->wr[i];
            const float *p = r->left[i] + ((ptrdiff_t)fv + r->row) * (ptrdiff_t)lanes;
            const float *q = p + stride;
            for (size_t j = 0; j < lanes; j++) {
                const float lower = wl * p[j] + wr * q[j];
                const float upper = wl * p[lanes + j] + wr * q[lanes + j];
                dst[(i + j) % lanes] += lower + b * (upper - lower);
            }
        }
}

static void rot90(float *dst, size_t n_slices, float t0, const struct fbp_bp_rot *r, size_t stride)
{
    rot(dst, n_slices, t0, r, stride, 4);
}

static void rot180(float *dst, size_t n_slices, float t0, const struct fbp_bp_rot *r, size_t stride)
{
    rot(dst, n_slices, t0, r, stride, 2);
}

#endif

#endif /* FBP_SRC_CPU_ROT_LOOPS_H */
