/** @file scan_parts.h  The parts a scan is read and written by (internal). */
#ifndef FBP_SRC_SCAN_PARTS_H
#define FBP_SRC_SCAN_PARTS_H

#include "fbp/geometry_file.h"
#include "fbp/scan.h"
#include "scan/file/scan_json.h"
#include "scan/file/scan_notes.h"

/** A scan file being read. */
struct fbp_scan_file {
    struct fbp_json top, detector; /**< detector.object may be NULL */
    size_t n[3];                   /**< columns, rows, views that the projections hold */
    struct fbp_array_info info;    /**< of the projections, if they are named */
    struct fbp_scan *scan;         /**< what is known so far */
    bool growing;                  /**< the projections may still be being written */
    bool geometry_only;            /**< there need be no projections */
    double pitch_mm[2];            /**< given beside the file, and counts; 0: not */
    const struct fbp_preparation *preparation; /**< the same; NULL: nothing is given */
    /** fbp_geometry_read(): a geometry file that this one names may be a scan file again. */
    fbp_status (*load_geometry)(struct fbp_scan *out, const char *path, const char *format,
                                const struct fbp_geometry_known *known);
};

/** What the file says it assumes; its other keys are read. */
fbp_status fbp_scan_read_assumed(const struct fbp_scan_file *f);
/** Does the file say that it assumes this? */
bool fbp_scan_file_assumes(const struct fbp_scan_file *f, const char *key);
struct fbp_writer;
void fbp_scan_put_assumed(struct fbp_writer *w, const struct fbp_scan *scan);

/** scan->views from distances and angles, or from matrices; kind and panel are known. */
fbp_status fbp_scan_read_views(const struct fbp_scan_file *f);

/** The same of plane integrals: their views and weights; how many directions there are; the rule of
 *  eprit for places?  And a failure if a scan of lines has one of their keys. */
bool fbp_scan_has_planes(const struct fbp_scan *scan);
fbp_status fbp_scan_read_planes(const struct fbp_scan_file *f);
fbp_status fbp_scan_read_plane_weights(const struct fbp_scan_file *f);
fbp_status fbp_scan_count_planes(const struct fbp_scan_file *f, size_t *n);
/** scan->preparation of what the file and the caller ask for; NULL if that is nothing. */
fbp_status fbp_scan_read_preparation(const struct fbp_scan_file *f);
bool fbp_scan_is_eprit(const struct fbp_scan_file *f);
fbp_status fbp_scan_refuse_planes(const struct fbp_scan_file *f);

/** scan->corrections; kind and `filtered` are known. */
fbp_status fbp_scan_read_corrections(const struct fbp_scan_file *f);
void fbp_scan_put_corrections(struct fbp_writer *w, const struct fbp_scan *scan);

/** scan->volume; views are known. */
fbp_status fbp_scan_read_volume(const struct fbp_scan_file *f);

/** fbp_scan_load_known() into a struct of the library's own; known: whole, checked.  geometry_only:
 * a scan file need not name projections; the detector has columns and rows then, and views are in a
 *  list. */
fbp_status fbp_scan_load_own(struct fbp_scan *out, const char *path,
                             const struct fbp_scan_known *known, bool geometry_only);

/** The same of the text of a scan file at `path`, which need not be there. */
fbp_status fbp_scan_of_json(struct fbp_scan *out, const char *path, const cJSON *root,
                            const struct fbp_scan_known *known, bool geometry_only);

/** fbp_geometry_load() into a struct of the library's own. */
fbp_status fbp_geometry_read(struct fbp_scan *out, const char *path, const char *format,
                             const struct fbp_geometry_known *known);

/** All of a scan file into f->scan; f->top, what is known and load_geometry are set. */
fbp_status fbp_scan_read(struct fbp_scan_file *f);

/** As fbp_scan_save(), of a scan that may name no projections: the detector has columns and rows
 * then, and views are in a list. */
fbp_status fbp_scan_save_geometry(const struct fbp_scan *scan, const char *path);

/** malloc'ed name of `path` in a scan file at `scan_path`: relative if it lies in or below the
 *  scan's folder, else absolute; NULL when out of memory. */
char *fbp_scan_relative(const char *scan_path, const char *path);

#endif /* FBP_SRC_SCAN_PARTS_H */
