/** @file bands.h  Weights of directions that lie in even rings (internal; double, pure). */
#ifndef FBP_SRC_BANDS_H
#define FBP_SRC_BANDS_H

#include "fbp/directions.h"

#include "base/status.h"

/** Rings that were found. */
struct fbp_rings {
    enum fbp_pole pole;
    size_t n; /**< on one half of the sphere; 0: there are none */
};

/**
 * Are these rings about x, y or z, even in theta from pole to equator, each even in phi?  Then
 * weights[count] are the area of the ring's band, between the middles to its neighbours, divided by
 * its directions.  @return FBP_ERR_NOMEM.
 */
fbp_status fbp_bands_of(const double (*direction)[3], size_t count, double *weights,
                        struct fbp_rings *out);

#endif /* FBP_SRC_BANDS_H */
