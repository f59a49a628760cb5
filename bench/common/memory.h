/** @file memory.h  Ordinary reconstructions from memory to memory (internal). Called by bench
 * host and by the commands of the papers. */
#ifndef FBP_BENCH_COMMON_MEMORY_H
#define FBP_BENCH_COMMON_MEMORY_H

#include "fbp/recon.h"

/**
 * Reconstruct as params say, by a plan of its own.
 *
 * views  [n_views][n_rows][n_columns] of the scan; NULL: what params->input.source reads
 * out    the volume of the plan, [frame][z][y][x]
 * @return as fbp_plan_create() and fbp_plan_run_to().
 */
fbp_status fbp_bench_reconstruct(const struct fbp_scan *scan, const struct fbp_recon_params *params,
                                 const float *views, float *out);

/** A sink that stores the volume of a plan in memory, all frames one after another. */
fbp_status fbp_bench_sink(const fbp_plan *plan, float *out, fbp_sink **sink);

/** A sink that stores the volume of a plan in the memory of its device, all frames one after
 * another. */
fbp_status fbp_bench_device_sink(const fbp_plan *plan, float *out, fbp_sink **sink);

#endif /* FBP_BENCH_COMMON_MEMORY_H */
