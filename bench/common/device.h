/** @file device.h  The device that a benchmark was asked for (internal). */
#ifndef FBP_BENCH_COMMON_DEVICE_H
#define FBP_BENCH_COMMON_DEVICE_H

#include "backend/backend.h"

/** The backend of a name ("auto" or NULL: the first that can be used), loaded and with a device; or
 *  FBP_ERR_INVALID. */
fbp_status fbp_bench_device(const char *name, const struct fbp_backend **out);

#endif /* FBP_BENCH_COMMON_DEVICE_H */
