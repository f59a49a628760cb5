/** @file fft.h  Fourier transforms of rows in double (internal).  lanes.h filters rows in float.
 *
 *     X(k) = sum_j x(j) exp(-2 pi i j k / n);  the inverse has + i.  Neither divides by n.
 *
 * Arrays are FBP_ALIGN-aligned.  Several threads may use a plan at the same time.  The same n gives
 * the same bits every time.
 */
#ifndef FBP_SRC_FFT_H
#define FBP_SRC_FFT_H

#include "base/status.h"

#include <complex.h>
#include <stddef.h>

/** The least even 2^a 3^b 5^c >= n, a length of fast transforms; 0 if it does not fit size_t. */
size_t fbp_fft_length(size_t n);

/** A plan. */
struct fbp_fft;

/** Plan for rows of n complex numbers, n <= INT_MAX / 4.  FBP_ERR_NOMEM, FBP_ERR_UNSUPPORTED. */
fbp_status fbp_fft_open_complex(struct fbp_fft **out, size_t n);
/** Plan for rows of n real numbers, whose spectra have n/2 + 1 complex numbers. */
fbp_status fbp_fft_open_real(struct fbp_fft **out, size_t n);

/** May be called for NULL. */
void fbp_fft_close(struct fbp_fft **fft);

/** Number of doubles of scratch for a complex or real transform of n points; at least 1. */
size_t fbp_fft_work(size_t n);

/** row: [n], in place.  work: [fbp_fft_work(n)]. */
void fbp_fft_complex(const struct fbp_fft *fft, double complex *row, double *work);

/** row: [n] to spectrum: [n/2 + 1], and back; the input may be overwritten. */
void fbp_fft_real(const struct fbp_fft *fft, double *row, double complex *spectrum, double *work);
void fbp_fft_real_back(const struct fbp_fft *fft, double complex *spectrum, double *row,
                       double *work);

/** Transform of an even sequence of period 2 (n - 1), n > 1, in place.  values: [n], any alignment;
 *  the transform is even, too. */
fbp_status fbp_fft_even(double *values, size_t n);

#endif /* FBP_SRC_FFT_H */
