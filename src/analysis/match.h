/** @file match.h  How well rays agree that are measured from both ends (internal).
 *
 * The ray of column x at angle b is measured once more in column 2 c - x at angle b + pi - 2 g, g
 * its fan angle, if c is the column of the rotation axis: only then both agree.  Parallel beams
 * over half a turn have no such rays, but their last views must go on in the mirror images of the
 * first.
 *
 * What is compared are differences of neighbouring means along columns, without what all views
 * share: detector columns of their own sensitivity (rings) do not outweigh the object.
 */
#ifndef FBP_SRC_MATCH_H
#define FBP_SRC_MATCH_H

#include "analysis/sinogram.h"

struct fbp_match {
    const struct fbp_sinogram *s;
    float *values;   /**< as s->values, without what views share, lightly smoothed */
    double *scratch; /**< rows of a view: difference, sum, and their running sums */
    size_t width;    /**< of the means, in columns */
    double energy;   /**< mean square of differences of means, of all views */
    bool joins;      /**< the ends of half a turn are compared, not pairs of rays */
};

/** s must outlive *m.  FBP_ERR_UNSUPPORTED: no ray is measured from both ends. */
fbp_status fbp_match_create(struct fbp_match *m, const struct fbp_sinogram *s, size_t width);
void fbp_match_clear(struct fbp_match *m);

struct fbp_agreement {
    double misfit; /**< squares of differences to squares: 0 = the same, 1 = unrelated */
    double share;  /**< of the squares of all views, what was compared */
};

/** For one column c, of every `stride`-th view of part `part` of `parts`: of a full circle one
 *  behind the other, else interlaced. */
void fbp_match_at(const struct fbp_match *m, double c, size_t stride, size_t part, size_t parts,
                  struct fbp_agreement *out);

#endif /* FBP_SRC_MATCH_H */
