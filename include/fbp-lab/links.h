/** @file links.h  How fast bytes go between the memory of the host and of devices, measured. */
#ifndef FBP_BENCH_LINKS_H
#define FBP_BENCH_LINKS_H

#include "fbp/recon.h"

#include <stdbool.h>

FBP_BEGIN

/** Devices whose links are measured together. */
enum { FBP_MOST_LINKED = 16 };

/** Bytes a second between the host's memory and devices. */
struct fbp_link {
    double up;   /**< from the host to devices */
    double down; /**< from devices to the host */
    double both; /**< each way, if both are used at once */
};

/** Rates of the links of n devices, in bytes a second; 0: not known.  The host's memory is pinned,
 *  and was touched before.  Devices are numbered in the order in which they were given. */
struct fbp_links {
    size_t n;
    struct fbp_link alone[FBP_MOST_LINKED]; /**< of one device, while the others rest */
    struct fbp_link together;               /**< of all devices at once, their sum */
    /** From memory of device i to that of device j, by copies that do not pass the host's memory;
     *  0: there are none.  i = j, or the same device twice: within its memory. */
    double peer[FBP_MOST_LINKED][FBP_MOST_LINKED];
    /** The same, each way, if i copies to j and j to i at once; 0 where i = j. */
    double peer_both[FBP_MOST_LINKED][FBP_MOST_LINKED];
    /** All at once, each to the next of the list and the last to the first: their sum; 0 if one of
     *  these pairs has no such copies, or there is only one device. */
    double ring;
};

/** What a device is told about another by its driver. */
struct fbp_peer {
    bool direct;  /**< copies need not pass the host's memory */
    bool atomics; /**< so do atomic operations: a sign of a link of its own, beside the bus */
    int rank;     /**< of the kinds of links of this machine; 0 is the fastest */
};

/** The links of some devices, and who they are. */
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
FBP_API FBP_MUST_CHECK fbp_status fbp_bench_links(const char *device, struct fbp_links_report *out);

FBP_END

#endif /* FBP_BENCH_LINKS_H */
