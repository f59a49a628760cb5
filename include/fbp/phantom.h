/** @file phantom.h  Analytic phantoms: exact line and plane integrals, voxel means, simulated
 * scans.  For programs, the bindings, `fbp simulate` and benchmarks. */
#ifndef FBP_PHANTOM_H
#define FBP_PHANTOM_H

#include "fbp/scan.h"

FBP_BEGIN

/** An ellipsoid that adds `density` [1/mm; plane integrals: 1/mm^3] to the points x with
 *  |diag(1/axes) R^T (x - centre)| <= 1. */
struct fbp_ellipsoid {
    double centre_mm[3];
    double axes_mm[3]; /**< lengths of the three half axes */
    double turn_deg;   /**< rotation of the ellipsoid about z, right-handed (matrix R) [degrees] */
    double density;
};

enum fbp_shape_kind {
    FBP_SHAPE_ELLIPSOID = 0, /**< ellipsoid: |y| <= 1 */
    FBP_SHAPE_BOX,           /**< box: |y0|, |y1|, |y2| <= 1 */
    /** Cylinder in its own coordinates y: y0^2 + y1^2 <= 1, range[0] <= y2 <= range[1]. */
    FBP_SHAPE_CYLINDER,
    /** Cone in its own coordinates y, with the tip at 0: y0^2 + y1^2 <= y2^2, 0 <= range[0] <= y2
       <= range[1]. */
    FBP_SHAPE_CONE,
    /** Soft ellipsoid |y| <= 1 in its own coordinates y: its density is (1 - |y|^2)^m times
       `density`, with m = range[0], a whole number from 0 to 100. */
    FBP_SHAPE_SOFT,
};

/** The half space of the points x with normal . x <= at_mm. */
struct fbp_half_space {
    double normal[3]; /**< unit normal vector, out of the half space */
    double at_mm;
};

enum { FBP_SHAPE_PLANES = 8 };

/** A convex shape, of which only the part inside n_planes half spaces counts.  The comments of enum
 * fbp_shape_kind use the shape's own coordinates y_i = axes[i] . (x - centre_mm) / half_mm[i]. */
struct fbp_shape {
    enum fbp_shape_kind kind;
    double centre_mm[3]; /**< centre; cone: tip */
    double axes[3][3];   /**< axes of the shape: three orthogonal unit vectors, one per row */
    /** Half axes [mm]; box: half sides.  Cylinder and cone: half_mm[0] and [1] are the half axes of
     * the section (cone: at y2 = 1), half_mm[2] is the length along axes[2] from y2 = 0 to
     * y2 = 1. */
    double half_mm[3];
    /** Cylinder and cone: positions of the two ends along their own axis, in units of the half
     * axis; may be infinite.  Soft ellipsoid: range[0] is the exponent m of its density. */
    double range[2];
    struct fbp_half_space planes[FBP_SHAPE_PLANES];
    size_t n_planes;
    double density; /**< density inside the shape [1/mm]; plane integrals: [1/mm^3] */
};

/** A phantom: ellipsoids and shapes.  Their densities add up where they overlap, except those of
 * shapes if `replace` is set. */
struct fbp_phantom {
    size_t n;
    struct fbp_ellipsoid *items; /**< [n] ellipsoids, owned; freed by fbp_phantom_clear() */
    size_t n_shapes;
    struct fbp_shape *shapes; /**< [n_shapes] shapes, owned; freed by fbp_phantom_clear() */
    /** True: the densities of shapes do not add up; of the shapes that contain a point, only the
     * first one in the list counts. */
    bool replace;
};

/**
 * Create a phantom by name or from a file.  Named phantoms fill a cube with half side `half_mm`.
 *
 * "shepp-logan"           modified densities 1, -.8, … (Toft) [1/mm] times scale
 * "shepp-logan-original"  densities 2, -.98, … (Kak & Slaney 1988, table 3.1) times scale
 * "defrise"               a stack of seven thin disks about the z axis, density 1 times scale
 * "ball", "soft-ball", "ellipsoid", "ellipsoids", "bottle", "tubes"
 *                         rotated shapes, densities of about 1 times scale (docs/phantoms.md)
 * other                   path of a text file, recognized by content (docs/phantoms.md): a line
 *                         "x y z a b c turn density" per ellipsoid, RTK's "[Box] A=… gray=…", or
 *                         LEAP's "{type=ellipsoid; …}"; scale multiplies the densities
 * @return FBP_ERR_INVALID (no such name or file, numbers out of range), FBP_ERR_IO, FBP_ERR_NOMEM.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_phantom_create(struct fbp_phantom *out, const char *name,
                                                     double half_mm, double scale);
FBP_API void fbp_phantom_clear(struct fbp_phantom *phantom);

/** Compute the exact integral of the density along the infinite line through p [mm] with unit
 * direction dir (dimensionless).  Not finite if a shape is unbounded along the line; NaN if there
 * is no memory. */
FBP_API double fbp_phantom_line(const struct fbp_phantom *phantom, const double p[3],
                                const double dir[3]);

/**
 * Compute the exact integral over the plane of the points x with n . x = t_mm, |n| = 1,
 * in mm^2 times the unit of the densities.
 *
 * Ellipsoids, also soft ones, have a closed form.  Other shapes, and ellipsoids that are cut by
 * half spaces, are integrated by the area of their section, a polygon and conic segments.  Returns
 * NaN for unbounded shapes, for soft ellipsoids that are cut, and if several shapes replace each
 * other (`replace`).
 */
FBP_API double fbp_phantom_plane(const struct fbp_phantom *phantom, const double n[3], double t_mm);

/** Return the density at a point x [mm], in the unit of the phantom's densities. */
FBP_API double fbp_phantom_at(const struct fbp_phantom *phantom, const double x[3]);

/** Compute voxel means of slices [z0, z1): out[z1-z0][ny][nx].  A voxel's value is the mean of 89
 * lines through it along x, each integrated exactly, which is more accurate than 6^3 points per
 * voxel. Voxels entirely inside or outside a uniform shape are exact.  @return FBP_ERR_NOMEM. */
FBP_API FBP_MUST_CHECK fbp_status fbp_phantom_voxels(const struct fbp_phantom *phantom,
                                                     const struct fbp_grid *grid, size_t z0,
                                                     size_t z1, float *out);

/** Parameters of fbp_phantom_simulate().  0 means the default. */
struct fbp_simulate_params {
    size_t struct_size;
    /** Photons per pixel without an object; 0: no Poisson noise.  A line integral p becomes
     *  -log(max(n, 1)/noise_i0) with a Poisson count n of mean noise_i0 exp(-p).  Line integrals
     *  only. */
    double noise_i0;
    /** Standard deviation of added Gaussian noise, in the unit of the projections; 0: none. */
    double noise_sd;
    /** Seed of the random numbers; the noise does not depend on the number of threads. */
    uint64_t seed;
    int n_threads; /**< number of threads, each of which allocates memory for one view; 0: one per
                      core */
    /** Plane integrals.  True: values at the centres of the samples; false: means over the widths
     * of the samples, as a spectrometer measures them. */
    bool at_centres;
    /** Plane integrals with several time points (delays): the signal of body i (from 0; ellipsoids
     * first, then shapes) at time point k is multiplied by exp(-k / (decay (i + 1))).  0: half the
     * number of time points. */
    double decay;
    size_t in_double; /**< 1: store plane integrals as FBP_F64, without rounding; 0: as float */
    /** Sink that receives the views in place of a file; `path` is then NULL.  The call finishes the
     * sink, and the caller closes it.  NULL: none. */
    fbp_sink *sink;
    /** Memory that receives the views in place of a file; `path` is then NULL: [n_views][n_rows]
     *  [n_columns] of float, or of double with in_double, row 0 at the bottom.  NULL: none. */
    void *samples;
};

#ifndef __cplusplus /* C++: fbp/fbp.hpp */
#    define fbp_simulate_params(...)                                                      \
        (&(struct fbp_simulate_params){.struct_size = sizeof(struct fbp_simulate_params), \
                                       __VA_ARGS__})
#endif

/**
 * Simulate the projections of scan->views, and write them as an array [view][row][column] to one of
 * `path` (any path of a sink), params->sink and params->samples.
 *
 * scan    kind, n_views, views and panel are used
 * path    NULL if params->sink or params->samples is given
 * @return FBP_ERR_INVALID (also if a shape is unbounded along a ray), FBP_ERR_UNSUPPORTED (a shape
 *         without known plane integrals, see fbp_phantom_plane(), or parameters for another kind of
 *         integrals), FBP_ERR_NOMEM, FBP_ERR_IO.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_phantom_simulate(const struct fbp_phantom *phantom,
                                                       const struct fbp_scan *scan,
                                                       const char *path,
                                                       const struct fbp_simulate_params *params);

/**
 * Write voxel means as a volume: the ideal result of a reconstruction on this grid.  Each thread
 * allocates memory for one slice.
 *
 * kind, unit  the phantom's densities count as 1/mm, or 1/mm^3 for plane integrals; the volume is
 * in 1/unit, or 1/unit^3
 * @return FBP_ERR_INVALID, FBP_ERR_IO, FBP_ERR_NOMEM.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_phantom_volume(const struct fbp_phantom *phantom,
                                                     const struct fbp_grid *grid,
                                                     enum fbp_kind kind, enum fbp_unit unit,
                                                     const char *path, int n_threads);

FBP_END

#endif /* FBP_PHANTOM_H */
