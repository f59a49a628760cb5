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
struct fbp_lanes;

/** Rows of n complex numbers, n <= INT_MAX / 4.  FBP_ERR_NOMEM, FBP_ERR_UNSUPPORTED. */
fbp_status fbp_fft_open_complex(struct fbp_fft **out, size_t n);
/** Rows of n real numbers, of which n/2 + 1 complex ones say all. */
fbp_status fbp_fft_open_real(struct fbp_fft **out, size_t n);

/** May be called for NULL. */
void fbp_fft_close(struct fbp_fft **fft);

/** Doubles of scratch that a transform of n points needs, of either kind; at least 1. */
size_t fbp_fft_work(size_t n);

/** row: [n], in place.  work: [fbp_fft_work(n)]. */
void fbp_fft_complex(const struct fbp_fft *fft, double complex *row, double *work);

/** row: [n] to spectrum: [n/2 + 1], and back; what is read may be overwritten. */
void fbp_fft_real(const struct fbp_fft *fft, double *row, double complex *spectrum, double *work);
void fbp_fft_real_back(const struct fbp_fft *fft, double complex *spectrum, double *row,
                       double *work);

/** Of an even sequence of period 2 (n - 1), n > 1, given by n values of any alignment, in place:
 *  values of an even sequence, too. */
fbp_status fbp_fft_even(double *values, size_t n);

/** How rows in float are filtered quickest with vectors of so many lanes; NULL: one by one, by the
 *  functions that follow, which are for that case only. */
const struct fbp_lanes *fbp_fft_lanes(size_t lanes);

/** Rows of n complex numbers in float, there and back. */
fbp_status fbp_fftf_open(struct fbp_fftf **out, size_t n);
void fbp_fftf_close(struct fbp_fftf **fft);

/** row: [2 n], real and imaginary parts in turn, to another place, and back. */
void fbp_fftf_complex(const struct fbp_fftf *fft, float *row, float *spectrum);
void fbp_fftf_complex_back(const struct fbp_fftf *fft, float *spectrum, float *row);

/** Who computes: "fftw" or "builtin".  FBP_FFT may name one of those that this build has. */
const char *fbp_fft_name(void);

#endif /* FBP_SRC_FFT_H */
