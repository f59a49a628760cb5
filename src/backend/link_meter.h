/** @file link_meter.h  How a backend measures what goes between memories (internal).
 *
 * The member `links` of a backend points to one of these.  It measures any set of
 * copies that run at once; which sets are of interest is said in pipeline/links.c, for all backends.
 */
#ifndef FBP_SRC_LINK_METER_H
#define FBP_SRC_LINK_METER_H

#include "base/base.h"

enum { FBP_HOST = -1 };

/** Devices whose links are measured together. */
enum { FBP_MOST_LINKED = 16 };

/** What a device is told about another by its driver. */
struct fbp_peer {
    bool direct;  /**< copies need not pass the host's memory */
    bool atomics; /**< so do atomic operations: a sign of a link of its own, beside the bus */
    int rank;     /**< of the kinds of links of this machine; 0 is the fastest */
};

/** Copies of one size, from the memory of a device, by its place in the list of devices, to that of
 *  another; or from or to FBP_HOST, memory near the other end. */
struct fbp_flow {
    int from, to;
};

struct fbp_link_meter {
    /** Memory that `open` takes for each device, of the host and of its own. */
    size_t host_bytes, device_bytes;
    /** What tells this device, and where it is, from others, and its driver: no tabs or line ends.
     *  False: it is not known. */
    bool (*identify)(int index, char *out, size_t n);
    /** What its driver says about copies from one device to another. */
    void (*peer)(int from, int to, struct fbp_peer *out);

    /** Get devices ready, each once.  NULL on failure. */
    fbp_status (*open)(void **out, const int *devices, size_t n);
    void (*close)(void **meter);
    /** Get direct copies ready.  False: there are none, or they do not carry what they should. */
    bool (*connect)(void *meter, size_t from, size_t to);
    /** Bytes a second of n flows at once, their sum.  Flows between devices are connected; no two
     *  leave the host for the same device, nor a device for the host, nor for devices. */
    fbp_status (*rate)(void *meter, const struct fbp_flow *flows, size_t n, double *out);
};

#endif /* FBP_SRC_LINK_METER_H */
