/** @file angles.h  Even rings of directions, resampled to the same angles in each (internal).
 *
 * Rings of equal solid angle have fewer directions near the pole.  Of every ring with the polar
 * angle theta, the samples at the same t are a periodic function of phi; from its even samples
 * follow those at the 2 n angles (i + 1/2) pi / n, which are the same for all rings: planes through
 * the axis.
 */
#ifndef FBP_SRC_ANGLES_H
#define FBP_SRC_ANGLES_H

#include "geometry/meridians.h"
#include "scan/reduce.h"

#include "fbp/recon.h"

#include <stdint.h>

struct fbp_angles {
    bool used;
    enum fbp_ring_interpolation how;
    size_t n; /**< angles in half a turn */
    struct fbp_rings rings;
    ptrdiff_t *shift;     /**< [n_members] sample c of a ring is c + shift of a member's, which run
                               backwards if it is reversed */
    size_t *first;        /**< [rings + 1] views of a ring: from first[r] up to first[r + 1] */
    struct fbp_scan scan; /**< of the resampled views; owns views and plane_weights alone */
};

/** The resampled scan of plane integrals; `scan` outlives *out.
 *  @return FBP_ERR_UNSUPPORTED if there are no even rings, or if samples of one lie elsewhere. */
fbp_status fbp_angles_create(struct fbp_angles *out, const struct fbp_scan *scan, size_t n,
                             enum fbp_ring_interpolation how);
void fbp_angles_clear(struct fbp_angles *angles);

/** Weights of a ring's members in view `view` of the resampled scan: weights[ring->n].
 *  scratch: [ring->n] as fbp_cyclic_prepare() leaves it; what the pole does not need. */
void fbp_angles_weights(const struct fbp_angles *angles, size_t ring, size_t view,
                        const double *scratch, double *weights);

/** So many angles serve a scan's rings: those of the largest in half a turn; 0: it has none. */
size_t fbp_angles_usual(const struct fbp_scan *scan);

#endif /* FBP_SRC_ANGLES_H */
