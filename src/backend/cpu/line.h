/** @file line.h  Vector loops over detector rows and their dispatch table (internal).
 *
 * All but `convolve` give the same bits on every instruction set. */
#ifndef FBP_SRC_LINE_H
#define FBP_SRC_LINE_H

#include <stddef.h>

/** Outputs that `convolve` computes side by side; its taps need as many zeros at both ends. */
enum { FBP_CONVOLVE_COLUMNS = 12 };

/** Most lanes of a vector, and so lines of one `convolve`. */
enum { FBP_MAX_LANES = 16 };

/** Greatest |x[i]|, i < n; 0 of none. */
typedef float fbp_line_peak_fn(const float *x, size_t n);

/** out[i] = x[i] a[i] b[i], i < n. */
typedef void fbp_line_weigh_fn(const float *x, const float *a, const float *b, size_t n,
                               float *out);

/** out[c stride + r] = in[r n_columns + c], r < n_rows, c < n_columns. */
typedef void fbp_line_transpose_fn(const float *in, size_t n_rows, size_t n_columns, float *out,
                                   size_t stride);

/**
 * `lanes` lines side by side, each convolved with an even kernel of S taps a side, zeros beyond the
 * ends:
 *
 *     out[c][l] = sum_i  centre[c - i]  x[i][l],    |c - i| <= S,  0 <= i < n     (S0, eq. 1)
 *
 * centre  tap 0; readable, and 0, FBP_CONVOLVE_COLUMNS taps beyond +-S
 * S       at most n - 1
 */
typedef void fbp_line_convolve_fn(const float *x, const float *centre, size_t S, size_t n,
                                  float *out);

struct fbp_line_dsp {
    fbp_line_peak_fn *peak;
    fbp_line_weigh_fn *weigh;
    fbp_line_transpose_fn *transpose;
    fbp_line_convolve_fn *convolve;
    size_t lanes; /**< of `convolve` */
};

/** Fill the table with the fastest loops allowed by `flags` (base/cpu_features.h; 0 = C only). */
void fbp_line_dsp_init(struct fbp_line_dsp *dsp, unsigned flags);

/** The tables of C, AVX2 and AVX-512; the last two on x86-64 only. */
extern const struct fbp_line_dsp fbp_line_c, fbp_line_avx2, fbp_line_avx512;

#endif /* FBP_SRC_LINE_H */
