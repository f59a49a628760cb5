/** @file devices.h  From "name:0,2" to a backend and its devices (internal). */
#ifndef FBP_SRC_DEVICES_H
#define FBP_SRC_DEVICES_H

#include "backend/backend.h"
#include "plan/rivals.h"

enum { FBP_MOST_DEVICES = 64 };

/** "name", "name:0,2" or "name:all": devices[FBP_MOST_DEVICES] gets the indices, one if the text
 *  names none. */
fbp_status fbp_devices_find(const char *text, const struct fbp_backend **backend, int *devices,
                            size_t *n_devices);

/** The same, of those that are listed: of what they are used for they may do less, or more. */
fbp_status fbp_devices_listed(const char *text, const struct fbp_backend **backend, int *devices,
                              size_t *n_devices);

/** The same; *how tells what `auto` took, and why. */
fbp_status fbp_devices_choose(const char *text, const struct fbp_backend **backend, int *devices,
                              size_t *n_devices, struct fbp_choice *how);

/** Most of what is free of a device's own memory; 0: not known, or it is the host's. */
uint64_t fbp_device_free(const struct fbp_backend *backend, int index);

#endif /* FBP_SRC_DEVICES_H */
