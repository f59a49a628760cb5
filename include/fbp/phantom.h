/** @file phantom.h  Analytic phantoms: exact line integrals, voxel averages, simulated scans. */
#ifndef FBP_PHANTOM_H
#define FBP_PHANTOM_H

#include "fbp/scan.h"

FBP_BEGIN

/** Adds `density` [1/mm] to the points x with |diag(1/axes) R^T (x - centre)| <= 1. */
struct fbp_ellipsoid {
    double centre_mm[3];
    double axes_mm[3]; /**< half axes */
    double turn_deg;   /**< R: right-handed about z */
    double density;
};

struct fbp_phantom {
    size_t n;
    struct fbp_ellipsoid *items; /**< owned; fbp_phantom_clear() */
};

/**
 * A phantom by name, filling a cube of `half_mm` half side, or from a file.
 *
 * "shepp-logan"           modified densities 1, -.8, … (Toft) [1/mm] times scale
 * "shepp-logan-original"  densities 2, -.98, … (Kak & Slaney 1988, table 3.1) times scale
 * "defrise"               a stack of seven thin disks about the z axis, density 1 times scale
 * other                   path of a text file: a line "x y z a b c turn_deg density" an ellipsoid,
 *                         mm and 1/mm, '#' starts a comment; scale multiplies densities
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_phantom_create(struct fbp_phantom *out, const char *name,
                                                     double half_mm, double scale);
FBP_API void fbp_phantom_clear(struct fbp_phantom *phantom);

/** Exact integral along the infinite line through p with unit direction dir; dimensionless. */
FBP_API double fbp_phantom_line(const struct fbp_phantom *phantom, const double p[3],
                                const double dir[3]);

/** Density at a point [1/mm]. */
FBP_API double fbp_phantom_at(const struct fbp_phantom *phantom, const double x[3]);

/** Means over voxels of slices [z0, z1): out[z1-z0][ny][nx].  A voxel is averaged over 89 lines
 * along x, each with its exact overlap, which is finer than 6^3 points; voxels entirely inside or
 * outside an ellipsoid are exact. */
FBP_API void fbp_phantom_voxels(const struct fbp_phantom *phantom, const struct fbp_grid *grid,
                                size_t z0, size_t z1, float *out);

/**
 * Simulate the projections of scan->views into an array [view][row][column] (any sink path).
 *
 * scan       kind (cone, parallel), n_views, views and panel are used
 * noise_i0   > 0: Poisson counts of mean noise_i0 exp(-p), stored again as -log(max(n, 1)/i0)
 * seed       of the noise; the values do not depend on the number of threads
 * n_threads  0 = one a core.  Memory: one view a thread.
 * @return FBP_ERR_INVALID, FBP_ERR_UNSUPPORTED (planes), FBP_ERR_NOMEM, FBP_ERR_IO.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_phantom_project(const struct fbp_phantom *phantom,
                                                      const struct fbp_scan *scan, const char *path,
                                                      double noise_i0, uint64_t seed,
                                                      int n_threads);

/** Write the voxel means of a grid as a volume with unit 1/mm.  Memory: one slice a thread. */
FBP_API FBP_MUST_CHECK fbp_status fbp_phantom_volume(const struct fbp_phantom *phantom,
                                                     const struct fbp_grid *grid, const char *path,
                                                     int n_threads);

/**
 * Views of a C-arm of the RabbitCT class: the source wobbles by 1.5 mm in radius and height (about
 * -4.1 mm), the focal length by 0.18 %, the principal point wanders by 33 px in u and 10 px in v
 * of a panel 1248 px wide (by the same share of other panels), the panel turns by up to 0.4 degrees
 * about its three axes.  Sums of a few sines of the angle: smooth, always the same.
 *
 * circle: angles, distances, pitch and offset are used; tilt and skew are ignored.
 * @return FBP_ERR_INVALID unless the circle is a cone beam with angles and distances.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_c_arm_views(const struct fbp_circle *circle,
                                                  const struct fbp_panel *panel,
                                                  struct fbp_view *views);

FBP_END

#endif /* FBP_PHANTOM_H */
