/** @file error.h  What a precision costs, on filtered views of a phantom (internal). */
#ifndef FBP_BENCH_COMMON_ERROR_H
#define FBP_BENCH_COMMON_ERROR_H

#include "fbp/recon.h"

/**
 * Reconstruct a few slices above the middle of the scan's volume from a head phantom of water
 * (0.02/mm) as `params` say, and by kernel `matrix` of precision exact on the same device, or if
 * that cannot, by device ref.
 *
 * rmse_hu  of their difference, in HU of water
 * psnr_db  the peak being the largest value of the exact one; 999 when equal
 * @return as fbp_plan_create() and fbp_plan_run().
 */
fbp_status fbp_bench_error(const struct fbp_scan *scan, const struct fbp_recon_params *params,
                           double *rmse_hu, double *psnr_db);

#endif /* FBP_BENCH_COMMON_ERROR_H */
