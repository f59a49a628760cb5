/** @file links.h  Measured transfer rates between the memories of the host and of devices.
 * Included by links/command.c. */
#ifndef FBP_BENCH_LINKS_LINKS_H
#define FBP_BENCH_LINKS_LINKS_H

#include "fbp/recon.h"

#include "backend/backend.h"
#include "pipeline/division.h"

FBP_BEGIN

/** Names of some devices, and the rates of the links between them. */
struct fbp_links_report {
    struct fbp_links links;
    struct fbp_device_info devices[FBP_MOST_LINKED];
    struct fbp_peer peers[FBP_MOST_LINKED][FBP_MOST_LINKED];
    double seconds; /**< that the measurement took */
};

/**
 * Measure the links of devices, and keep the rates for plans of several devices, as
 * ${XDG_CACHE_HOME:-~/.cache}/fbp/links.  Takes some 50 ms a device, and as long as it takes to
 * start the devices.
 *
 * device  as in fbp_recon_params, each device once: "cuda:0,1", "cuda:all"
 * out     is filled
 * @return FBP_OK, FBP_ERR_UNSUPPORTED (devices without links), FBP_ERR_INVALID (no such device, one
 *         twice, more than FBP_MOST_LINKED), FBP_ERR_NOMEM, FBP_ERR_DEVICE.
 */
FBP_MUST_CHECK fbp_status fbp_bench_links(const char *device, struct fbp_links_report *out);

FBP_END

#endif /* FBP_BENCH_LINKS_LINKS_H */
