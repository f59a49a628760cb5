/** @file stripes.h  Removal of ring artefacts: stripes of sinograms (internal). */
#ifndef FBP_SRC_STRIPES_H
#define FBP_SRC_STRIPES_H

#include "fbp/correction.h"

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

/* Stripes along the angles of a sinogram, which are rings in slices.
 *
 * A pixel of the detector that answers otherwise than its neighbours adds the same, or nearly so,
 * to its line integrals in all views.  Both methods change a sinogram, all angles of one detector
 * row, in place; rows do not know of each other.
 */

/** Of sinograms of one size. */
struct fbp_stripes {
    enum fbp_ring_removal method;
    size_t n_views, n_columns;
    size_t size;      /**< sorting: columns of the median */
    size_t levels;    /**< wavelet: how often the sinogram is halved */
    double sigma;     /**< the same: frequencies along the angles that are damped */
    unsigned wavelet; /**< the same: N of Daubechies' wavelet with 2 N taps */
};

/** What corrections ask for, with defaults filled in and levels as many as the size allows. */
void fbp_stripes_of(const struct fbp_corrections *c, size_t n_views, size_t n_columns,
                    struct fbp_stripes *out);

/** "rings by sorting, median of 21 columns" */
void fbp_stripes_describe(const struct fbp_stripes *s, char *buf, size_t n);

/** Bytes of scratch that one sinogram takes; memory of fbp_alloc(). */
size_t fbp_stripes_bytes(const struct fbp_stripes *s);

/** The median of x[n], n > 0, whose order changes. */
float fbp_median(float *x, size_t n);

/** Has a column of the sinogram a stripe: an error that is the same in all angles, larger than 8
 *  standard errors and than 1e-3 of the column's mean? */
bool fbp_stripes_found(const struct fbp_stripes *s, const float *sinogram, size_t stride,
                       void *scratch);

/**
 * Remove them.
 *
 * sinogram: sample of view k and column c at sinogram[k * stride + c]; finite
 * scratch:  of one thread
 */
void fbp_stripes_remove(const struct fbp_stripes *s, float *sinogram, size_t stride, void *scratch);

/** The two methods, for fbp_stripes_remove(). */
size_t fbp_stripes_sorting_bytes(const struct fbp_stripes *s);
void fbp_stripes_sorting(const struct fbp_stripes *s, float *sinogram, size_t stride,
                         void *scratch);
size_t fbp_stripes_wavelet_bytes(const struct fbp_stripes *s);
void fbp_stripes_wavelet(const struct fbp_stripes *s, float *sinogram, size_t stride,
                         void *scratch);
/** As many levels as a sinogram of this size has, of those asked for. */
size_t fbp_stripes_wavelet_levels(const struct fbp_stripes *s);

/* Daubechies' wavelets (internal; pure). */

/** The most vanishing moments of a wavelet here. */
enum { FBP_DAUBECHIES_MOST = 20 };

/** The scaling filter with N vanishing moments, 1 <= N <= FBP_DAUBECHIES_MOST: 2 N taps whose sum
 * is sqrt(2), of least phase. */
const double *fbp_daubechies(unsigned N);

#endif /* FBP_SRC_STRIPES_H */
