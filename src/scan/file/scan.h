/** @file scan.h  A scan in memory (struct fbp_scan): functions for its files, notes, images,
 * corrections, preparation and reduction (internal).
 * Used by: bench/, cli/, analysis/, picture/, pipeline/, prep/, scan/, weight/. */
#ifndef FBP_SRC_SCAN_FILE_SCAN_H
#define FBP_SRC_SCAN_FILE_SCAN_H

#include "fbp/scan.h"

#include "base/base.h"

struct fbp_inputs;

/* scan.c: texts, paths, notes and files */

/** Append to the text in buf[n]; if the text is not empty, the separator precedes the new part. The
 * text is cut off at the end of buf. */
void fbp_text_add(char *buf, size_t n, const char *separator, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/** Format a path, and store it in *out (malloc'ed).  If base is not NULL, a relative path is joined
 * to the folder of the file `base`. */
fbp_status fbp_scan_path(char **out, const char *base, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/** Add an assumption to the scan: a value that `file` does not contain; value may be NULL. */
fbp_status fbp_scan_assume(struct fbp_scan *scan, const char *file, const char *key,
                           const char *value, const char *why);
/** Append one note. */
fbp_status fbp_scan_note(struct fbp_scan *scan, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/** Append "FILE: KEY = VALUE is not applied; REMEDY" to the notes of the scan. */
fbp_status fbp_scan_note_ignored(struct fbp_scan *scan, const char *file, const char *key,
                                 const char *value, const char *remedy);

/** fbp_scan_free() is fbp_scan_clear(), and fbp_scan_settle() is fbp_scan_confirm(), without the
 * check of struct_size. */
void fbp_scan_free(struct fbp_scan *scan);
void fbp_scan_settle(struct fbp_scan *scan, const char *key);

/** Append a file to the list of files from which the scan was read. */
fbp_status fbp_scan_add_file(struct fbp_scan *scan, const char *path);

/** Get all files from which a scan is read. projections: the scan's open projections, or NULL. */
fbp_status fbp_scan_inputs(struct fbp_inputs *out, const struct fbp_scan *scan,
                           const struct fbp_source *projections);

/* scan.c: images of a scan that are in memory, not in files */

enum { FBP_IMAGES = FBP_IMAGE_LAST + 1 };

struct fbp_images {
    /** Images, index enum fbp_image: [row][column] of the stored panel, in the row order of the
     * stored views; NULL: no such image in memory. */
    double *pixels[FBP_IMAGES];
    struct fbp_panel panel; /**< size of all images */
};

/** Image of a scan in memory; NULL: none. */
const double *fbp_scan_image(const struct fbp_scan *scan, enum fbp_image which);
/** True if the scan has the image `which`, in memory or in a file. */
bool fbp_scan_has_image(const struct fbp_scan *scan, enum fbp_image which);
/** True if the images in memory have the size of the panel. */
bool fbp_images_fit(const struct fbp_images *images, const struct fbp_panel *panel);
/** Name of an image: "dark", "flat", "bad_pixels". */
const char *fbp_image_name(enum fbp_image which);

fbp_status fbp_images_copy(struct fbp_images **out, const struct fbp_images *images);
void fbp_images_free(struct fbp_images *images);

/* corrections.c: corrections of measured views */

/** Limits of ring removal. */
enum {
    FBP_RING_VIEWS_LEAST = 16,  /**< Least number of views for methods other than wavelet. */
    FBP_RING_COLUMNS_LEAST = 8, /**< Least number of columns for these methods. */
    /** Least number of views and of columns for ring removal by wavelets: a margin of 2 at each end
       makes 32 samples, which one level halves to 16 or more. */
    FBP_RING_WAVELET_LEAST = 28,
    FBP_RING_LEVELS_MOST = 24, /**< Greatest number of wavelet levels. */
    FBP_RING_WAVELETS = 20     /**< Wavelets db1 to db20. */
};

/** Open the stored views of a scan, its projections, as [view][row][column] (scan.c). */
fbp_status fbp_scan_open_views(fbp_source **out, const struct fbp_scan *scan);

/** Get the corrections of a scan; all members are 0 if it has none. */
fbp_status fbp_corrections_of(const struct fbp_scan *scan, struct fbp_corrections *out);

/** Check the corrections for a scan; file: path that begins the messages. */
fbp_status fbp_corrections_check(const char *file, const struct fbp_corrections *c,
                                 const struct fbp_scan *scan);

/** Return whether ring removal or phase retrieval is requested.  They need whole sinograms or whole
 * views (pipeline/corrections.c). */
bool fbp_corrections_need_prepass(const struct fbp_corrections *c);

/** True if no correction is requested. */
bool fbp_corrections_none(const struct fbp_corrections *c);

/** Name of a method of ring removal, such as "sorting". */
const char *fbp_ring_removal_name(enum fbp_ring_removal method);

/** Number of beam-hardening coefficients up to the last one that is not 0. */
size_t fbp_corrections_terms(const struct fbp_corrections *c);

/** Describe the beam hardening: "beam hardening 1 p + 0.05 p^2"; "": no correction. */
void fbp_corrections_describe(const struct fbp_corrections *c, char *buf, size_t n);

/** Get the least line integral in [0, most] at which the polynomial of beam hardening begins to
 * decrease; 0: none. */
double fbp_corrections_turn(const struct fbp_corrections *c, double most);

/* preparation.c: steps that convert stored spectra to plane integrals (EPR imaging) */

/** Precession frequency of an electron [MHz/G]. */
static const double FBP_MHZ_PER_GAUSS = 2.8025;

/** Positions of the n samples of a row: sample i is at first + step i. The unit depends on the
 * data. */
struct fbp_axis {
    size_t n;
    double first, step;
};

/** Copy preparation steps with their strings, without `places`; *out is NULL if p is NULL. */
fbp_status fbp_preparation_copy(struct fbp_preparation **out, const struct fbp_preparation *p);
void fbp_preparation_free(struct fbp_preparation *p);

/** Check preparation steps for rows of n samples; file: path that begins the messages. */
fbp_status fbp_preparation_check(const char *file, const struct fbp_preparation *p, size_t n);

/** Get the axis of samples at the positions v[n], called `name` in messages. If the steps are
 * unequal, p (which may be NULL) must request resampling, and p->places is set to a copy of v. */
fbp_status fbp_preparation_places(const char *file, const char *name, struct fbp_preparation *p,
                                  const double *v, size_t n, struct fbp_axis *out);

/** Replace the axis of stored rows by that of rows after the preparation steps: mm, or MHz after an
 * FFT. */
fbp_status fbp_preparation_axis(const char *file, const struct fbp_preparation *p,
                                struct fbp_axis *axis);

/** Extend the hash h by all preparation steps except the profile; returns h if p is NULL. */
uint64_t fbp_preparation_hash(uint64_t h, const struct fbp_preparation *p);

/** Describe preparation steps: "baseline of order 1, phase determined for each view"; "" if p is
 * NULL. */
void fbp_preparation_describe(const struct fbp_preparation *p, char *buf, size_t n);

/* reduce.c: fewer views and larger pixels than stored, fbp_scan_reduce() */

/** Reduction of a scan: every n-th view or a selection of views is used, and each pixel is the mean
 * of bin[0] x bin[1] stored pixels. */
struct fbp_reduction {
    size_t every; /**< Every n-th view is read. */
    /** [n_views] stored views that are read, which belong to the scan; NULL: every n-th view. */
    const size_t *selected;
    size_t n_views; /**< Number of views that are read. */
    size_t bin[2];  /**< Stored columns and rows per pixel. */
    /** First stored column, and first stored row from the bottom, that are used. */
    size_t first[2];
    struct fbp_panel stored, panel;
};

/** Get the reduction of a scan; a scan that is not reduced has a reduction that changes nothing. */
void fbp_reduction_of(const struct fbp_scan *scan, struct fbp_reduction *out);

/** Number of the stored view that is view k of the scan. */
static inline size_t fbp_stored_view(const struct fbp_scan *scan, size_t k)
{
    return scan->selected ? scan->selected[k] : scan->every ? k * scan->every : k;
}

/** True if a reduction leaves out views or averages pixels. */
bool fbp_reduces(const struct fbp_reduction *r);
/** True if a reduction averages pixels. */
bool fbp_reduction_joins(const struct fbp_reduction *r);

/** Describe a reduction in one sentence, with the numbers of unused columns and rows. */
void fbp_reduction_describe(const struct fbp_reduction *r, size_t stored_views, char *buf,
                            size_t n);

/**
 * Open a source of the reduced views, which wraps a source of the stored views.
 *
 * bad    [row][column] of the stored panel, rows bottom-up; nonzero pixels are excluded from means.
 *        NULL: no pixel is bad. Must outlive the source.
 * below  the stored views, whose images begin with the top row if top_down. Must outlive *out.
 * owned  closing *out, or a failure, also closes `below`
 */
fbp_status fbp_source_reduce(fbp_source **out, fbp_source *below, const struct fbp_reduction *r,
                             bool top_down, const unsigned char *bad, bool owned);

/** Reduce an image of the stored panel in place, rows bottom-up: means of the good pixels; 0 for
 * blocks without good pixels. */
void fbp_reduce_image(const struct fbp_reduction *r, const unsigned char *bad, double *image);
/** Reduce a mask of bad pixels in place: a pixel is bad if all its stored pixels are bad. */
void fbp_reduce_mask(const struct fbp_reduction *r, unsigned char *bad);

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
bool fbp_scan_remark(const struct fbp_scan *scan, const struct fbp_geometry_facts *facts,
                     const struct fbp_grid *volume, size_t i, char *buf, size_t n);

/**
 * Check whether `file` must not be written because it is an input file of the scan, or would become
 * one.  `file` may be a pattern such as "out/%04d.png".  Input files are the scan file, the files
 * of its geometry, of its arrays and of their samples, and links to these files.
 *
 * @return true if so; also true, with an fbp_message(), if there is no memory or a folder cannot be
 *         read
 */
bool fbp_scan_reads(const struct fbp_scan *scan, const char *file);

/** Write one sentence that lists all guessed facts to buf[n], for a warning.  Returns the number of
 *  guesses (0: buf is ""). */
size_t fbp_scan_assumed(const struct fbp_scan *scan, char *buf, size_t n);

/** Return kind, panel and views of a scan as the struct that fbp_views_facts() and other functions
 *  take.  The views still belong to the scan. */
struct fbp_views fbp_scan_views(const struct fbp_scan *scan);

/**
 * Parse the value of fbp recon --prepare, such as "baseline=1,phase=all" (docs/epr.md).
 *
 * @param[out] out  free out->profile with free()
 * @return FBP_ERR_INVALID (the message names the step and the expected value), FBP_ERR_NOMEM.
 */
fbp_status fbp_preparation_parse(const char *text, struct fbp_preparation *out);

#endif /* FBP_SRC_SCAN_FILE_SCAN_H */
