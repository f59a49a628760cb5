/** @file scan.h  A scan: where its arrays are, how it was taken, which volume is wanted. */
#ifndef FBP_SCAN_H
#define FBP_SCAN_H

#include "fbp/array.h"
#include "fbp/geometry.h"

FBP_BEGIN

/** How views are weighted by angle. */
enum fbp_angular_weights {
    FBP_ANGULAR_DEFAULT = 0, /**< what the scan says; a scan: AUTO */
    FBP_ANGULAR_AUTO,        /**< half the distance to both neighbours */
    FBP_ANGULAR_EQUAL,       /**< arc / K each */
};

/** A fact of a scan file that somebody has guessed and nobody confirmed. */
struct fbp_assumed {
    char *key;   /**< "detector.pitch_mm" */
    char *value; /**< what stands there, in a word; NULL */
    char *why;   /**< what the file says about it */
    char *file;  /**< which file that is */
};

/** What is known beside a scan file.  0: nothing. */
struct fbp_scan_known {
    size_t struct_size;
    bool growing;       /**< the projections are still being written (fbp_source_follow()) */
    double pitch_mm[2]; /**< distance of pixels along u and v, in the place of what the file says */
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
    /** Views are weighted and filtered already: volume = sum over views of I(u, v) / w^2, w that of
     * the view's matrix, scaled so that it is depths[k] at the iso-centre (NULL: 1). */
    bool filtered;
    double *depths;
    char *note;   /**< what its file left open and what was taken instead, a sentence; NULL */
    char **files; /**< what it was read from beside `path`: files of its geometry */
    size_t n_files;
    /** Set by fbp_scan_reduce(), else 0: views and panel above are what is taken of those in the
     *  files: each `every`-th view, means of bin x bin pixels. */
    size_t every, bin;
    size_t stored_views;         /**< in the files */
    struct fbp_panel stored;     /**< that of the files */
    struct fbp_assumed *assumed; /**< what is not certain (fbp_scan_assumed()) */
    size_t n_assumed;
};

/** The scan's views with their kind and panel: the argument of fbp_views_facts() and others. */
FBP_API struct fbp_views fbp_scan_views(const struct fbp_scan *scan);

/** True if values are intensities and -log is taken: any of dark, flat, i0 is given. */
FBP_API bool fbp_scan_is_intensity(const struct fbp_scan *scan);

/**
 * Read a scan file (docs/scan.md), or a RabbitCT data set (docs/rabbitct.md).  Array headers are
 * looked at, no samples read.
 * @return FBP_OK, FBP_ERR_IO, FBP_ERR_INVALID (the message names file, key and remedy), NOMEM.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_scan_load(struct fbp_scan *out, const char *path);

/** As fbp_scan_load(), while the projections are still being written (fbp_source_follow()). */
FBP_API FBP_MUST_CHECK fbp_status fbp_scan_load_growing(struct fbp_scan *out, const char *path);

/** As fbp_scan_load(), with what is known beside the file; `known` may be NULL. */
FBP_API FBP_MUST_CHECK fbp_status fbp_scan_load_known(struct fbp_scan *out, const char *path,
                                                      const struct fbp_scan_known *known);

/** One sentence about all that a scan file assumes, for a warning; returns how many facts that are
 *  (0: buf is ""). */
FBP_API size_t fbp_scan_assumed(const struct fbp_scan *scan, char *buf, size_t n);

/** A fact is known now, such as "detector.pitch_mm": it is assumed no longer. */
FBP_API void fbp_scan_confirm(struct fbp_scan *scan, const char *key);

/**
 * Write a scan file; `projections` is stored relative to it.  A circular scan is written as
 * distances and angles if `circle` is given, else as one matrix a view.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_scan_save(const struct fbp_scan *scan, const char *path,
                                                const struct fbp_circle *circle);

/** 3x4 matrices from plain text: 12 numbers a view, '#' starts a comment.  Free *out. */
FBP_API FBP_MUST_CHECK fbp_status fbp_matrices_load(const char *path, double **out,
                                                    size_t *n_views);

/** Is `file`, or one of the files that a pattern such as "out/%04d.png" names, one of the files
 * that a scan is read from, or would it become one: the scan's own, its geometry's, those of its
 * arrays and of their samples, links to any of them?  Nothing of that name should be written then.
 * Also true where it cannot be found out, for lack of memory or as a folder cannot be read; then
 * there is an fbp_message().
 */
FBP_API bool fbp_scan_reads(const struct fbp_scan *scan, const char *file);

/**
 * Take each `every`-th view only, from the first on, and means of bin x bin pixels: of stored
 * values, before their logarithm; bad pixels are left out of means, and of darks and flats the
 * same means are taken.  Columns and rows that are left over are left out, half of them at either
 * end; a detector of fewer rows than `bin` is joined over all of them.
 *
 * Changes views, panel and numbers, once; files stay as they are: plans, and
 * fbp_recon_params.source, read stored views.  Positions in columns or rows that are given in
 * numbers, such as a centre, are to be set before.
 * @return FBP_ERR_INVALID if there are not so many, if it was called before, or views are filtered.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_scan_reduce(struct fbp_scan *scan, size_t every, size_t bin);

/** Free what a scan owns and zero it, but for struct_size. */
FBP_API void fbp_scan_clear(struct fbp_scan *scan);

FBP_END

#endif /* FBP_SCAN_H */
