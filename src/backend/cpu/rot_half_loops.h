/** @file rot_half_loops.h  Inner loop of the CPU kernel "rot90" in precision half: samples and
 * weights of 16 bits, sums of 32 bits (internal).  rot.c calls it through struct fbp_bp_dsp of
 * simd.h.  The plain C loop below is the specification; line_loops.h explains which file compiles
 * which loops.
 * Used by: simd.h.
 */
#ifndef FBP_SRC_CPU_ROT_HALF_LOOPS_H
#define FBP_SRC_CPU_ROT_HALF_LOOPS_H

#include <stddef.h>
#include <stdint.h>

/* Views are packed as for precision exact (rot_loops.h), but an entry [column][row][lane] has two
 * samples of 16 bits: that of the column, and that of the next column.  One instruction multiplies
 * both by their weights, and adds the products. */

/** FBP_HALF_GROUPS: groups of views that one call adds.  FBP_HALF_LARGEST: greatest magnitude of a
 * sample.  FBP_HALF_WEIGHT: greatest sum of the weights of a position: sums of FBP_HALF_GROUPS
 * groups, of 4 positions each, stay below 2^31. */
enum { FBP_HALF_GROUPS = 2, FBP_HALF_LARGEST = 32767, FBP_HALF_WEIGHT = 8191 };

/** Parameters of groups of symmetric views along one set of symmetric voxel columns, like struct
 * fbp_bp_rot. */
struct fbp_bp_rot_half {
    struct {
        const int16_t *left[FBP_ROT_VIEWS]; /**< [i] row 0 of column floor(u) at position i */
        /** [i] weight of this column + 65536 x weight of the next one */
        uint32_t weights[FBP_ROT_VIEWS];
        float v0[FBP_ROT_VIEWS], dv[FBP_ROT_VIEWS];
        float v_lo, v_hi;
        int row;
    } group[FBP_HALF_GROUPS];
    float scale; /**< factor by which sums are multiplied */
};

/**
 *     dst[slice][lane] += scale sum over groups and positions i of rotate_i(…)
 *
 * as fbp_bp_rot_fn does.  Detector rows v are rounded to 1/65536. The weight of the upper row is
 * rounded down; the lower row gets the rest.
 */
typedef void fbp_bp_rot_half_fn(float *dst, size_t n_slices, float t0,
                                const struct fbp_bp_rot_half *r);

#if defined(VL) && defined(__x86_64__)

/* Operations: VISLL(a, n) and VISRA(a, n) shift, VITWICE() copies the low half of each lane to its
 * high half; VIMULHI16() and VISUB16() compute with uint16; VIZIP_LOW() and VIZIP_HIGH() interleave
 * the lanes of the low, or high, halves of each 128 bits. */

/* Bytes that VITWICE() copies within 128 bits. */
static inline __m128i twice(void)
{
    return _mm_setr_epi8(0, 1, 0, 1, 4, 5, 4, 5, 8, 9, 8, 9, 12, 13, 12, 13);
}

enum { HALF_BLOCK = 64, HALF_SUMS = 8 };

struct half_rows {
    int at[FBP_ROT_VIEWS][HALF_BLOCK]; /* int16 from `left` */
    /* weights of row floor(v) and of the row above, 2 slices per 128 bits: see weights_at() */
    uint32_t weights[FBP_ROT_VIEWS][2 * HALF_BLOCK] __attribute__((aligned(64)));
};

/* Rows and weights of n slices, VL slices at a time: n is rounded up to whole vectors. */
static inline void half_find_rows(struct half_rows *out, size_t n, float t0,
                                  const struct fbp_bp_rot_half *r, int g)
{
    const float one = 65536;
    const V lo = VSET1(one * r->group[g].v_lo), hi = VSET1(one * r->group[g].v_hi);

    for (int i = 0; i < FBP_ROT_VIEWS; i++) {
        const V v0 = VSET1(one * r->group[g].v0[i]), dv = VSET1(one * r->group[g].dv[i]);
        const VI both = VISET1((int)r->group[g].weights[i]);
        for (size_t z = 0; z < n; z += VL) {
            const V t = VADD(VSET1(t0 + (float)z), VIOTA());
            const VI v = VROUND(VMIN(VMAX(VFMA(t, dv, v0), lo), hi));
            const VI above = VIMULHI16(VITWICE(v), both), below = VISUB16(both, above);
            VISTORE(out->at[i] + z, VISLL(VIADD(VISRA(v, 16), VISET1(r->group[g].row)), 3));
            VISTORE(out->weights[i] + 2 * z, VIZIP_LOW(below, above));
            VISTORE(out->weights[i] + 2 * z + VL, VIZIP_HIGH(below, above));
        }
    }
}

/* Returns the weights of slices z + s and z + s + 1, in both halves of a vector; z is a multiple of
 * 8, s is 0, 2, 4 or 6. */
static ALWAYS_INLINE __m256i weights_at(const uint32_t *weights, size_t z, int s)
{
    const size_t vector = 2 * (z & ~(size_t)(VL - 1)) + (z & (VL - 1));

    return _mm256_broadcastsi128_si256(
        _mm_load_si128((const void *)(weights + vector + s % 4 / 2 * VL + s / 4 * 4)));
}

/* Adds the products of 16 samples with their weights, in pairs, to sums of int32. */
typedef __m256i half_products_fn(__m256i sum, const int16_t *samples, __m256i weights);

/* Adds the sums of both rows, times scale, to HALF_SUMS slices. */
static ALWAYS_INLINE void add_sums(float *to, const __m256i *sum, float scale)
{
    UNROLL for (int s = 0; s < HALF_SUMS; s++, to += FBP_ROT_VIEWS)
    {
        const __m128i both =
            _mm_add_epi32(_mm256_castsi256_si128(sum[s]), _mm256_extracti128_si256(sum[s], 1));
        const __m128 value = _mm_cvtepi32_ps(both);
        _mm_storeu_ps(to, _mm_fmadd_ps(value, _mm_set1_ps(scale), _mm_loadu_ps(to)));
    }
}

/* The loop; add() is inlined.  The sums of HALF_SUMS slices stay in registers. */
static ALWAYS_INLINE void half_loop(float *dst, size_t n, float t0, const struct fbp_bp_rot_half *r,
                                    half_products_fn *add)
{
    /* which bytes of weights_at() each lane takes: row floor(v), or the row above */
    const __m256i first = _mm256_setr_epi32(0x03020100, 0x03020100, 0x03020100, 0x03020100,
                                            0x07060504, 0x07060504, 0x07060504, 0x07060504);
    const __m256i second = _mm256_add_epi32(first, _mm256_set1_epi32(0x08080808));

    for (size_t z0 = 0; z0 < n; z0 += HALF_BLOCK) {
        const size_t m = n - z0 < HALF_BLOCK ? n - z0 : HALF_BLOCK;
        struct half_rows rows[FBP_HALF_GROUPS];
        for (int g = 0; g < FBP_HALF_GROUPS; g++)
            half_find_rows(&rows[g], m, t0 + (float)z0, r, g);
        for (size_t z = 0; z < m; z += HALF_SUMS) {
            __m256i sum[HALF_SUMS];
            UNROLL for (int s = 0; s < HALF_SUMS; s++) sum[s] = _mm256_setzero_si256();
            UNROLL for (int i = FBP_ROT_VIEWS - 1; i >= 0; i--)
            {
                /* move the sums of the positions above i by one lane */
                UNROLL for (int s = 0; s < HALF_SUMS; s++) sum[s] =
                    _mm256_shuffle_epi32(sum[s], _MM_SHUFFLE(2, 1, 0, 3));
                UNROLL for (int g = 0; g < FBP_HALF_GROUPS; g++)
                {
                    const int16_t *const left = r->group[g].left[i];
                    const int *const at = rows[g].at[i] + z;
                    UNROLL for (int s = 0; s < HALF_SUMS; s += 2)
                    {
                        const __m256i w = weights_at(rows[g].weights[i], z, s);
                        sum[s] = add(sum[s], left + at[s], _mm256_shuffle_epi8(w, first));
                        sum[s + 1] =
                            add(sum[s + 1], left + at[s + 1], _mm256_shuffle_epi8(w, second));
                    }
                }
            }
            float *const to = dst + (z0 + z) * FBP_ROT_VIEWS;
            if (m - z >= HALF_SUMS) {
                add_sums(to, sum, r->scale);
            } else {
                float rest[HALF_SUMS * FBP_ROT_VIEWS] = {0};
                const size_t bytes = (m - z) * FBP_ROT_VIEWS * sizeof *rest;
                memcpy(rest, to, bytes);
                add_sums(rest, sum, r->scale);
                memcpy(to, rest, bytes);
            }
        }
    }
}

static inline __m256i add_products(__m256i sum, const int16_t *samples, __m256i weights)
{
    return _mm256_add_epi32(sum,
                            _mm256_madd_epi16(_mm256_loadu_si256((const void *)samples), weights));
}

static void rot90_half(float *dst, size_t n_slices, float t0, const struct fbp_bp_rot_half *r)
{
    half_loop(dst, n_slices, t0, r, add_products);
}

#elif defined(SUFFIX) && !defined(VL) /* plain C */

static void rot90_half(float *dst, size_t n_slices, float t0, const struct fbp_bp_rot_half *r)
{
    const size_t lanes = FBP_ROT_VIEWS;

    for (size_t z = 0; z < n_slices; z++, dst += lanes) {
        int32_t sum[FBP_ROT_VIEWS] = {0};
        for (size_t g = 0; g < FBP_HALF_GROUPS; g++)
            for (size_t i = 0; i < lanes; i++) {
                const float row = clampf(r->group[g].v0[i] + (t0 + (float)z) * r->group[g].dv[i],
                                         r->group[g].v_lo, r->group[g].v_hi);
                const float fixed = floorf(row * 65536 + 0.5f), fv = floorf(fixed / 65536);
                const int16_t *p =
                    r->group[g].left[i] + ((ptrdiff_t)fv + r->group[g].row) * 2 * (ptrdiff_t)lanes;
                const uint32_t b = (uint32_t)(fixed - fv * 65536);
                const uint32_t w[2] = {r->group[g].weights[i] & 0xffff,
                                       r->group[g].weights[i] >> 16};
                for (size_t side = 0; side < 2; side++) {
                    const int32_t above = (int32_t)(b * w[side] >> 16);
                    const int32_t below = (int32_t)w[side] - above;
                    for (size_t j = 0; j < lanes; j++)
                        sum[(i + j) % lanes] +=
                            below * p[2 * j + side] + above * p[2 * (lanes + j) + side];
                }
            }
        for (size_t j = 0; j < lanes; j++)
            dst[j] += r->scale * (float)sum[j];
    }
}

#endif

#endif /* FBP_SRC_CPU_ROT_HALF_LOOPS_H */
