/** @file preparation.h  The preparation of a scan's rows: its checks, what becomes of their axis
 * (internal). */
#ifndef FBP_SRC_PREPARATION_H
#define FBP_SRC_PREPARATION_H

#include "fbp/scan.h"

#include "base/base.h"

/** Of an electron: MHz a gauss. */
static const double FBP_MHZ_PER_GAUSS = 2.8025;

/** Places of the samples of a row: first + step i. */
struct fbp_axis {
    size_t n;
    double first, step;
};

/** Does it need both parts of complex samples? */
bool fbp_preparation_is_complex(const struct fbp_preparation *p);
/** Has it changed the axis of a row? */
bool fbp_preparation_moves(const struct fbp_preparation *p);

/** A copy in *out, whose strings are its own; NULL: none is wanted, *out is NULL. */
fbp_status fbp_preparation_copy(struct fbp_preparation **out, const struct fbp_preparation *p);
void fbp_preparation_free(struct fbp_preparation *p);

/** Are its numbers fit for rows of n samples?  Errors begin with `file`. */
fbp_status fbp_preparation_check(const char *file, const struct fbp_preparation *p, size_t n);

/** The axis of samples that are at v[n]: in equal steps, or to be resampled to them where `p`
 * (which may be NULL) asks for it; then p->places is a copy of v.  name: of the list, for messages.
 */
fbp_status fbp_preparation_places(const char *file, const char *name, struct fbp_preparation *p,
                                  const double *v, size_t n, struct fbp_axis *out);

/** The axis of stored rows to that of prepared ones: mm, or from us to MHz by an FFT. */
fbp_status fbp_preparation_axis(const char *file, const struct fbp_preparation *p,
                                struct fbp_axis *axis);

/** The hash of all steps but the contents of the profile's file; h itself for NULL. */
uint64_t fbp_preparation_hash(uint64_t h, const struct fbp_preparation *p);

/** "baseline of order 1, FFT to 1024 samples, phase of each view"; buf is "" for NULL. */
void fbp_preparation_describe(const struct fbp_preparation *p, char *buf, size_t n);

#endif /* FBP_SRC_PREPARATION_H */
