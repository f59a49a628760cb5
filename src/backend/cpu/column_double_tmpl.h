/*
 * Template: columns of pictures in double.  Parameters: SUFFIX(name), name with the ISA suffix, VL,
 * V and the V* operations of doubles.
 */
#include <string.h>

enum { SUFFIX(STRIP) = 4 }; /* vectors that stay in registers while views are added */

/* Vector i from p on. */
#define FBP_VECTOR(p, i) ((p) + (size_t)(i)*VL)

/* One vector more of a view. */
#define FBP_ADD(s, i) \
    s = VADD(s, VFMA(wr, VLOAD(FBP_VECTOR(left + stride, i)), VMUL(wl, VLOAD(FBP_VECTOR(left, i)))))

/* Vectors side by side, from value `at` on. */
static inline void SUFFIX(add_strip)(const struct fbp_bp_column_double *views, size_t n_views,
                                     size_t at, size_t stride, double *dst)
{
    V s0 = VLOAD(dst), s1 = VLOAD(FBP_VECTOR(dst, 1));
    V s2 = VLOAD(FBP_VECTOR(dst, 2)), s3 = VLOAD(FBP_VECTOR(dst, 3));

    for (size_t k = 0; k < n_views; k++) {
        const double *left = views[k].left + at;
        const V wl = VSET1(views[k].wl), wr = VSET1(views[k].wr);
        FBP_ADD(s0, 0);
        FBP_ADD(s1, 1);
        FBP_ADD(s2, 2);
        FBP_ADD(s3, 3);
    }
    VSTORE(dst, s0);
    VSTORE(FBP_VECTOR(dst, 1), s1);
    VSTORE(FBP_VECTOR(dst, 2), s2);
    VSTORE(FBP_VECTOR(dst, 3), s3);
}

/* The last n values, fewer than those of a vector perhaps. */
static inline void SUFFIX(add_vector)(const struct fbp_bp_column_double *views, size_t n_views,
                                      size_t at, size_t n, size_t stride, double *dst)
{
    double some[VL] = {0};

    memcpy(some, dst, n * sizeof *some);
    V s = VLOAD(some);
    for (size_t k = 0; k < n_views; k++) {
        const double *left = views[k].left + at;
        const V wl = VSET1(views[k].wl), wr = VSET1(views[k].wr);
        FBP_ADD(s, 0);
    }
    VSTORE(some, s);
    memcpy(dst, some, n * sizeof *some);
}

#undef FBP_ADD
#undef FBP_VECTOR

void SUFFIX(fbp_bp_column_double)(double *dst, size_t n, const struct fbp_bp_column_double *views,
                                  size_t n_views, size_t stride)
{
    const size_t strip = (size_t)SUFFIX(STRIP) * VL;
    size_t i = 0;

    for (; i + strip <= n; i += strip)
        SUFFIX(add_strip)(views, n_views, i, stride, dst + i);
    for (; i < n; i += VL)
        SUFFIX(add_vector)(views, n_views, i, n - i < VL ? n - i : VL, stride, dst + i);
}
