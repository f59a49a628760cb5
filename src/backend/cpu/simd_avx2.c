/* The inner loops of the CPU device (simd.h) for AVX2: defines the operations on vectors, from
 * which simd.h makes the loops and their tables; simd_c.c selects a table. Compiled with -mavx2
 * -mfma; must not be called unless the processor has both.
 * Used by: simd_c.c. */
#if defined(__x86_64__)
#    include <immintrin.h>
#    include <stddef.h>
#    include <string.h>

#    define SUFFIX(name) name##_avx2

#    define VL                 8
#    define V                  __m256
#    define VI                 __m256i
#    define VSET1(a)           _mm256_set1_ps(a)
#    define VADD(a, b)         _mm256_add_ps(a, b)
#    define VSUB(a, b)         _mm256_sub_ps(a, b)
#    define VMUL(a, b)         _mm256_mul_ps(a, b)
#    define VDIV(a, b)         _mm256_div_ps(a, b)
#    define VFMA(a, b, c)      _mm256_fmadd_ps(a, b, c)
#    define VFNMA(a, b, c)     _mm256_fnmadd_ps(a, b, c)
#    define VMIN(a, b)         _mm256_min_ps(a, b)
#    define VMAX(a, b)         _mm256_max_ps(a, b)
#    define VFLOOR(a)          _mm256_floor_ps(a)
#    define VTOI(a)            _mm256_cvttps_epi32(a)
#    define VROUND(a)          _mm256_cvtps_epi32(a)
#    define VTOF(a)            _mm256_cvtepi32_ps(a)
#    define VABS(a)            _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a)
#    define VIOTA()            _mm256_setr_ps(0, 1, 2, 3, 4, 5, 6, 7)
#    define VUPPER()           _mm256_setr_ps(0, 0, 0, 0, 1, 1, 1, 1)
#    define VX()               _mm256_setr_ps(0, 1, 2, 3, 0, 1, 2, 3)
#    define VY()               _mm256_setr_ps(0, 0, 0, 0, 1, 1, 1, 1)
#    define VISET1(a)          _mm256_set1_epi32(a)
#    define VIADD(a, b)        _mm256_add_epi32(a, b)
#    define VIMUL(a, b)        _mm256_mullo_epi32(a, b)
#    define VISLL(a, n)        _mm256_slli_epi32(a, n)
#    define VISRA(a, n)        _mm256_srai_epi32(a, n)
#    define VIMULHI16(a, b)    _mm256_mulhi_epu16(a, b)
#    define VISUB16(a, b)      _mm256_sub_epi16(a, b)
#    define VIZIP_LOW(a, b)    _mm256_unpacklo_epi32(a, b)
#    define VIZIP_HIGH(a, b)   _mm256_unpackhi_epi32(a, b)
#    define VITWICE(a)         _mm256_shuffle_epi8(a, _mm256_broadcastsi128_si256(twice()))
#    define VGATHER(p, i)      _mm256_i32gather_ps(p, i, 4)
#    define VLOAD(p)           _mm256_loadu_ps(p)
#    define VSTREAM(p, a)      _mm256_stream_ps(p, a)
#    define VFENCE()           _mm_sfence()
#    define VSTORE(p, a)       _mm256_storeu_ps(p, a)
#    define VISTORE(p, a)      _mm256_storeu_si256((__m256i *)(void *)(p), a)
#    define DL                 4
#    define D                  __m256d
#    define DSET1(a)           _mm256_set1_pd(a)
#    define DADD(a, b)         _mm256_add_pd(a, b)
#    define DSUB(a, b)         _mm256_sub_pd(a, b)
#    define DMUL(a, b)         _mm256_mul_pd(a, b)
#    define DFMA(a, b, c)      _mm256_fmadd_pd(a, b, c)
#    define DMIN(a, b)         _mm256_min_pd(a, b)
#    define DMAX(a, b)         _mm256_max_pd(a, b)
#    define DROUND(a)          _mm256_round_pd(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)
#    define DX()               _mm256_setr_pd(0, 1, 2, 3)
#    define DY()               _mm256_setzero_pd()
#    define DLOAD(p)           _mm256_loadu_pd(p)
#    define DSTORE(p, a)       _mm256_storeu_pd(p, a)
#    define DSTORE_INT(p, a)   _mm_storeu_si128((__m128i *)(void *)(p), _mm256_cvtpd_epi32(a))
#    define DSTORE_FLOAT(p, a) _mm_storeu_ps(p, _mm256_cvtpd_ps(a))

static inline void zip(__m256 a, __m256 b, __m256 *lo, __m256 *hi)
{
    const __m256 even = _mm256_unpacklo_ps(a, b), odd = _mm256_unpackhi_ps(a, b);

    *lo = _mm256_permute2f128_ps(even, odd, 0x20);
    *hi = _mm256_permute2f128_ps(even, odd, 0x31);
}

/* Loads four pairs of neighbouring samples, from p + i[0], p + i[1], p + i[4] and p + i[5]. */
static inline __m256 four_pairs(const float *p, const int *i)
{
    long long pair[4];

    memcpy(&pair[0], p + i[0], sizeof pair[0]);
    memcpy(&pair[1], p + i[1], sizeof pair[1]);
    memcpy(&pair[2], p + i[4], sizeof pair[2]);
    memcpy(&pair[3], p + i[5], sizeof pair[3]);
    return _mm256_insertf128_ps(
        _mm256_castps128_ps256(_mm_castsi128_ps(_mm_set_epi64x(pair[1], pair[0]))),
        _mm_castsi128_ps(_mm_set_epi64x(pair[3], pair[2])), 1);
}

static inline void taps(const float *view, size_t step, __m256i at, __m256 out[4])
{
    int i[8] __attribute__((aligned(32)));

    _mm256_store_si256((__m256i *)(void *)i, at);
    /* Without this statement, gcc extracts indices from a vector, which is slower than loads. */
    __asm__("" : "+m"(i));
    const __m256 a = four_pairs(view, i), b = four_pairs(view, i + 2);
    const __m256 c = four_pairs(view + step, i), d = four_pairs(view + step, i + 2);
    out[0] = _mm256_shuffle_ps(a, b, 0x88);
    out[1] = _mm256_shuffle_ps(a, b, 0xdd);
    out[2] = _mm256_shuffle_ps(c, d, 0x88);
    out[3] = _mm256_shuffle_ps(c, d, 0xdd);
}

static inline void taps_by_gathers(const float *view, size_t step, __m256i at, __m256 out[4])
{
    out[0] = VGATHER(view, at);
    out[1] = VGATHER(view + 1, at);
    out[2] = VGATHER(view + step, at);
    out[3] = VGATHER(view + step + 1, at);
}

/* Returns p[i] of each lane from a window of 8 samples: i < 8. */
static inline __m256 window8(const float *p, __m256i i)
{
    return _mm256_permutevar8x32_ps(_mm256_loadu_ps(p), i);
}

static inline __m256 one_window8(const float *p, __m256i i, ptrdiff_t apart)
{
    (void)apart;
    return window8(p, i);
}

static inline __m256 two_windows8(const float *p, __m256i i, ptrdiff_t apart)
{
    return _mm256_blend_ps(window8(p, i), window8(p + apart, i), 0xf0);
}

static inline void deinterleave(__m256 a, __m256 b, __m256 *even, __m256 *odd)
{
    const __m256 low = _mm256_permute2f128_ps(a, b, 0x20);
    const __m256 high = _mm256_permute2f128_ps(a, b, 0x31);

    *even = _mm256_shuffle_ps(low, high, 0x88);
    *odd = _mm256_shuffle_ps(low, high, 0xdd);
}

#    define ADD_SMALL(...)  add_plain(__VA_ARGS__, window8, NULL)
#    define ADD_MIDDLE(...) add_split(__VA_ARGS__, one_window8, false)
#    define ADD_LARGE(...)  add_split(__VA_ARGS__, two_windows8, true)
#    define SMALL_STEP      0.999f                  /* 7 dv + 1 < 8, with room for rounding */
#    define MIDDLE_STEP     (0.999f * 13.0f / 7.0f) /* 7 dv / 2 + 1 < 7.5 */
#    define LARGE_STEP      (0.999f * 11.0f / 3.0f) /* 3 dv / 2 + 2 < 7.5 */

/* Returns c[i] of each lane from a window of 16 samples in two vectors, for kernel "planes": bit 3
 * of an index selects the vector. */
static inline __m256 pick_16(const __m256 c[2], __m256i i)
{
    return _mm256_blendv_ps(_mm256_permutevar8x32_ps(c[0], i), _mm256_permutevar8x32_ps(c[1], i),
                            _mm256_castsi256_ps(_mm256_slli_epi32(i, 28)));
}

#    define PICK_16(c, i) pick_16(c, i)
#    define PICK_8(c, i)  _mm256_permutevar8x32_ps((c)[0], i)

/* Address of the first sample that each of the four lanes needs. */
struct addresses {
    const double *at[4];
};

static inline struct addresses addresses_of(const double *p, __m128i i)
{
    long long low = _mm_cvtsi128_si64(i), high = _mm_extract_epi64(i, 1);

    __asm__("" : "+r"(high)); /* gcc would pass it through memory */
    return (struct addresses){
        {p + (int)low, p + (int)(low >> 32), p + (int)high, p + (int)(high >> 32)}};
}

static inline __m256d both(__m128d low, __m128d high)
{
    return _mm256_insertf128_pd(_mm256_castpd128_pd256(low), high, 1);
}

static inline __m256d linear_taps(const double *samples, __m256d u, __m256d s[2])
{
    const __m128i i = _mm256_cvttpd_epi32(u);
    const struct addresses p = addresses_of(samples, i);
    const __m256d even = both(_mm_loadu_pd(p.at[0]), _mm_loadu_pd(p.at[2]));
    const __m256d odd = both(_mm_loadu_pd(p.at[1]), _mm_loadu_pd(p.at[3]));

    s[0] = _mm256_unpacklo_pd(even, odd);
    s[1] = _mm256_unpackhi_pd(even, odd);
    return DSUB(u, _mm256_cvtepi32_pd(i));
}

static inline __m256d nearest_taps(const double *samples, __m256d u, __m256d s[1])
{
    const struct addresses p = addresses_of(samples, _mm256_cvttpd_epi32(u));

    s[0] = _mm256_setr_pd(*p.at[0], *p.at[1], *p.at[2], *p.at[3]);
    return u;
}

static inline __m256d cubic_taps(const double *samples, __m256d u, __m256d s[4])
{
    const __m128i i = _mm256_cvttpd_epi32(u);
    const struct addresses p = addresses_of(samples, i);
    const __m256d a = DLOAD(p.at[0]), b = DLOAD(p.at[1]), c = DLOAD(p.at[2]), d = DLOAD(p.at[3]);
    const __m256d even_ab = _mm256_unpacklo_pd(a, b), odd_ab = _mm256_unpackhi_pd(a, b);
    const __m256d even_cd = _mm256_unpacklo_pd(c, d), odd_cd = _mm256_unpackhi_pd(c, d);

    s[0] = _mm256_permute2f128_pd(even_ab, even_cd, 0x20);
    s[1] = _mm256_permute2f128_pd(odd_ab, odd_cd, 0x20);
    s[2] = _mm256_permute2f128_pd(even_ab, even_cd, 0x31);
    s[3] = _mm256_permute2f128_pd(odd_ab, odd_cd, 0x31);
    return DSUB(u, _mm256_cvtepi32_pd(i));
}

#    include "backend/cpu/simd.h"

MATRIX_KERNEL(void, fbp_bp_matrix_avx2_gather,
              linear_at((float)x, view, stride, l, taps_by_gathers))
#endif
