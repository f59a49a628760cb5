/** @file scan_parts.h  The parts a scan is read and written by (internal). */
#ifndef FBP_SRC_SCAN_PARTS_H
#define FBP_SRC_SCAN_PARTS_H

#include "fbp/scan.h"
#include "scan/file/scan_json.h"

/** A scan file being read. */
struct fbp_scan_file {
    struct fbp_json top, detector; /**< detector.object may be NULL */
    size_t n[3];                   /**< columns, rows, views that the projections hold */
    struct fbp_array_info info;    /**< of the projections, if they are named */
    struct fbp_scan *scan;         /**< what is known so far */
    bool growing;                  /**< the projections may still be being written */
    bool geometry_only;            /**< there need be no projections */
    double pitch_mm[2];            /**< given beside the file, and counts; 0: not */
};

/** What the file says it assumes; its other keys are read. */
fbp_status fbp_scan_read_assumed(const struct fbp_scan_file *f);
/** Does the file say that it assumes this? */
bool fbp_scan_file_assumes(const struct fbp_scan_file *f, const char *key);
/** One fact more that `file` says is assumed, or does not say; value may be NULL. */
fbp_status fbp_scan_assume(struct fbp_scan *scan, const char *file, const char *key,
                           const char *value, const char *why);
/** One note more, behind those that there are. */
fbp_status fbp_scan_note(struct fbp_scan *scan, const char *note);
/** The note that a key of a file, which changes the result, is not applied. */
fbp_status fbp_scan_note_ignored(struct fbp_scan *scan, const char *file, const char *key,
                                 const char *value, const char *remedy);
/** As fbp_scan_clear() and fbp_scan_confirm(), of a struct of the library's own. */
void fbp_scan_free(struct fbp_scan *scan);
void fbp_scan_settle(struct fbp_scan *scan, const char *key);
/** A scan of the library's own into the caller's struct, which was checked: what that has no room
 *  for is freed. */
void fbp_scan_give(struct fbp_scan *out, const struct fbp_scan *own);
void fbp_scan_clear_assumed(struct fbp_scan *scan);
struct fbp_writer;
void fbp_scan_put_assumed(struct fbp_writer *w, const struct fbp_scan *scan);

/** scan->views from distances and angles, or from matrices; kind and panel are known. */
fbp_status fbp_scan_read_views(const struct fbp_scan_file *f);

/** scan->volume; views are known. */
fbp_status fbp_scan_read_volume(const struct fbp_scan_file *f);

/** As fbp_scan_load(), fbp_scan_save(), of a scan file that may name no projections: the detector
 * has columns and rows then, and views are in a list. */
fbp_status fbp_scan_load_geometry(struct fbp_scan *out, const char *path,
                                  const struct fbp_scan_known *known);
fbp_status fbp_scan_save_geometry(const struct fbp_scan *scan, const char *path);

/** malloc'ed name of `path` in a scan file at `scan_path`: relative if it lies in or below the
 *  scan's folder, else absolute; NULL when out of memory. */
char *fbp_scan_relative(const char *scan_path, const char *path);

#endif /* FBP_SRC_SCAN_PARTS_H */
