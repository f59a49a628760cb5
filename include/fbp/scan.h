/** @file scan.h  A scan: where its arrays are, how they were measured, which volume is wanted. */
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
    FBP_ANGULAR_DEFAULT = 0, /**< as in the scan; in a scan: AUTO */
    FBP_ANGULAR_AUTO,        /**< half the distance to both neighbours */
    FBP_ANGULAR_EQUAL,       /**< arc / K each */
};

/** Pictures that counts are corrected by. */
enum fbp_image {
    FBP_IMAGE_DARK = 0,   /**< without the beam */
    FBP_IMAGE_FLAT,       /**< without the object */
    FBP_IMAGE_BAD_PIXELS, /**< not 0 where a pixel is bad */
    FBP_IMAGE_LAST = FBP_IMAGE_BAD_PIXELS
};

/** A fact in a scan file that is only a guess; nobody has confirmed it. */
struct fbp_assumed {
    char *key;   /**< "detector.pitch_mm" */
    char *value; /**< its value, in a word; may be NULL */
    char *why;   /**< the comment on it in the file */
    char *file;  /**< the file */
};

/** Facts that replace or complete a scan file.  0: none. */
struct fbp_scan_known {
    size_t struct_size;
    bool growing;       /**< the projections are still being written (fbp_source_follow()) */
    double pitch_mm[2]; /**< distance between pixels along u and v, instead of that in the file */
    /** Steps beside those that the file asks for, and instead of them; or NULL. */
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
    char *note;   /**< a sentence: what the file leaves open, and what is used; or NULL */
    char **files; /**< files that it was read from, beside `path`: those of its geometry */
    size_t n_files;
    /** Set by fbp_scan_reduce(), else 0.  Views and panel above are then the reduced ones: every
     *  `every`-th view, means of bin x bin pixels. */
    size_t every, bin;
    size_t stored_views;         /**< number of views in the files */
    struct fbp_panel stored;     /**< panel of the views in the files */
    struct fbp_assumed *assumed; /**< facts that are guesses (fbp_scan_assumed()) */
    size_t n_assumed;
    enum fbp_quadrature quadrature; /**< of plane integrals: weights of the directions */
    double *plane_weights;          /**< [n_views] solid angles, for FBP_QUADRATURE_GIVEN */
    /** Of plane integrals that are spectra of a field sweep: file of the spectrum without a
     *  gradient, at the field values of the views, which they are divided by; or NULL. */
    char *reference;
    /** Of plane integrals: what is done with stored rows before they are those.  The panel and the
     *  views are the prepared ones.  Owned; NULL: nothing. */
    struct fbp_preparation *preparation;
    /** What is done with measured views beside dark, flat and -log (fbp_scan_correct()).  Owned;
     *  NULL: nothing. */
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

/** Are the values intensities, of which -log is taken?  They are if dark, flat or i0 is given. */
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
 * Open a sink for the plane integrals of a scan that makes one file of all of it: a MAT file such
 * as EPR laboratories keep (prj.mat), with the arrays P [samples x frames x views], B [samples] in
 * MHz and G [views x 3] in G/cm, and beside them the unit of B and the scan's volume.  Slices of
 * the sink are views.  fbp_scan_load() reads the file: views to the last digits of a double, and
 * nothing else of the scan than these.
 *
 * scan      kind, n_views, panel, views and volume are used, only here
 * gradient  of the first view [G/cm]; where samples are closer together it is as much stronger
 * params    type FBP_F32 or FBP_F64; NULL: as fbp_sink_open()
 * @return as fbp_sink_open(); FBP_ERR_INVALID if there is 2 GiB of samples or more, or another
 *         program's file has this name; FBP_ERR_UNSUPPORTED for line integrals, and where first
 *         samples are not as many samples away from 0 in all views.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_scan_sink_prj(fbp_sink **out, const char *path,
                                                    const struct fbp_scan *scan, double gradient,
                                                    const struct fbp_sink_params *params);

/**
 * Write a scan file; the path of the projections is stored relative to it.  If `circle` is given,
 * the geometry is written as distances and angles, else as one matrix a view.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_scan_save(const struct fbp_scan *scan, const char *path,
                                                const struct fbp_circle *circle);

/** Read directions from a file: three numbers each, as text (CSV, TXT, a first line of names is
 *  left out) or as an array [n][3] or [3][n] (NPY, "FILE.mat:NAME" …).  They need not be of
 *  length 1.  free(*out). */
FBP_API FBP_MUST_CHECK fbp_status fbp_directions_load(const char *path, double (**out)[3],
                                                      size_t *n);

/** Read 3x4 matrices from a text file: 12 numbers a view; '#' begins a comment.  free(*out). */
FBP_API FBP_MUST_CHECK fbp_status fbp_matrices_load(const char *path, double **out,
                                                    size_t *n_views);

/**
 * Is `file` an input file of the scan, or would it become one if it were written?  Then it should
 * not be written.  `file` may be a pattern such as "out/%04d.png".  Input files are the scan file,
 * the files of its geometry, of its arrays and of their samples, and links to them.
 *
 * Also true if this cannot be found out: there is no memory, or a folder cannot be read.  Then
 * there is an fbp_message().
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
 * Correct the views of a scan so, and not as its file says.  The struct is copied; NULL, or one
 * that asks for nothing: no corrections.
 * @return FBP_ERR_INVALID for numbers that make no sense, FBP_ERR_UNSUPPORTED if the scan's views
 * are no line integrals, or are filtered already.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_scan_correct(struct fbp_scan *scan,
                                                   const struct fbp_corrections *corrections);

/**
 * Take a picture from a source, such as samples in memory (fbp_source_memory()), and not from a
 * file: one slice, or several, which are averaged, of the columns and rows of the stored views.
 * Its rows run as those of the views, whatever the source says, as is so of files.
 *
 * The source is read here, and may be closed afterwards.  NULL: no picture, nor a file of one.
 * Such a scan cannot be saved: a scan file names files.
 * @return FBP_ERR_INVALID for another size, NOMEM, or what reading the source returns; the scan is
 * then as it was.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_scan_use_image(struct fbp_scan *scan, enum fbp_image which,
                                                     fbp_source *source);

/** Copy a scan: `out`, which is written over, then owns strings and views of its own.
 *  @return FBP_ERR_NOMEM. */
FBP_API FBP_MUST_CHECK fbp_status fbp_scan_copy(struct fbp_scan *out, const struct fbp_scan *scan);

/** Free what a scan owns, and set it to zero, except struct_size. */
FBP_API void fbp_scan_clear(struct fbp_scan *scan);

FBP_END

#endif /* FBP_SCAN_H */
