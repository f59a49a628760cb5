/** @file spectra.h  The filter of spectra: the parabola divided by a reference (internal). */
#ifndef FBP_SRC_SPECTRA_H
#define FBP_SRC_SPECTRA_H

#include "fbp/recon.h"

#include "base/status.h"
#include "filter/filter.h"

/**
 * Read scan->reference, which has a number for each sample of a view, and design the filter.
 *
 * n_columns, oversampling  as in fbp_parabola_design()
 * @return FBP_ERR_INVALID: another number of samples, views whose samples do not all lie at the
 * same fields, a binned scan, and as fbp_deconvolution_design(); FBP_ERR_IO; FBP_ERR_NOMEM.
 */
fbp_status fbp_spectra_filter(struct fbp_filter_design *out, const struct fbp_scan *scan,
                              const struct fbp_recon_params *params, size_t n_columns,
                              size_t half_width, size_t oversampling);

#endif /* FBP_SRC_SPECTRA_H */
