/** @file traces.h  Rows that a spectrometer has measured, as plane integrals (internal). */
#ifndef FBP_SRC_TRACES_H
#define FBP_SRC_TRACES_H

#include "array/file/format.h"
#include "fbp/scan.h"

/**
 * A source of the rows that scan->preparation makes of stored ones: [view][row][column] of the
 * scan's (stored) panel, float64 where the file has that, else float32.  A phase of all views is
 * found here: they are read once.
 *
 * below: the scan's projections, opened, which *out owns, and closes also on failure
 */
fbp_status fbp_traces_open(fbp_source **out, fbp_source *below, const struct fbp_scan *scan);

#endif /* FBP_SRC_TRACES_H */
