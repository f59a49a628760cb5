/** @file scan_parts.h  The parts a scan is read and written by (internal). */
#ifndef FBP_SRC_SCAN_PARTS_H
#define FBP_SRC_SCAN_PARTS_H

#include "fbp/scan.h"
#include "io/scan_json.h"

/** A scan file being read. */
struct fbp_scan_file {
    struct fbp_json top, detector; /**< detector.object may be NULL */
    size_t n[3];                   /**< columns, rows, views that the projections hold */
    struct fbp_scan *scan;         /**< what is known so far */
    bool growing;                  /**< the projections may still be being written */
};

/** scan->views from distances and angles, or from matrices; kind and panel are known. */
fbp_status fbp_scan_read_views(const struct fbp_scan_file *f);

/** scan->volume; views are known. */
fbp_status fbp_scan_read_volume(const struct fbp_scan_file *f);

/** malloc'ed name of `path` in a scan file at `scan_path`: relative if it lies in or below the
 *  scan's folder, else absolute; NULL when out of memory. */
char *fbp_scan_relative(const char *scan_path, const char *path);

#endif /* FBP_SRC_SCAN_PARTS_H */
