/** @file link_meter.h  Interface for measuring copy rates between memories of host and devices
 * (internal).
 *
 * fbp_backend.links points to a struct fbp_link_meter, which measures any set of simultaneous
 * copies.  pipeline/links.c calls it, decides which sets are measured, and stores the rates.
 */
#ifndef FBP_SRC_LINK_METER_H
#define FBP_SRC_LINK_METER_H

#include "base/base.h"

/** The host as an end of a copy. */
enum { FBP_HOST = -1 };

/** Greatest number of devices whose links are measured together. */
enum { FBP_MOST_LINKED = 16 };

/** Properties, reported by the driver, of copies from one device to another. */
struct fbp_peer {
    bool direct;  /**< copies need not pass through host memory */
    bool atomics; /**< the same for atomic operations, which indicates a link other than the bus */
    int rank;     /**< rank of this kind of link among those of the machine; 0: fastest */
};

/** Repeated copies in one direction.  An end is an index in the list of devices of open(), or
 *  FBP_HOST for host memory near the device at the other end.  All flows copy equal sizes. */
struct fbp_flow {
    int from, to;
};

struct fbp_link_meter {
    /** Bytes that open() allocates per device, in host memory and in device memory. */
    size_t host_bytes, device_bytes;
    /** Writes a text that identifies the device, its position in the machine and its driver,
     * without tabs and line ends.  Returns false if they are unknown. */
    bool (*identify)(int index, char *out, size_t n);
    /** Sets *out to what the driver reports about copies from one device to another. */
    void (*peer)(int from, int to, struct fbp_peer *out);

    /** Prepares n devices; no index of devices[n] may occur twice.  *out is NULL on failure. */
    fbp_status (*open)(void **out, const int *devices, size_t n);
    void (*close)(void **meter);
    /** Enables direct copies from one device to another.  Returns false if there are none, or if a
     *  test copy arrives with wrong values. */
    bool (*connect)(void *meter, size_t from, size_t to);
    /** Measures n simultaneous flows; *out: the sum of their rates in bytes per second.  Flows
     *  between devices need connect() first.  A device may occur in at most one flow from the host,
     *  one to the host, and one that leaves it for a device. */
    fbp_status (*rate)(void *meter, const struct fbp_flow *flows, size_t n, double *out);
};

#endif /* FBP_SRC_LINK_METER_H */
