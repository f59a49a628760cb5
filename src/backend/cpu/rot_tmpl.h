/*
 * Template of kernels "rot90" and "rot180" (fbp_bp_rot_fn in simd.h), included by simd_avx2.c and
 * simd_avx512.c.  Parameters: VL lanes per vector V, the operations V*() and VI*().
 *
 * One vector of 256 bits (rot90) or 128 bits (rot180) holds two rows of a packed view, on every
 * instruction set: two rows of 8 lanes in 512 bits were slower, because half of these loads cross a
 * cache line.  The two rows have the weights (1 - b | b) and are added at the end.
 */

/* Slices per block: the tables stay in the first-level cache. */
enum { ROT_BLOCK = 64 };

struct rot_rows {
    int at[FBP_ROT_VIEWS][ROT_BLOCK];  /* floats from `left` */
    float b[FBP_ROT_VIEWS][ROT_BLOCK]; /* fraction of v */
};

/* The detector rows of n slices, VL at a time: n is rounded up to whole vectors. */
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

/* Lane j of each row to lane (j + i) % 2. */
static inline __m128 rotate_2(__m128 a, int i)
{
    return i == 1 ? _mm_permute_ps(a, _MM_SHUFFLE(2, 3, 0, 1)) : a;
}

/* Lane j of each row to lane (j + i) % 4. */
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

/* p[lanes] += the sum of both rows of a. */
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

/* T: vector of two rows, OP(name): its intrinsic; b is multiplied by SLOPE and added to BASE. */
#define ROT_KERNEL(NAME, LANES, T, OP, SLOPE, BASE)                                               \
    static void NAME(float *dst, size_t n, float t0, const struct fbp_bp_rot *r, size_t stride)   \
    {                                                                                             \
        T wl[LANES], wr[LANES];                                                                   \
        for (int i = 0; i < LANES; i++) {                                                         \
            wl[i] = OP(set1_ps)(r->wl[i]);                                                        \
            wr[i] = OP(set1_ps)(r->wr[i]);                                                        \
        }                                                                                         \
        for (size_t z0 = 0; z0 < n; z0 += ROT_BLOCK) {                                            \
            const size_t m = n - z0 < ROT_BLOCK ? n - z0 : ROT_BLOCK;                             \
            struct rot_rows rows;                                                                 \
            rot_find_rows(&rows, m, t0 + (float)z0, r, LANES);                                    \
            for (size_t z = 0; z < m; z++, dst += LANES) {                                        \
                T sum = OP(set1_ps)(0);                                                           \
                _Pragma("GCC unroll 4") for (int i = 0; i < LANES; i++)                           \
                {                                                                                 \
                    const float *p = r->left[i] + rows.at[i][z], *q = p + stride;                 \
                    const T b = OP(set1_ps)(rows.b[i][z]);                                        \
                    const T line =                                                                \
                        OP(fmadd_ps)(wr[i], OP(loadu_ps)(q), OP(mul_ps)(wl[i], OP(loadu_ps)(p))); \
                    sum =                                                                         \
                        OP(fmadd_ps)(OP(fmadd_ps)(b, SLOPE, BASE), rotate_##LANES(line, i), sum); \
                }                                                                                 \
                add_rows_of_##LANES(dst, sum);                                                    \
            }                                                                                     \
        }                                                                                         \
    }

#define OP_128(name) _mm_##name
#define OP_256(name) _mm256_##name

ROT_KERNEL(rot180, 2, __m128, OP_128, _mm_setr_ps(-1, -1, 1, 1), _mm_setr_ps(1, 1, 0, 0))
ROT_KERNEL(rot90, 4, __m256, OP_256, _mm256_setr_ps(-1, -1, -1, -1, 1, 1, 1, 1),
           _mm256_setr_ps(1, 1, 1, 1, 0, 0, 0, 0))
