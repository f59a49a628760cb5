/** @file devices.h  From "name:0,2" to a backend and its devices (internal). */
#ifndef FBP_SRC_DEVICES_H
#define FBP_SRC_DEVICES_H

#include "backend/backend.h"

enum { FBP_MOST_DEVICES = 64 };

/** "name", "name:0,2" or "name:all": devices[FBP_MOST_DEVICES] gets the indices, one if the text
 *  names none. */
fbp_status fbp_devices_find(const char *text, const struct fbp_backend **backend, int *devices,
                            size_t *n_devices);

/** The same, of those that are listed: of what they are used for they may do less, or more. */
fbp_status fbp_devices_listed(const char *text, const struct fbp_backend **backend, int *devices,
                              size_t *n_devices);

/** The first device of a list of backends (ended by NULL) that `auto` may take; NULL: there is
 * none. */
const struct fbp_backend *fbp_device_first(const struct fbp_backend *const *list, int *index);

/**
 * If the backend has no way to compute this job: take the next of the list that has, and a device
 * that `auto` may take.  If there is none, the backend stays, and fails.
 *
 * line  gets a sentence about both; "" if the backend stays
 */
void fbp_device_capable(const struct fbp_backend *const *list, const struct fbp_job *job,
                        const struct fbp_backend **backend, int *device, char *line, size_t n);

/** Most of what is free of a device's own memory; 0: not known, or it is the host's. */
uint64_t fbp_device_free(const struct fbp_backend *backend, int index);

#endif /* FBP_SRC_DEVICES_H */
