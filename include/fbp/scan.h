/** @file scan.h  A scan: files of its arrays, geometry of the measurement, volume. */
#ifndef FBP_SCAN_H
#define FBP_SCAN_H

#include "fbp/array.h"
#include "fbp/correction.h"
#include "fbp/directions.h"
#include "fbp/geometry.h"
#include "fbp/preparation.h"

FBP_BEGIN

/** Angular weights of the views. */
enum fbp_angular_weights {
    FBP_ANGULAR_DEFAULT = 0, /**< parameters: those of the scan; in a scan: AUTO */
    FBP_ANGULAR_AUTO,        /**< half the distance to both neighbours */
    FBP_ANGULAR_EQUAL,       /**< arc / K each */
};

/** Images for the correction of counts. */
enum fbp_image {
    FBP_IMAGE_DARK = 0,   /**< without the beam */
    FBP_IMAGE_FLAT,       /**< without the object */
    FBP_IMAGE_BAD_PIXELS, /**< non-zero: bad pixel */
    FBP_IMAGE_LAST = FBP_IMAGE_BAD_PIXELS
};

/** A fact in a scan file that is a guess and was not confirmed. */
struct fbp_assumed {
    char *key;   /**< "detector.pitch_mm" */
    char *value; /**< its value as text; may be NULL */
    char *why;   /**< the comment on it in the file */
    char *file;  /**< the file */
};

/** Facts that replace or complete a scan file.  0: none. */
struct fbp_scan_known {
    size_t struct_size;
    bool growing;       /**< the projections are still being written (fbp_source_follow()) */
    double pitch_mm[2]; /**< distance between pixels along u and v, instead of that in the file */
    /** Steps that are added to those of the file, or replace them; NULL: none. */
    const struct fbp_preparation *preparation;
};

/**
 * A scan.  Strings and views are owned by the scan and freed by fbp_scan_clear(); paths are usable
 * from the current directory.  Start with `struct fbp_scan scan = {.struct_size = sizeof scan};`.
 */
struct fbp_scan {
    size_t struct_size;
    enum fbp_kind kind;
    size_t n_views;
    struct fbp_panel panel;
    struct fbp_view *views;
    char *path;         /**< the scan file, for messages; may be NULL */
    char *projections;  /**< [view][row][column]: a file, or a pattern (fbp_source_open()) */
    struct fbp_raw raw; /**< layout of headerless projections, darks and flats */
    enum fbp_row_order row_order;
    enum fbp_angular_weights angular_weights;
    char *dark, *flat;      /**< one image or several, which are averaged; NULL = none */
    double i0;              /**< unattenuated intensity; 0 = none */
    char *bad_pixels;       /**< image, non-zero = bad; NULL = none */
    struct fbp_grid volume; /**< n[0] == 0: fbp_grid_default() */
    /** The views have already been weighted and filtered: volume = sum over views of I(u, v) / w^2.
     *  w is that of the view's matrix, scaled to depths[k] at the iso-centre (NULL: 1). */
    bool filtered;
    double *depths;
    char *note;   /**< a sentence about values that are missing in the file, and their defaults; or
                     NULL */
    char **files; /**< files of its geometry, in addition to `path` */
    size_t n_files;
    /** Set by fbp_scan_reduce(), else 0.  Views and panel above are then the reduced ones: every
     *  `every`-th view, means of bin x bin pixels. */
    size_t every, bin;
    size_t stored_views;         /**< number of views in the files */
    struct fbp_panel stored;     /**< panel of the views in the files */
    struct fbp_assumed *assumed; /**< facts that are guesses (fbp_scan_assumed()) */
    size_t n_assumed;
    enum fbp_quadrature quadrature; /**< plane integrals: weights of the directions */
    double *plane_weights;          /**< [n_views] solid angles, for FBP_QUADRATURE_GIVEN */
    /** Plane integrals from a field sweep: file of the spectrum without a gradient, at the field
     *  values of the views, for deconvolution; or NULL. */
    char *reference;
    /** Plane integrals: steps from stored rows to them.  Panel and views are those after the steps.
     *  Owned; NULL: none. */
    struct fbp_preparation *preparation;
    /** Corrections in addition to dark, flat and -log (fbp_scan_correct()).  Owned; NULL: none. */
    struct fbp_corrections *corrections;
    /** Dark, flat and bad pixels from memory (fbp_scan_use_image()), instead of those of files.
     *  Owned; NULL: none. */
    struct fbp_images *images;
    /** 1: search the views for dead, stuck, hot and saturated pixels, and interpolate them as those
     *  of `bad_pixels` ("bad_pixels": "auto" of a scan file); default 0. */
    size_t find_bad_pixels;
};

/** The views of a scan with kind and panel: the argument of fbp_views_facts() and other calls. */
FBP_API struct fbp_views fbp_scan_views(const struct fbp_scan *scan);

/**
 * Remark i = 0, 1, … about a scan and a volume of it (NULL: none), a sentence in buf[n] (400 bytes
 * are enough): a volume beyond the field of view, given weights that do not add up, and all that
 * fbp_geometry_remark() returns.  `fbp geometry check` prints these, and plans log them as
 * warnings.  False if there is no such remark.
 */
FBP_API bool fbp_scan_remark(const struct fbp_scan *scan, const struct fbp_geometry_facts *facts,
                             const struct fbp_grid *volume, size_t i, char *buf, size_t n);

/** True if the values are intensities, which need -log: dark, flat or i0 is given. */
FBP_API bool fbp_scan_is_intensity(const struct fbp_scan *scan);

/**
 * Read a scan file (docs/scan.md), or a RabbitCT data set (docs/rabbitct.md).  Headers of arrays
 * are read, samples are not.
 * @return FBP_OK, FBP_ERR_IO, FBP_ERR_INVALID (the message names file, key and remedy), NOMEM.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_scan_load(struct fbp_scan *out, const char *path);

/** As fbp_scan_load(), while the projections are still being written (fbp_source_follow()). */
FBP_API FBP_MUST_CHECK fbp_status fbp_scan_load_growing(struct fbp_scan *out, const char *path);

/** As fbp_scan_load(), with other known facts; `known` may be NULL. */
FBP_API FBP_MUST_CHECK fbp_status fbp_scan_load_known(struct fbp_scan *out, const char *path,
                                                      const struct fbp_scan_known *known);

/** One sentence about all facts that are guesses, for a warning.  Returns the number of such facts
 * (0: buf is ""). */
FBP_API size_t fbp_scan_assumed(const struct fbp_scan *scan, char *buf, size_t n);

/** Confirm a fact, such as "detector.pitch_mm": it is no longer listed as a guess. */
FBP_API void fbp_scan_confirm(struct fbp_scan *scan, const char *key);

/**
 * Open a sink for the plane integrals of a scan that writes one MAT file, as EPR laboratories use
 * (prj.mat): arrays P [samples x frames x views], B [samples] in MHz and G [views x 3] in G/cm, the
 * unit of B, and the scan's volume.  Slices of the sink are views.  fbp_scan_load() reads the views
 * from the file, to the last digits of a double, and nothing else of the scan.
 *
 * scan      kind, n_views, panel, views and volume are used, only in this call
 * gradient  of the first view [G/cm]; in other views it is inversely proportional to the distance
 *           of samples
 * params    type FBP_F32 or FBP_F64; NULL: as fbp_sink_open()
 * @return as fbp_sink_open(); FBP_ERR_INVALID if there is 2 GiB of samples or more, or another
 *         program's file has this name; FBP_ERR_UNSUPPORTED for line integrals, and if position 0
 *         is not the same sample in all views.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_scan_sink_prj(fbp_sink **out, const char *path,
                                                    const struct fbp_scan *scan, double gradient,
                                                    const struct fbp_sink_params *params);

/**
 * Write a scan file; the path of the projections is stored relative to it.  If `circle` is given,
 * the geometry is written as distances and angles, else as one matrix per view.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_scan_save(const struct fbp_scan *scan, const char *path,
                                                const struct fbp_circle *circle);

/** Read directions from a file: three numbers each, as text (CSV, TXT, a first line of names is
 *  left out) or as an array [n][3] or [3][n] (NPY, "FILE.mat:NAME" …).  They need not be of
 *  length 1.  free(*out). */
FBP_API FBP_MUST_CHECK fbp_status fbp_directions_load(const char *path, double (**out)[3],
                                                      size_t *n);

/** Read 3x4 matrices from a text file: 12 numbers per view; '#' begins a comment.  free(*out). */
FBP_API FBP_MUST_CHECK fbp_status fbp_matrices_load(const char *path, double **out,
                                                    size_t *n_views);

/**
 * True if `file` is an input file of the scan, or would become one, and must not be written.
 * `file` may be a pattern such as "out/%04d.png".  Input files are the scan file,
 * the files of its geometry, of its arrays and of their samples, and links to them.
 *
 * Also true, with an fbp_message(), if there is no memory, or a folder cannot be read.
 */
FBP_API bool fbp_scan_reads(const struct fbp_scan *scan, const char *file);

/**
 * Use only every `every`-th view, beginning with the first, and means of bin x bin pixels.  Stored
 * values are averaged before the logarithm, darks and flats in the same way; bad pixels are left
 * out of the means.  Columns and rows that do not fill a block are left out, half of them at each
 * end; if the detector has fewer rows than `bin`, all of them are one block.
 *
 * Changes views, panel and numbers, once.  The files do not change: plans, and
 * fbp_recon_params.source, read the stored views.  Set positions in columns or rows, such as a
 * centre, before this call.
 * @return FBP_ERR_INVALID if there are not enough views or pixels, if the scan was reduced before,
 * or if views are filtered.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_scan_reduce(struct fbp_scan *scan, size_t every, size_t bin);

/**
 * Replace the corrections of a scan.  The struct is copied; NULL, or one without values: no
 * corrections.
 * @return FBP_ERR_INVALID for values out of range, FBP_ERR_UNSUPPORTED if the scan's views are not
 * line integrals, or already filtered.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_scan_correct(struct fbp_scan *scan,
                                                   const struct fbp_corrections *corrections);

/**
 * Use an image from a source, such as samples in memory (fbp_source_memory()), instead of a file:
 * one slice, or several, which are averaged, with the columns and rows of the stored views.  Its
 * row order is that of the views, not of the source.
 *
 * The source is read in this call, and may be closed afterwards.  NULL: no image, and no file.
 * Such a scan cannot be saved, because a scan file can only name files.
 * @return FBP_ERR_INVALID for another size, NOMEM, or as fbp_source_read(); the scan is
 * then not changed.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_scan_use_image(struct fbp_scan *scan, enum fbp_image which,
                                                     fbp_source *source);

/** Copy a scan with its strings and views to `out`, which is overwritten.
 *  @return FBP_ERR_NOMEM. */
FBP_API FBP_MUST_CHECK fbp_status fbp_scan_copy(struct fbp_scan *out, const struct fbp_scan *scan);

/** Free all that a scan owns, and set it to zero, except struct_size. */
FBP_API void fbp_scan_clear(struct fbp_scan *scan);

FBP_END

#endif /* FBP_SCAN_H */
