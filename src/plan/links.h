/** @file links.h  What the machine gives between memories: measured once, and kept (internal). */
#ifndef FBP_SRC_LINKS_H
#define FBP_SRC_LINKS_H

#include "backend/backend.h"
#include "backend/link_meter.h"

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

/** Memory that a measurement takes while it runs, of the host and of each device; 0: this backend
 *  has no links to measure. */
void fbp_links_bytes(const struct fbp_backend *backend, size_t n_devices, size_t *host,
                     size_t *device);

/**
 * The rates of these devices' links: those that are kept; or else, if `may_measure`, measured now,
 * which takes some 50 ms a device, and kept.
 *
 * devices  indices of the backend, [n]; a device may be there more than once
 * @return true; or false, with all rates 0, if they are not known: the backend has no links, there
 *         are more than FBP_MOST_LINKED devices, FBP_TUNE=0, or they cannot be measured, which is
 * no error and leaves no message.
 */
bool fbp_links_get(const struct fbp_backend *backend, const int *devices, size_t n,
                   bool may_measure, struct fbp_links *out);

/** Measure now, and keep it; each device once.  Fails with a message. */
fbp_status fbp_links_measure(const struct fbp_backend *backend, const int *devices, size_t n,
                             struct fbp_links *out);

#endif /* FBP_SRC_LINKS_H */
