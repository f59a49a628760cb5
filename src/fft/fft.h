/** @file fft.h  Fourier transforms, whoever computes them (internal).
 *
 *     X(k) = sum_j x(j) exp(-2 pi i j k / n);  the way back has + i.  None is divided by n.
 *
 * Arrays are FBP_ALIGN-aligned.  A plan is read only while it is executed, by any number of
 * threads; the same n has the same bits every time.
 */
#ifndef FBP_SRC_FFT_H
#define FBP_SRC_FFT_H

#include "base/status.h"

#include <complex.h>
#include <stdbool.h>
#include <stddef.h>

/** The least even 2^a 3^b 5^c >= n, which all transforms are quick with; 0 if there is none. */
size_t fbp_fft_length(size_t n);

/** A plan for rows in double, and one for rows in float. */
struct fbp_fft;
struct fbp_fftf;

/** Rows of n complex numbers, n <= INT_MAX / 4.  FBP_ERR_NOMEM, FBP_ERR_UNSUPPORTED. */
fbp_status fbp_fft_open_complex(struct fbp_fft **out, size_t n);
/** Rows of n real numbers, of which n/2 + 1 complex ones say all. */
fbp_status fbp_fft_open_real(struct fbp_fft **out, size_t n);
/** Rows of n complex numbers in float, there and back. */
fbp_status fbp_fftf_open(struct fbp_fftf **out, size_t n);

/** May be called for NULL. */
void fbp_fft_close(struct fbp_fft **fft);
void fbp_fftf_close(struct fbp_fftf **fft);

/** row: [n], in place. */
void fbp_fft_complex(const struct fbp_fft *fft, double complex *row);

/** row: [n] to spectrum: [n/2 + 1], and back; what is read may be overwritten. */
void fbp_fft_real(const struct fbp_fft *fft, double *row, double complex *spectrum);
void fbp_fft_real_back(const struct fbp_fft *fft, double complex *spectrum, double *row);

/** row: [2 n], real and imaginary parts in turn, to another place, and back; may be overwritten. */
void fbp_fftf_complex(const struct fbp_fftf *fft, float *row, float *spectrum);
void fbp_fftf_complex_back(const struct fbp_fftf *fft, float *spectrum, float *row);

/** Of an even sequence of period 2 (n - 1), n > 1, given by n values of any alignment, in place:
 *  values of an even sequence, too. */
fbp_status fbp_fft_even(double *values, size_t n);

/** For tests: from now on the system denies the library of transforms all memory. */
void fbp_fft_deny(bool deny);

#endif /* FBP_SRC_FFT_H */
