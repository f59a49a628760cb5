/** @file fft.h  Fourier transforms of rows in double, of any length (internal).  lanes.h filters
 * rows in float.
 *
 *     X(k) = sum_j x(j) exp(-2 pi i j k / n);  the inverse has + i.  Neither divides by n.
 *
 * Rows, spectra and scratch memory are aligned to FBP_ALIGN bytes. Several threads may use a plan
 * at the same time. Equal input yields the same bits every time.
 * Used by: bench/fft/, backend/cpu/, fft/, filter/, pipeline/, prep/.
 */
#ifndef FBP_SRC_FFT_H
#define FBP_SRC_FFT_H

#include "base/base.h"

/** Get the least even length 2^a 3^b 5^c >= n, which is fast to transform; 0 if it exceeds SIZE_MAX
 * / 16. */
size_t fbp_fft_length(size_t n);

/** Plan of the transforms of rows of one length. */
struct fbp_fft;

/** Make a plan for complex rows of n points, n <= INT_MAX / 4; fails only with FBP_ERR_NOMEM. */
fbp_status fbp_fft_open_complex(struct fbp_fft **out, size_t n);
/** Make a plan for rows of n real numbers, whose spectra have n/2 + 1 complex numbers. */
fbp_status fbp_fft_open_real(struct fbp_fft **out, size_t n);

/** May be called for NULL. */
void fbp_fft_close(struct fbp_fft **fft);

/** Get the size [doubles] of the scratch memory for a complex or real transform of n points. */
size_t fbp_fft_work(size_t n);

/** Transform a complex row [n] in place.  work: scratch memory [fbp_fft_work(n)]. */
void fbp_fft_complex(const struct fbp_fft *fft, double _Complex *row, double *work);

/** fbp_fft_real() transforms a real row [n] to its spectrum [n/2 + 1], fbp_fft_real_back() a
 * spectrum to a row; the input may be overwritten.  work: scratch memory [fbp_fft_work(n)]. */
void fbp_fft_real(const struct fbp_fft *fft, double *row, double _Complex *spectrum, double *work);
void fbp_fft_real_back(const struct fbp_fft *fft, double _Complex *spectrum, double *row,
                       double *work);

/** Transform an even sequence in place.  values: [n], one half of its period 2 (n - 1), n > 1; any
 * alignment.  The spectrum is even, too, and values receives one half of it. */
fbp_status fbp_fft_even(double *values, size_t n);

enum { FBP_MIXED_LEVELS = 40 };

/** Plan of complex transforms of n = 2^a 3^b 5^c points by mixed radices. */
struct fbp_mixed {
    size_t n;
    unsigned n_levels;
    size_t radix[FBP_MIXED_LEVELS];
    double *turns; /**< twiddle factors exp(-2 pi i p k / P) of all levels; P: points per block of
                      the level */
};

/** Make a plan for n points; FBP_ERR_UNSUPPORTED, without a message: a prime factor above 5. */
fbp_status fbp_mixed_open(struct fbp_mixed *f, size_t n);
void fbp_mixed_close(struct fbp_mixed *f);

/** Get frequency[n], the frequency that is at each position after an in-place transform
 * (abreast_tmpl.h), which does not sort frequencies. */
void fbp_mixed_order(const struct fbp_mixed *f, size_t *frequency);

#endif /* FBP_SRC_FFT_H */
