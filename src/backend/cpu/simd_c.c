/* The inner loops of the CPU device in plain C, which are the specification of all others, and the
 * choice among instruction sets (simd.h).  No product and sum are contracted (-ffp-contract=off):
 * these loops give the same bits on every machine. */
#include "backend/cpu/simd.h"

#include "base/system.h"
#include "filter/parabola.h"

#include <math.h>

static float peak(const float *x, size_t n)
{
    float most = 0;

    for (size_t i = 0; i < n; i++)
        most = fabsf(x[i]) > most ? fabsf(x[i]) : most;
    return most;
}

static void weigh(const float *x, const float *a, const float *b, size_t n, float *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = x[i] * a[i] * b[i];
}

static void transpose(const float *in, size_t n_rows, size_t n_columns, float *out, size_t stride)
{
    for (size_t c = 0; c < n_columns; c++)
        for (size_t r = 0; r < n_rows; r++)
            out[c * stride + r] = in[r * n_columns + c];
}

enum { LANES = 4 };

static void convolve(const float *x, const float *centre, size_t S, size_t n, float *out)
{
    for (size_t c = 0; c < n; c++) {
        const size_t lo = c > S ? c - S : 0, end = c + S < n ? c + S + 1 : n;
        const float *k = centre + c;
        float sum[LANES] = {0};
        for (size_t i = lo; i < end; i++)
            for (size_t l = 0; l < LANES; l++)
                sum[l] += k[-(ptrdiff_t)i] * x[i * LANES + l];
        for (size_t l = 0; l < LANES; l++)
            out[c * LANES + l] = sum[l];
    }
}

static float clampf(float a, float lo, float hi)
{
    return a < lo ? lo : a > hi ? hi : a;
}

static void matrix_linear(float *dst, size_t x0, size_t x1, const float *view, size_t stride,
                          const struct fbp_bp_line *l)
{
    for (size_t x = x0; x < x1; x++) {
        const float t = (float)x - l->x_ref;
        const float r = 1.0f / (l->w0 + t * l->w1);
        const float u = clampf((l->u0 + t * l->u1) * r, l->u_lo, l->u_hi);
        const float v = clampf((l->v0 + t * l->v1) * r, l->v_lo, l->v_hi);
        const float fu = floorf(u), fv = floorf(v), a = u - fu, b = v - fv;
        const float *p =
            view + (ptrdiff_t)((int)fv + l->row) * (ptrdiff_t)stride + ((int)fu + l->column);
        const float *q = p + stride;
        const float lower = p[0] + a * (p[1] - p[0]), upper = q[0] + a * (q[1] - q[0]);
        dst[x] += r * r * (lower + b * (upper - lower));
    }
}

/* The spline of coefficients c[0 … 3] at fraction t between c[1] and c[2]. */
static float spline(const float *c, float t)
{
    const float s = 1 - t;

    return (s * s * s * c[0] + (4 + 3 * t * t * (t - 2)) * c[1] + (4 + 3 * s * s * (s - 2)) * c[2] +
            t * t * t * c[3]) /
           6;
}

static void matrix_nearest(float *dst, size_t x0, size_t x1, const float *view, size_t stride,
                           const struct fbp_bp_line *l)
{
    const float *row = view + (ptrdiff_t)stride * l->row + l->column;

    for (size_t x = x0; x < x1; x++) {
        const float u = clampf(l->u0 + ((float)x - l->x_ref) * l->u1, l->u_lo, l->u_hi);
        dst[x] += row[(ptrdiff_t)floorf(u + (float)FBP_NEAREST)];
    }
}

static void matrix_cubic(float *dst, size_t x0, size_t x1, const float *view, size_t stride,
                         const struct fbp_bp_line *l)
{
    const float *row = view + (ptrdiff_t)stride * l->row + l->column;

    for (size_t x = x0; x < x1; x++) {
        const float u = clampf(l->u0 + ((float)x - l->x_ref) * l->u1, l->u_lo, l->u_hi);
        const float first = floorf(u);
        dst[x] += spline(row + (ptrdiff_t)first - 1, u - first);
    }
}

static void column(float *dst, size_t z0, size_t z1, float z_ref, const struct fbp_bp_column *views,
                   size_t n, size_t stride)
{
    for (size_t k = 0; k < n; k++) {
        const struct fbp_bp_column *c = &views[k];
        const size_t first = c->z0 > z0 ? c->z0 : z0, end = c->z1 < z1 ? c->z1 : z1;
        const float *left = c->left, *right = left + stride;
        for (size_t z = first; z < end; z++) {
            const float v = clampf(c->v0 + ((float)z - z_ref) * c->dv, c->v_lo, c->v_hi);
            const float fv = floorf(v), b = v - fv;
            const ptrdiff_t i = (ptrdiff_t)fv + c->row;
            const float lower = c->wl * left[i] + c->wr * right[i];
            const float upper = c->wl * left[i + 1] + c->wr * right[i + 1];
            dst[z - z0] += lower + b * (upper - lower);
        }
    }
}

static void column_double(double *dst, size_t n, const struct fbp_bp_column_double *views,
                          size_t n_views, size_t stride)
{
    for (size_t k = 0; k < n_views; k++) {
        const double *left = views[k].left, *right = left + stride;
        for (size_t i = 0; i < n; i++)
            dst[i] += views[k].wl * left[i] + views[k].wr * right[i];
    }
}

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

static inline float value_at(const float *samples, float u, enum fbp_interpolation how)
{
    const int at = (int)u;

    if (how == FBP_INTERPOLATION_CUBIC)
        return spline(samples + at - 1, u - (float)at);
    if (how == FBP_INTERPOLATION_NEAREST)
        return samples[at];
    return samples[at] + (u - (float)at) * (samples[at + 1] - samples[at]);
}

double fbp_row_value_double(const double *samples, double u, enum fbp_interpolation how)
{
    const int at = (int)u;
    const double *s = samples + at;
    double w[4];

    if (how == FBP_INTERPOLATION_NEAREST)
        return s[0];
    if (how == FBP_INTERPOLATION_LINEAR)
        return s[0] + (u - at) * (s[1] - s[0]);
    fbp_spline_weights(u - at, w);
    return w[0] * s[-1] + w[1] * s[0] + w[2] * s[1] + w[3] * s[2];
}

/*
 * Kernel "planes" in C: NAME, NAME_nearest and NAME_cubic, for samples and voxels of type T.  For
 * each view it finds the window of the cube's least u, and the first voxel's u inside it.
 */
#define FBP_PLANES_C(NAME, T, PLANES, VALUE_AT)                                                    \
    static inline void NAME##_add(T *blocks, double x, const PLANES *p,                            \
                                  enum fbp_interpolation how)                                      \
    {                                                                                              \
        for (size_t k = 0; k < p->n; k++) {                                                        \
            const T step[3] = {p->step[0][k], p->step[1][k], p->step[2][k]};                       \
            const double least = p->start[k] + x * p->along[k], window = floor(least);             \
            const T first = (T)(least - window + p->above[k]);                                     \
            const T *samples = p->samples + (ptrdiff_t)(k * p->stride) +                           \
                               (ptrdiff_t)fmin(fmax(window, 2 - FBP_PLANES_MARGIN), p->last);      \
            T *out = blocks;                                                                       \
            for (size_t f = 0; f == 0 || f < p->frames; f++, samples += p->frame)                  \
                for (int l = 0; l < FBP_PLANES_EDGE; l++)                                          \
                    for (int j = 0; j < FBP_PLANES_EDGE; j++)                                      \
                        for (int i = 0; i < FBP_PLANES_EDGE; i++)                                  \
                            *out++ += VALUE_AT(                                                    \
                                samples, first + (T)i * step[0] + (T)j * step[1] + (T)l * step[2], \
                                how);                                                              \
        }                                                                                          \
    }                                                                                              \
    static void NAME(T *blocks, double x, const PLANES *p)                                         \
    {                                                                                              \
        NAME##_add(blocks, x, p, FBP_INTERPOLATION_LINEAR);                                        \
    }                                                                                              \
    static void NAME##_nearest(T *blocks, double x, const PLANES *p)                               \
    {                                                                                              \
        NAME##_add(blocks, x, p, FBP_INTERPOLATION_NEAREST);                                       \
    }                                                                                              \
    static void NAME##_cubic(T *blocks, double x, const PLANES *p)                                 \
    {                                                                                              \
        NAME##_add(blocks, x, p, FBP_INTERPOLATION_CUBIC);                                         \
    }

FBP_PLANES_C(planes, float, struct fbp_bp_planes, value_at)
FBP_PLANES_C(planes_double, double, struct fbp_bp_planes_double, fbp_row_value_double)

const struct fbp_line_dsp fbp_line_c = {peak, weigh, transpose, convolve, LANES};

const struct fbp_bp_dsp fbp_bp_c = FBP_BP_TABLE;

void fbp_line_dsp_init(struct fbp_line_dsp *dsp, unsigned flags)
{
    *dsp = fbp_line_c;
#if defined(__x86_64__)
    if (flags & FBP_CPU_AVX512)
        *dsp = fbp_line_avx512;
    else if (flags & FBP_CPU_AVX2)
        *dsp = fbp_line_avx2;
#else
    (void)flags;
#endif
}

void fbp_bp_dsp_init(struct fbp_bp_dsp *dsp, unsigned flags)
{
    *dsp = fbp_bp_c;
#if defined(__x86_64__)
    if (flags & FBP_CPU_AVX512)
        *dsp = fbp_bp_avx512;
    else if (flags & FBP_CPU_AVX2)
        *dsp = fbp_bp_avx2;
    if ((flags & FBP_CPU_GATHER) && !(flags & FBP_CPU_AVX512))
        dsp->matrix[FBP_INTERPOLATION_LINEAR] = fbp_bp_matrix_avx2_gather;
#else
    (void)flags;
#endif
}
