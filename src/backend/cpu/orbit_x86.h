/*
 * The orbit kernels of both x86 files.  One vector holds two rows of a packed view: 256 bits of 4
 * lanes, 128 bits of 2.  Parameters as in bp_tmpl.h.  (Two rows of 8 lanes in 512 bits were slower:
 * half of these loads cross a cache line.)
 */

/* Slices per call of orbit_find(): its table stays in the first-level cache. */
enum { ORBIT_BLOCK = 64 };

struct SUFFIX(orbit_places) {
    int at[FBP_ORBIT_TURNS][ORBIT_BLOCK]; /* floats from `left` */
    float b[FBP_ORBIT_TURNS][ORBIT_BLOCK];
};

/* Where the slices of an orbit fall on the detector, VL at a time.  Rounds n up to whole vectors.
 */
static inline void SUFFIX(orbit_find)(struct SUFFIX(orbit_places) * out, size_t n, float t0,
                                      const struct fbp_bp_orbit *o, int turns)
{
    const V lo = VSET1(o->v_lo), hi = VSET1(o->v_hi);

    for (int i = 0; i < turns; i++)
        for (size_t z = 0; z < n; z += VL) {
            const V t = VADD(VSET1(t0 + (float)z), VIOTA());
            const V v = VMIN(VMAX(VFMA(t, VSET1(o->dv[i]), VSET1(o->v0[i])), lo), hi);
            const V fv = VFLOOR(v);
            VISTORE(out->at[i] + z, VIMUL(VIADD(VTOI(fv), VISET1(o->row)), VISET1(turns)));
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

#define KERNEL         SUFFIX(rot180)
#define TURNS          2
#define T              __m128
#define TLOAD(p)       _mm_loadu_ps(p)
#define TSET1(a)       _mm_set1_ps(a)
#define TMUL(a, b)     _mm_mul_ps(a, b)
#define TFMA(a, b, c)  _mm_fmadd_ps(a, b, c)
#define TROTATE(a, i)  rotate_2(a, i)
#define ADD_ROWS(p, a) add_rows_of_2(p, a)
#define SLOPE          _mm_setr_ps(-1, -1, 1, 1)
#define BASE           _mm_setr_ps(1, 1, 0, 0)
#include "backend/cpu/orbit_tmpl.h"

#define KERNEL         SUFFIX(rot90)
#define TURNS          4
#define T              __m256
#define TLOAD(p)       _mm256_loadu_ps(p)
#define TSET1(a)       _mm256_set1_ps(a)
#define TMUL(a, b)     _mm256_mul_ps(a, b)
#define TFMA(a, b, c)  _mm256_fmadd_ps(a, b, c)
#define TROTATE(a, i)  rotate_4(a, i)
#define ADD_ROWS(p, a) add_rows_of_4(p, a)
#define SLOPE          _mm256_setr_ps(-1, -1, -1, -1, 1, 1, 1, 1)
#define BASE           _mm256_setr_ps(1, 1, 1, 1, 0, 0, 0, 0)
#include "backend/cpu/orbit_tmpl.h"

const struct fbp_orbit_dsp SUFFIX(fbp_orbit) = {.rot90 = SUFFIX(rot90), .rot180 = SUFFIX(rot180)};
