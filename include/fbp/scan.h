/** @file scan.h  Public header: struct fbp_scan describes a measurement (geometry of all views,
 * files of the projections, corrections, default volume); functions create, load, save, copy, draw,
 * reduce, adjust and correct a scan. */
#ifndef FBP_SCAN_H
#define FBP_SCAN_H

#include "fbp/array.h"
#include "fbp/correction.h"
#include "fbp/directions.h"
#include "fbp/geometry.h"
#include "fbp/preparation.h"

FBP_BEGIN

/** Method for the angular weights of the views. */
enum fbp_angular_weights {
    /** Default.  In fbp_filtering_params: method of the scan; in fbp_scan: as FBP_ANGULAR_AUTO. */
    FBP_ANGULAR_DEFAULT = 0,
    /** Weight of a view: half the angle between its two neighbours (at an end of the arc: the angle
     * to its only neighbour). */
    FBP_ANGULAR_AUTO,
    FBP_ANGULAR_EQUAL, /**< weight of each view: arc of the scan / number of views */
};

/** Images for the correction of measured counts. */
enum fbp_image {
    FBP_IMAGE_DARK = 0,   /**< detector without the beam */
    FBP_IMAGE_FLAT,       /**< beam without the object */
    FBP_IMAGE_BAD_PIXELS, /**< map of bad pixels: pixels that are not 0 are bad */
    FBP_IMAGE_LAST = FBP_IMAGE_BAD_PIXELS
};

/** A value of a scan that is a guess and has not been confirmed. */
struct fbp_assumed {
    char *key;   /**< key of a scan file whose value is a guess, such as "detector.pitch_mm" */
    char *value; /**< value of the key as text; may be NULL */
    char *why;   /**< reason for the guess */
    char *file;  /**< file that contains the guess, or lacks the value */
};

/** Values that replace or complete those of a scan file; 0, false or NULL: not given. */
struct fbp_scan_known {
    size_t struct_size;
    bool growing; /**< true: the projections are still being written (fbp_source_follow()) */
    /** Distance between pixels along a row (u) and a column (v) [mm], in place of the file's. */
    double pitch_mm[2];
    /** Preparation steps of EPR spectra; each replaces the same step of the scan file, and the
     * other steps of the file are kept.  NULL: none. */
    const struct fbp_preparation *preparation;
    /** Preparation steps as text, such as "baseline=1,phase=all" (docs/epr.md); NULL: none. */
    const char *prepare;
};

/**
 * A scan.  Functions that make one are fbp_scan_load(), fbp_folder_load(), fbp_geometry_load(),
 * fbp_scan_cone() and its relatives, and fbp_scan_copy(); initialise it for them as follows:
 *
 *     struct fbp_scan scan = {.struct_size = sizeof scan};
 *
 * The scan owns its strings and arrays, and fbp_scan_clear() frees them.  A program that replaces
 * one of them frees the old one, and allocates the new one by malloc() or strdup(); members that
 * are numbers may be set freely.  A scan whose members belong to the program must not be passed to
 * fbp_scan_clear().  Paths are relative to the current directory.
 */
struct fbp_scan {
    size_t struct_size;
    enum fbp_kind kind;
    size_t n_views;
    struct fbp_panel panel;
    struct fbp_view *views;
    char *path; /**< path of the scan file, for messages; may be NULL */
    /** Projections [view][row][column]: path of a file, or a pattern (fbp_source_open()). */
    char *projections;
    /** Layout of the files of projections, darks and flats that have no header. */
    struct fbp_raw raw;
    /** Order of the rows of the stored views; FBP_ROWS_AUTO: that of their file or source.  Other
     * values replace fbp_array_info.row_order. */
    enum fbp_row_order row_order;
    enum fbp_angular_weights angular_weights;
    /** Paths of dark and flat images; several images of one kind are averaged; NULL: none. */
    char *dark, *flat;
    double i0;              /**< intensity measured without an object; 0: unknown */
    char *bad_pixels;       /**< path of an image whose non-zero pixels are bad; NULL: none */
    struct fbp_grid volume; /**< grid of the volume; n[0] == 0: default (fbp_grid_resolve()) */
    /** True: the stored views are already weighted and filtered.  A voxel is then the sum over
     * views k of I / w^2.  I: the sample at the voxel's projection; w: the voxel's depth, by the
     * third row of the view's matrix, scaled to w = depths[k] at the iso-centre (depths NULL: to
     * 1). */
    bool filtered;
    double *depths;
    /** Notes about the scan's files, joined by "; ", such as values that are not applied; NULL:
     * none. */
    char *note;
    /** [n_files] paths of other files with geometry that were read, in addition to `path`. */
    char **files;
    size_t n_files;
    /** Reduction by fbp_scan_reduce(): one of `every` views is used, and pixels are means of bin x
     * bin stored pixels; n_views and panel are those of the reduced views.  0: not reduced. */
    size_t every, bin;
    size_t stored_views;         /**< reduced or selected views: number of stored views */
    struct fbp_panel stored;     /**< reduced scan: panel before pixels are averaged */
    struct fbp_assumed *assumed; /**< [n_assumed] values that are guesses (fbp_scan_confirm()) */
    size_t n_assumed;
    /** Plane integrals: method for the weights of the directions. */
    enum fbp_quadrature quadrature;
    /** [n_views] weights (solid angles) of the directions, for FBP_QUADRATURE_GIVEN; NULL: none. */
    double *plane_weights;
    /** Plane integrals from a field sweep: file of the spectrum without a gradient, at the field
     *  values of the views; the filter deconvolves the views with it; NULL: none. */
    char *reference;
    /** Plane integrals: steps that convert the stored rows (EPR spectra) to plane integrals.  Panel
     * and views describe the result of the steps.  NULL: none. */
    struct fbp_preparation *preparation;
    /** Corrections in addition to dark, flat and -log (fbp_scan_correct()); NULL: none. */
    struct fbp_corrections *corrections;
    /** Dark, flat and bad pixels that are in memory, not in files (fbp_scan_use_image()); NULL:
     * none. */
    struct fbp_images *images;
    /** 1: search the views for dead, stuck, hot and saturated pixels and interpolate them like the
     * pixels of `bad_pixels` ("bad_pixels": "auto" in a scan file); 0: no search. */
    size_t find_bad_pixels;
    /** [n_views] numbers of the stored views that are used, in ascending order (fbp_scan_select());
     * stored_views is then the number of stored views.  NULL: all views, or one of `every`. */
    size_t *selected;
    /** [stored views] intensity without an object (in place of i0, which is then i0s[0]), and
     * factors of flat or i0, of each stored view; NULL: the beam is constant. */
    double *i0s, *doses;
    /** Path of flat images after the scan; `flat` is then that before the scan, and flats in
     * between are interpolated linearly over the stored views; NULL: none. */
    char *flat_after;
    /** True: the array `projections` has one sinogram per detector row, [row][view][column]; dark,
     * flat and bad pixels are images. */
    bool sinograms;
};

/** Description of a scan of plane integrals along directions (EPR imaging). */
struct fbp_planes {
    size_t struct_size;
    size_t n_views;
    const double (*direction)[3]; /**< [n_views] normals of the planes, of any length above 0 */
    /** Distance between samples [mm], and position t of the first sample [mm]: one value per view,
     * or one for all views.  first_mm NULL: the samples are centred on t = 0. */
    const double *spacing_mm, *first_mm;
    size_t n_spacing, n_first; /**< number of values in spacing_mm and in first_mm: 1 or n_views */
    size_t n_samples;          /**< number of samples per view */
    /** Number of time points (such as delays), one row of each view per time point; 0: one. */
    size_t n_time_points;
};

/**
 * Create a scan from numbers.  The numbers are copied, and fbp_scan_clear() frees the scan.  The
 * scan has neither files nor a volume: set `projections`, or pass the views as a source or in
 * memory; set `volume`, or that of the parameters, or use the default.
 *
 * fbp_scan_cone(), _parallel(): views on a circle (`kind` of the circle is ignored)
 * fbp_scan_fan():      a cone beam on a panel of one row; pitch_mm[1] may be 0
 * fbp_scan_matrices(): cone beams with a 3x4 matrix each, (c, r, 1) w = P (x, y, z, 1), row-major,
 *                      of any scale and sign.  A matrix contains no length, therefore the column
 *                      pitch is required [mm].
 * fbp_scan_vectors():  views with any source and panel (struct fbp_view)
 * fbp_scan_planes():   plane integrals
 *
 * @param[out] out  a new scan, or a cleared one: it is overwritten, and empty on failure
 * @return FBP_ERR_INVALID for values out of range; FBP_ERR_NOMEM.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_scan_cone(struct fbp_scan *out,
                                                const struct fbp_circle *circle,
                                                struct fbp_panel panel);
FBP_API FBP_MUST_CHECK fbp_status fbp_scan_fan(struct fbp_scan *out,
                                               const struct fbp_circle *circle, size_t n_columns);
FBP_API FBP_MUST_CHECK fbp_status fbp_scan_parallel(struct fbp_scan *out,
                                                    const struct fbp_circle *circle,
                                                    struct fbp_panel panel);
FBP_API FBP_MUST_CHECK fbp_status fbp_scan_matrices(struct fbp_scan *out,
                                                    const double (*matrices)[12], size_t n_views,
                                                    double pitch_u_mm, struct fbp_panel panel);
FBP_API FBP_MUST_CHECK fbp_status fbp_scan_vectors(struct fbp_scan *out, enum fbp_kind kind,
                                                   const struct fbp_view *views, size_t n_views,
                                                   struct fbp_panel panel);
FBP_API FBP_MUST_CHECK fbp_status fbp_scan_planes(struct fbp_scan *out,
                                                  const struct fbp_planes *planes);

/**
 * Compute the facts of the scan's geometry and of a grid, which may be NULL; with a grid, also the
 * expected errors of the reconstruction method (method_error), unless the views are plane
 * integrals.  If the call fails because of the grid, or because of the panel's position relative to
 * the axis, the facts of the views are set (n_angles > 0).
 * @return FBP_ERR_INVALID: no views, the volume or the axis contains a source, the panel is on the
 *         wrong side or seen edge-on, or values are not finite; FBP_ERR_NOMEM.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_scan_facts(const struct fbp_scan *scan,
                                                 const struct fbp_grid *grid,
                                                 struct fbp_geometry_facts *out);

/**
 * Draw the geometry of a scan, with its facts, to the SVG file `path`: seen from +z (x to the
 * right, y up) and from the side (first source to the left, z up), in one scale; of plane
 * integrals, the directions on the sphere.
 *
 * grid  NULL, or n[0] == 0: no volume is drawn
 * @return as fbp_scan_facts(), and FBP_ERR_IO.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_scan_draw(const struct fbp_scan *scan,
                                                const struct fbp_grid *grid, const char *path);

/** Return true if the views are intensities, whose negative logarithm is needed: the scan has a
 * dark image, a flat image or i0. */
FBP_API bool fbp_scan_is_intensity(const struct fbp_scan *scan);

/**
 * Load a scan file (docs/scan.md), or a file of another program that contains a whole scan, such as
 * a RabbitCT data set (docs/rabbitct.md).  The projections are opened for their size, but are not
 * read yet.
 *
 * known  values that replace or complete those of the file; NULL: none
 * @return FBP_OK, FBP_ERR_IO, FBP_ERR_INVALID (the message names file, key and remedy),
 *         FBP_ERR_UNSUPPORTED, FBP_ERR_NOMEM.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_scan_load(struct fbp_scan *out, const char *path,
                                                const struct fbp_scan_known *known);

/** Confirm the guessed value of a key, such as "detector.pitch_mm": it is removed from
 * scan->assumed. */
FBP_API void fbp_scan_confirm(struct fbp_scan *scan, const char *key);

/**
 * Write a scan file.  The paths of its arrays are stored relative to the file.  If `circle` is not
 * NULL, the geometry is written as distances and angles, else as a matrix or vectors per view; that
 * of plane integrals as directions.
 * @return FBP_ERR_INVALID, FBP_ERR_UNSUPPORTED, FBP_ERR_IO, FBP_ERR_NOMEM.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_scan_save(const struct fbp_scan *scan, const char *path,
                                                const struct fbp_circle *circle);

/**
 * Reduce a scan to one of `every` views, beginning with the first, and to means of bin x bin
 * pixels.  Stored values are averaged before the logarithm, darks and flats in the same way; bad
 * pixels are excluded from the means.  Columns and rows that do not fill a block are omitted, half
 * of them at each end.  If the detector has fewer rows than `bin`, all rows form one block.  Rows
 * of plane integrals are time points and are not averaged.
 *
 * The call changes views, panel, n_views, stored, stored_views, every and bin of the scan; it is
 * possible once.  The files do not change: plans, and fbp_recon_params.input.source, still read the
 * stored views. Positions in columns or rows, such as a centre, must be set before this call.
 * @return FBP_ERR_INVALID if there are not enough views or pixels, if the scan was reduced before,
 *         if the views are filtered, or if views would be omitted that have given plane weights.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_scan_reduce(struct fbp_scan *scan, size_t every, size_t bin);

/**
 * Use only some of the stored views.  views, skip: lists of the views that are used and of those
 * that are not, such as "17,42" or "0:100,110:": numbers of stored views from 0, and ranges without
 * their end.  NULL: all views; no view.  Views that an earlier call has left out remain left out.
 *
 * The call changes views, n_views, stored_views and selected of the scan.  The files do not change,
 * as with fbp_scan_reduce(), which is called after this function.
 * @return FBP_ERR_INVALID if a list is malformed or names views that do not exist, if no view
 *         remains, if the scan was reduced before, if the views are filtered, or if views would be
 *         omitted that have given plane weights; FBP_ERR_NOMEM.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_scan_select(struct fbp_scan *scan, const char *views,
                                                  const char *skip);

/** Values that fbp_scan_adjust() can set.  If the value differs between views (a C-arm), its mean
 * is set and the differences are kept. */
enum fbp_adjust {
    /** Detector column, from 0, of the projected iso-centre; each panel is moved along its u. */
    FBP_ADJUST_CENTRE,
    /** Additional rotation of the panel in its plane, right-handed about u x v [deg]. */
    FBP_ADJUST_TILT,
    /** Position of the panel's centre [mm], measured perpendicular to the axis and to the ray
       through the iso-centre, positive on the side of +u (fbp_circle.offset_mm[0]). */
    FBP_ADJUST_OFFSET,
    /** Distance from source to iso-centre [mm]; the distance from source to panel is kept. */
    FBP_ADJUST_SOD,
    /** Distance from source to the panel's centre, measured along the ray through the iso-centre
       [mm]. */
    FBP_ADJUST_SDD,
};

enum { FBP_ADJUSTS = 5 };

/** Set the mean over all views of one value of the geometry, such as a column found by
 * fbp_centre_find().  A guess of the scan file for this value counts as confirmed
 * (fbp_scan_confirm()).
 *  @return FBP_ERR_INVALID if the value is not finite, or impossible for this kind of scan and
 * panel. */
FBP_API FBP_MUST_CHECK fbp_status fbp_scan_adjust(struct fbp_scan *scan, enum fbp_adjust which,
                                                  double value);

/** Flip the views of a scan; flips: values of enum fbp_flip, combined by `|`.  @return
 * FBP_ERR_INVALID for plane integrals with FBP_FLIP_V or FBP_FLIP_DIRECTION, because they have
 * neither detector rows nor a direction of rotation. */
FBP_API FBP_MUST_CHECK fbp_status fbp_scan_flip(struct fbp_scan *scan, unsigned flips);

/**
 * Replace the corrections (rings, phase, beam hardening) of a scan.  The struct is copied.  NULL,
 * or a struct without values: no corrections.
 * @return FBP_ERR_INVALID for values out of range; FBP_ERR_UNSUPPORTED if the scan's views are
 *         plane integrals or already filtered, or too small for ring removal; FBP_ERR_NOMEM.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_scan_correct(struct fbp_scan *scan,
                                                   const struct fbp_corrections *corrections);

/**
 * Set an image of a scan from a source, such as samples in memory (fbp_source_memory()), in place
 * of a file.  The source has one slice, or several that are averaged, with the columns and rows of
 * the stored views, in the row order of the views (the row order of the source is ignored).
 *
 * The source is read in this call and may be closed afterwards.  source NULL: the scan has no such
 * image any more, neither from a source nor from a file.  A scan with such an image cannot be
 * saved, because a scan file can only name files.
 * @return FBP_ERR_INVALID if the size is not that of the views, FBP_ERR_NOMEM, or as
 * fbp_source_read(); after a failure the scan is unchanged.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_scan_use_image(struct fbp_scan *scan, enum fbp_image which,
                                                     fbp_source *source);

/** Copy a scan with its strings and arrays to `out`, which is overwritten without being freed.
 *  @return FBP_ERR_NOMEM. */
FBP_API FBP_MUST_CHECK fbp_status fbp_scan_copy(struct fbp_scan *out, const struct fbp_scan *scan);

/** Free everything that a scan owns, and set the scan to zero, except struct_size. */
FBP_API void fbp_scan_clear(struct fbp_scan *scan);

FBP_END

#endif /* FBP_SCAN_H */
