/** @file links.h  What the machine gives between memories: measured once, and kept (internal). */
#ifndef FBP_SRC_LINKS_H
#define FBP_SRC_LINKS_H

#include "fbp-lab/links.h"

#include "backend/backend.h"

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
FBP_PRIVATE_API fbp_status fbp_links_measure(const struct fbp_backend *backend, const int *devices,
                                             size_t n, struct fbp_links *out);

#endif /* FBP_SRC_LINKS_H */
