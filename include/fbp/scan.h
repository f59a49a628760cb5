/** @file scan.h  A scan: its files, the geometry of the measurement, and the volume.
 *
 * Functions to load, save, copy, check, reduce and correct a scan.
 */
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
    FBP_ANGULAR_DEFAULT = 0, /**< in parameters: the method of the scan; in a scan: AUTO */
    FBP_ANGULAR_AUTO,        /**< half the distance between both neighbouring views */
    FBP_ANGULAR_EQUAL,       /**< arc / K for each of K views */
};

/** Images for the correction of measured counts. */
enum fbp_image {
    FBP_IMAGE_DARK = 0,   /**< detector without the beam */
    FBP_IMAGE_FLAT,       /**< beam without the object */
    FBP_IMAGE_BAD_PIXELS, /**< non-zero pixels are bad */
    FBP_IMAGE_LAST = FBP_IMAGE_BAD_PIXELS
};

/** A fact in a scan file that is a guess and has not been confirmed. */
struct fbp_assumed {
    char *key;   /**< key in the scan file, such as "detector.pitch_mm" */
    char *value; /**< value of the key as text; may be NULL */
    char *why;   /**< reason for the guess, from the comment in the file */
    char *file;  /**< file that contains the guess */
};

/** Values that replace or complete those of a scan file.  0 or NULL: not given. */
struct fbp_scan_known {
    size_t struct_size;
    bool growing; /**< the projections are still being written (fbp_source_follow()) */
    /** Distance between pixels along u and v, in place of the file's value. */
    double pitch_mm[2];
    /** Preparation steps that are added to the steps of the file, or replace them; NULL: none. */
    const struct fbp_preparation *preparation;
};

/**
 * A scan.  The scan owns its strings and arrays, and fbp_scan_clear() frees them.  Paths are
 * relative to the current directory.  Initialise it as follows:
 *
 *     struct fbp_scan scan = {.struct_size = sizeof scan};
 */
struct fbp_scan {
    size_t struct_size;
    enum fbp_kind kind;
    size_t n_views;
    struct fbp_panel panel;
    struct fbp_view *views;
    char *path; /**< the scan file, for messages; may be NULL */
    /** [view][row][column]: path of a file, or a pattern (fbp_source_open()). */
    char *projections;
    struct fbp_raw raw; /**< layout of headerless projections, darks and flats */
    enum fbp_row_order row_order;
    enum fbp_angular_weights angular_weights;
    char *dark, *flat;      /**< one image, or several that are averaged; NULL: none */
    double i0;              /**< intensity without an object; 0: none */
    char *bad_pixels;       /**< image, non-zero: bad pixel; NULL: none */
    struct fbp_grid volume; /**< n[0] == 0: fbp_grid_default() */
    /** The views have already been weighted and filtered: volume = sum over views of I(u, v) / w^2,
     *  with w from the view's matrix, scaled to depths[k] at the iso-centre (depths NULL: 1). */
    bool filtered;
    double *depths;
    /** Sentence about values that are missing in the file, and their defaults; or NULL. */
    char *note;
    char **files; /**< [n_files] files of the geometry, in addition to `path` */
    size_t n_files;
    /** Set by fbp_scan_reduce(), else 0: n_views and panel are then those of the reduced views, one
     *  view of `every` and means of bin x bin pixels. */
    size_t every, bin;
    size_t stored_views;         /**< number of views in the files */
    struct fbp_panel stored;     /**< panel of the views in the files */
    struct fbp_assumed *assumed; /**< [n_assumed] facts that are guesses (fbp_scan_assumed()) */
    size_t n_assumed;
    /** Plane integrals: method for the weights of the directions. */
    enum fbp_quadrature quadrature;
    double *plane_weights; /**< [n_views] solid angles, for FBP_QUADRATURE_GIVEN */
    /** Plane integrals from a field sweep: file of the spectrum without a gradient, at the field
     *  values of the views, for deconvolution; NULL: none. */
    char *reference;
    /** Plane integrals: steps from stored rows to plane integrals.  Panel and views describe the
     *  result of the steps.  NULL: none. */
    struct fbp_preparation *preparation;
    /** Corrections in addition to dark, flat and -log (fbp_scan_correct()); NULL: none. */
    struct fbp_corrections *corrections;
    /** Dark, flat and bad pixels from memory (fbp_scan_use_image()), in place of files; NULL:
     *  none. */
    struct fbp_images *images;
    /** 1: search the views for dead, stuck, hot and saturated pixels and interpolate them like the
     *  pixels of `bad_pixels` ("bad_pixels": "auto" in a scan file); default 0. */
    size_t find_bad_pixels;
};

/** Return the views of a scan with kind and panel, as fbp_views_facts() and other functions expect
 *  them.  The scan keeps the ownership. */
FBP_API struct fbp_views fbp_scan_views(const struct fbp_scan *scan);

/**
 * Write remark i = 0, 1, … about a scan and its volume to buf[n], one sentence (400 bytes are
 * enough): a volume beyond the field of view, given weights that do not add up to 2 pi, and, unless
 * the views are filtered, the remarks of fbp_geometry_remark().  `fbp geometry check` prints the
 * remarks, and plans log them as warnings.
 *
 * facts   facts of the scan's views
 * volume  NULL: no remarks about the volume
 * @return false if there is no such remark
 */
FBP_API bool fbp_scan_remark(const struct fbp_scan *scan, const struct fbp_geometry_facts *facts,
                             const struct fbp_grid *volume, size_t i, char *buf, size_t n);

/** True if the views are intensities, which need -log: dark, flat or i0 is given. */
FBP_API bool fbp_scan_is_intensity(const struct fbp_scan *scan);

/**
 * Load a scan file (docs/scan.md), or a file of another program that contains a whole scan, such as
 * a RabbitCT data set (docs/rabbitct.md).  Headers of arrays are read; samples are not.
 * @return FBP_OK, FBP_ERR_IO, FBP_ERR_INVALID (the message names file, key and remedy),
 *         FBP_ERR_UNSUPPORTED, FBP_ERR_NOMEM.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_scan_load(struct fbp_scan *out, const char *path);

/** Load a scan whose projections are still being written (fbp_source_follow()).  @return as
 *  fbp_scan_load(). */
FBP_API FBP_MUST_CHECK fbp_status fbp_scan_load_growing(struct fbp_scan *out, const char *path);

/** Load a scan with values that replace or complete those of the file; `known` may be NULL.
 *  @return as fbp_scan_load(). */
FBP_API FBP_MUST_CHECK fbp_status fbp_scan_load_known(struct fbp_scan *out, const char *path,
                                                      const struct fbp_scan_known *known);

/** Write one sentence that lists all guessed facts to buf[n], for a warning.  Returns the number of
 *  guesses (0: buf is ""). */
FBP_API size_t fbp_scan_assumed(const struct fbp_scan *scan, char *buf, size_t n);

/** Confirm a guessed fact, such as "detector.pitch_mm": it is no longer listed as a guess. */
FBP_API void fbp_scan_confirm(struct fbp_scan *scan, const char *key);

/**
 * Open a sink that writes the plane integrals of a scan to one MAT file, the format of EPR
 * laboratories (prj.mat): arrays P [samples x frames x views], B [samples] in MHz, G [views x 3] in
 * G/cm, the unit of B, and the scan's volume.  Slices of the sink are views.  fbp_scan_load() reads
 * the views from such a file, to the last digits of a double, and nothing else of the scan.
 *
 * scan      kind, n_views, panel, views and volume are used, only in this call
 * gradient  gradient of the first view [G/cm]; gradients of other views are inversely proportional
 *           to their distances of samples
 * params    type FBP_F32 or FBP_F64; NULL: as for fbp_sink_open()
 * @return as fbp_sink_open(); FBP_ERR_INVALID if the samples take 2 GiB or more, or if a file of
 *         another program has this name; FBP_ERR_UNSUPPORTED for line integrals, and if position 0
 *         is not the same sample in all views.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_scan_sink_prj(fbp_sink **out, const char *path,
                                                    const struct fbp_scan *scan, double gradient,
                                                    const struct fbp_sink_params *params);

/**
 * Write a scan file.  The paths of its arrays are stored relative to the file.  If `circle` is not
 * NULL, the geometry is written as distances and angles, else per view.
 * @return FBP_ERR_INVALID, FBP_ERR_UNSUPPORTED, FBP_ERR_IO, FBP_ERR_NOMEM.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_scan_save(const struct fbp_scan *scan, const char *path,
                                                const struct fbp_circle *circle);

/** Load directions (*out)[*n][3] from a file: text with three numbers per line (CSV, TXT; a first
 *  line of names is skipped), or an array [n][3] or [3][n] (NPY, "FILE.mat:NAME" …).  Vectors may
 *  have any length.  The caller frees *out with free(). */
FBP_API FBP_MUST_CHECK fbp_status fbp_directions_load(const char *path, double (**out)[3],
                                                      size_t *n);

/** Load 3x4 matrices (*out)[*n_views * 12] from a text file: 12 numbers per view; '#' begins a
 *  comment.  The caller frees *out with free(). */
FBP_API FBP_MUST_CHECK fbp_status fbp_matrices_load(const char *path, double **out,
                                                    size_t *n_views);

/**
 * Check whether `file` must not be written because it is an input file of the scan, or would become
 * one.  `file` may be a pattern such as "out/%04d.png".  Input files are the scan file, the files
 * of its geometry, of its arrays and of their samples, and links to these files.
 *
 * @return true if so; also true, with an fbp_message(), if there is no memory or a folder cannot be
 *         read
 */
FBP_API bool fbp_scan_reads(const struct fbp_scan *scan, const char *file);

/**
 * Reduce a scan: use only one view of `every`, beginning with the first, and means of bin x bin
 * pixels.  Stored values are averaged before the logarithm, darks and flats in the same way; bad
 * pixels are excluded from the means.  Columns and rows that do not fill a block are omitted, half
 * of them at each end.  If the detector has fewer rows than `bin`, all rows form one block.  Rows
 * of plane integrals are frames and are not averaged.
 *
 * The call changes views, panel, n_views, every and bin of the scan; it is possible once.  The
 * files do not change: plans, and fbp_recon_params.input.source, still read the stored views.
 * Positions in columns or rows, such as a centre, must be set before this call.
 * @return FBP_ERR_INVALID if there are not enough views or pixels, if the scan was reduced before,
 *         if the views are filtered, or if views would be omitted that have given plane weights.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_scan_reduce(struct fbp_scan *scan, size_t every, size_t bin);

/**
 * Replace the corrections of a scan.  The struct is copied.  NULL, or a struct without values: no
 * corrections.
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
 * The source is read in this call and may be closed afterwards.  NULL removes the image and its
 * file.  A scan with such an image cannot be saved, because a scan file can only name files.
 * @return FBP_ERR_INVALID for another size, FBP_ERR_NOMEM, or as fbp_source_read(); the scan is
 * then unchanged.
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
