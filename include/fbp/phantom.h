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

enum fbp_shape_kind {
    FBP_SHAPE_ELLIPSOID = 0, /**< |y| <= 1 */
    FBP_SHAPE_BOX,           /**< |y0|, |y1|, |y2| <= 1 */
    FBP_SHAPE_CYLINDER,      /**< y0^2 + y1^2 <= 1, range[0] <= y2 <= range[1] */
    FBP_SHAPE_CONE,          /**< y0^2 + y1^2 <= y2^2, 0 <= range[0] <= y2 <= range[1] */
};

/** The half space of the points x with normal . x <= at_mm. */
struct fbp_half_space {
    double normal[3]; /**< of length 1 */
    double at_mm;
};

enum { FBP_SHAPE_PLANES = 8 };

/** A convex shape in coordinates of its own, y_i = axes[i] . (x - centre_mm) / half_mm[i], cut by
 * planes. */
struct fbp_shape {
    enum fbp_shape_kind kind;
    double centre_mm[3]; /**< of a cone: where its tip is, or would be */
    double axes[3][3];   /**< a row an axis; of length 1 and at right angles */
    double half_mm[3];   /**< half axes; those of a cone: where y2 = 1 */
    double range[2];     /**< cylinder and cone; may be infinite */
    struct fbp_half_space planes[FBP_SHAPE_PLANES];
    size_t n_planes;
    double density; /**< [1/mm] */
};

/** Ellipsoids, whose densities add, and shapes, which add to them. */
struct fbp_phantom {
    size_t n;
    struct fbp_ellipsoid *items; /**< owned; fbp_phantom_clear() */
    size_t n_shapes;
    struct fbp_shape *shapes; /**< owned */
    bool replace; /**< of the shapes that hold a point the first counts alone; else they add */
};

/**
 * A phantom by name, filling a cube of `half_mm` half side, or from a file.
 *
 * "shepp-logan"           modified densities 1, -.8, … (Toft) [1/mm] times scale
 * "shepp-logan-original"  densities 2, -.98, … (Kak & Slaney 1988, table 3.1) times scale
 * "defrise"               a stack of seven thin disks about the z axis, density 1 times scale
 * other                   path of a text file, of which the content tells the format
 *                         (docs/phantoms.md): a line "x y z a b c turn_deg density" an ellipsoid,
 *                         RTK's "[Box] A=… gray=…", or LEAP's "{type=ellipsoid; …}"; scale
 *                         multiplies densities
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_phantom_create(struct fbp_phantom *out, const char *name,
                                                     double half_mm, double scale);
/** Names that fbp_phantom_create() knows, i from 0; NULL beyond the last. */
FBP_API const char *fbp_phantom_name(size_t i);
FBP_API void fbp_phantom_clear(struct fbp_phantom *phantom);

/** Exact integral along the infinite line through p with unit direction dir; dimensionless.  Not
 * finite where a shape has no end along the line, NaN also where memory is out. */
FBP_API double fbp_phantom_line(const struct fbp_phantom *phantom, const double p[3],
                                const double dir[3]);

/** Density at a point [1/mm]. */
FBP_API double fbp_phantom_at(const struct fbp_phantom *phantom, const double x[3]);

/** Means over voxels of slices [z0, z1): out[z1-z0][ny][nx].  A voxel is averaged over 89 lines
 * along x, each with its exact overlap, which is finer than 6^3 points; voxels entirely inside or
 * outside a shape are exact.  @return FBP_ERR_NOMEM. */
FBP_API FBP_MUST_CHECK fbp_status fbp_phantom_voxels(const struct fbp_phantom *phantom,
                                                     const struct fbp_grid *grid, size_t z0,
                                                     size_t z1, float *out);

/**
 * Simulate the projections of scan->views into an array [view][row][column] (any sink path).
 *
 * scan       kind (cone, parallel), n_views, views and panel are used
 * noise_i0   > 0: Poisson counts of mean noise_i0 exp(-p), stored again as -log(max(n, 1)/i0)
 * seed       of the noise; the values do not depend on the number of threads
 * n_threads  0 = one a core.  Memory: one view a thread.
 * @return FBP_ERR_INVALID (also: a shape without an end along a ray), FBP_ERR_UNSUPPORTED (planes),
 *         FBP_ERR_NOMEM, FBP_ERR_IO.
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
