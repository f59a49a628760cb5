/** @file phantom.h  Analytic phantoms: exact line and plane integrals, voxel averages, simulated
 * scans. */
#ifndef FBP_PHANTOM_H
#define FBP_PHANTOM_H

#include "fbp/scan.h"

FBP_BEGIN

/** Adds `density` [1/mm; of plane integrals 1/mm^3] to the points x with |diag(1/axes) R^T (x -
 * centre)| <= 1. */
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
    FBP_SHAPE_SOFT,          /**< an ellipsoid whose density is (1 - |y|^2)^m times `density`, with
                                m = range[0], a whole number from 0 to 100 */
};

/** The half space of the points x with normal . x <= at_mm. */
struct fbp_half_space {
    double normal[3]; /**< unit vector */
    double at_mm;
};

enum { FBP_SHAPE_PLANES = 8 };

/** A convex shape, cut by planes.  Its own coordinates are y_i = axes[i] . (x - centre_mm) /
 *  half_mm[i]. */
struct fbp_shape {
    enum fbp_shape_kind kind;
    double centre_mm[3]; /**< centre; for a cone: its tip */
    double axes[3][3];   /**< one row for each axis; of length 1, at right angles */
    double half_mm[3];   /**< half axes; of a cone: at y2 = 1 */
    double range[2]; /**< cylinder and cone; may be infinite.  range[0]: m of a soft ellipsoid */
    struct fbp_half_space planes[FBP_SHAPE_PLANES];
    size_t n_planes;
    double density; /**< [1/mm] */
};

/** Ellipsoids and shapes.  Their densities add up. */
struct fbp_phantom {
    size_t n;
    struct fbp_ellipsoid *items; /**< owned; fbp_phantom_clear() */
    size_t n_shapes;
    struct fbp_shape *shapes; /**< owned */
    bool replace; /**< shapes do not add up: a point has the density of the first shape that
                     contains it */
};

/**
 * A phantom by name, or from a file.  It fills a cube with half side `half_mm`.
 *
 * "shepp-logan"           modified densities 1, -.8, … (Toft) [1/mm] times scale
 * "shepp-logan-original"  densities 2, -.98, … (Kak & Slaney 1988, table 3.1) times scale
 * "defrise"             a stack of seven thin disks about the z axis, density 1 times scale
 * "ball", "soft-ball", "ellipsoid", "ellipsoids", "bottle", "tubes"
 *                         turned shapes, densities of about 1 times scale (docs/phantoms.md)
 * other                   path of a text file, recognized by content (docs/phantoms.md): a line
 *                         "x y z a b c turn density" for each ellipsoid, RTK's "[Box] A=… gray=…",
 *                         or LEAP's "{type=ellipsoid; …}".  scale multiplies the densities
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_phantom_create(struct fbp_phantom *out, const char *name,
                                                     double half_mm, double scale);
/** Names that fbp_phantom_create() knows, i from 0; NULL beyond the last. */
FBP_API const char *fbp_phantom_name(size_t i);
FBP_API void fbp_phantom_clear(struct fbp_phantom *phantom);

/** Exact integral along the infinite line through p with unit direction dir; dimensionless.  Not
 *  finite if a shape has no end along the line; NaN also if there is no memory. */
FBP_API double fbp_phantom_line(const struct fbp_phantom *phantom, const double p[3],
                                const double dir[3]);

/**
 * Exact integral over the plane of the points x with n . x = t_mm, |n| = 1 [mm].
 *
 * Ellipsoids, soft ones, too, in closed form; the other shapes, and ellipsoids that planes cut, by
 * the area of their section: a polygon and what conic sections add to it.  NaN for shapes without
 * an end, soft ellipsoids that planes cut, and shapes of which one hides another (`replace`).
 */
FBP_API double fbp_phantom_plane(const struct fbp_phantom *phantom, const double n[3], double t_mm);

/** Density at a point [1/mm]. */
FBP_API double fbp_phantom_at(const struct fbp_phantom *phantom, const double x[3]);

/** Means over the voxels of slices [z0, z1): out[z1-z0][ny][nx].  A voxel is averaged over 89 lines
 *  along x, each with its exact overlap; this is more exact than 6^3 points.  Voxels entirely
 *  inside or outside a shape are exact.  @return FBP_ERR_NOMEM. */
FBP_API FBP_MUST_CHECK fbp_status fbp_phantom_voxels(const struct fbp_phantom *phantom,
                                                     const struct fbp_grid *grid, size_t z0,
                                                     size_t z1, float *out);

/** How projections are simulated.  Zero means "default". */
struct fbp_simulate_params {
    size_t struct_size;
    /** > 0: Poisson counts of mean noise_i0 exp(-p), stored again as -log(max(n, 1)/i0); line
     *  integrals only */
    double noise_i0;
    /** > 0: Gaussian noise of this standard deviation is added, in the unit of the projections */
    double noise_sd;
    uint64_t seed; /**< seed of the noise; the values do not depend on the number of threads */
    int n_threads; /**< 0 = one for each core.  Each thread needs memory for one view. */
    /** Plane integrals: those at the samples' centres.  0: means over the samples' widths, which is
     *  what a spectrometer measures */
    int at_centres;
    /** Plane integrals, whose rows are frames (delays): decay of body i (from 0; ellipsoids first,
     *  then the other shapes) with the factor exp(-k / (decay (i + 1))) in frame k; 0: half the
     *  number of frames. */
    double decay;
    size_t
        in_double; /**< 1: plane integrals are stored as FBP_F64, without rounding; 0: as float */
    /** Takes the views in place of a file, which is not named then; it is finished here, and left
     *  for the caller to close.  NULL: they go to `path`. */
    fbp_sink *sink;
};

#ifndef __cplusplus /* there: fbp/fbp.hpp */
#    define fbp_simulate_params(...)                                                      \
        (&(struct fbp_simulate_params){.struct_size = sizeof(struct fbp_simulate_params), \
                                       __VA_ARGS__})
#endif

/**
 * Simulate the projections of scan->views, and write them as an array [view][row][column] to `path`
 * (any path of a sink).
 *
 * scan    kind, n_views, views and panel are used
 * path    NULL where params->sink is given
 * params  see there
 * @return FBP_ERR_INVALID (also: a shape without an end along a ray), FBP_ERR_UNSUPPORTED (a shape
 *         whose integrals over planes are not known, see fbp_phantom_plane()), FBP_ERR_NOMEM,
 *         FBP_ERR_IO.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_phantom_simulate(const struct fbp_phantom *phantom,
                                                       const struct fbp_scan *scan,
                                                       const char *path,
                                                       const struct fbp_simulate_params *params);

/** The same into memory: samples[n_views][n_rows][n_columns] of float, or of double with in_double,
 *  row 0 at the bottom. */
FBP_API FBP_MUST_CHECK fbp_status
fbp_phantom_simulate_memory(const struct fbp_phantom *phantom, const struct fbp_scan *scan,
                            void *samples, const struct fbp_simulate_params *params);

/** The same with Poisson noise, or none. */
FBP_API FBP_MUST_CHECK fbp_status fbp_phantom_project(const struct fbp_phantom *phantom,
                                                      const struct fbp_scan *scan, const char *path,
                                                      double noise_i0, uint64_t seed,
                                                      int n_threads);

/** Write means over the voxels of a grid as a volume in 1/mm (fbp_phantom_truth() knows others).
 * Each thread needs memory for one slice. */
FBP_API FBP_MUST_CHECK fbp_status fbp_phantom_volume(const struct fbp_phantom *phantom,
                                                     const struct fbp_grid *grid, const char *path,
                                                     int n_threads);

/**
 * Write the volume that a reconstruction of the scan would ideally be: means over the voxels of
 * scan->volume, in the unit of its values (1/mm, of plane integrals 1/mm^3; 1/cm …).  Densities are
 * 1/mm or 1/mm^3 in either case.  Of a scan with frames, the first.
 *
 * scan  kind and volume are used
 * @return FBP_ERR_INVALID, FBP_ERR_IO, FBP_ERR_NOMEM.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_phantom_truth(const struct fbp_phantom *phantom,
                                                    const struct fbp_scan *scan, enum fbp_unit unit,
                                                    const char *path, int n_threads);

/**
 * Views of a C-arm like that of RabbitCT.  The radius and the height of the source (mean -4.1 mm)
 * vary by 1.5 mm, and the focal length by 0.18 %.  The principal point moves by 33 px in u and 10
 * px in v on a panel of 1248 columns, and in proportion on other panels.  The panel turns by up to
 * 0.4 degrees about its three axes.  All of these are sums of a few sines of the angle: smooth, and
 * always the same.
 *
 * circle: angles, distances, pitch and offset are used; tilt and skew are ignored.
 * @return FBP_ERR_INVALID unless the circle is a cone beam with angles and distances.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_c_arm_views(const struct fbp_circle *circle,
                                                  const struct fbp_panel *panel,
                                                  struct fbp_view *views);

FBP_END

#endif /* FBP_PHANTOM_H */
