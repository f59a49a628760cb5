/** @file spectra.h  The reference of a scan of spectra (internal). */
#ifndef FBP_SRC_PLAN_SPECTRA_H
#define FBP_SRC_PLAN_SPECTRA_H

#include "fbp/recon.h"

#include "base/status.h"
#include "filter/parabola.h"

/**
 * Read scan->reference, which has a number for each sample of a view.
 *
 * out      without Wiener's term; uses *samples, which are to be freed
 * @return FBP_ERR_INVALID: another number of samples, views whose samples do not all lie at the
 * same fields, a binned scan; FBP_ERR_IO; FBP_ERR_NOMEM.
 */
fbp_status fbp_spectra_load(const struct fbp_scan *scan, struct fbp_reference *out,
                            double **samples);

#endif /* FBP_SRC_PLAN_SPECTRA_H */
