/** @file plane_filter.h  The filter of a scan of plane integrals (internal). */
#ifndef FBP_SRC_PLAN_PLANE_FILTER_H
#define FBP_SRC_PLAN_PLANE_FILTER_H

#include "fbp/recon.h"

#include "base/status.h"
#include "filter/filter.h"

/**
 * f^2 or what stands in its place, times the response of a file, divided by the scan's reference if
 * there is one, with the coefficients of splines merged into it if these are asked for.
 *
 * wide  rows that are filtered (struct fbp_job)
 * @return as fbp_parabola_design(), fbp_deconvolution_design(), fbp_spectra_load() and
 * fbp_filter_spline(); FBP_ERR_UNSUPPORTED for a circle with what it has not; FBP_ERR_IO.
 */
fbp_status fbp_plane_filter(struct fbp_filter_design *out, const struct fbp_scan *scan,
                            const struct fbp_recon_params *params, const struct fbp_panel *wide);

#endif /* FBP_SRC_PLAN_PLANE_FILTER_H */
