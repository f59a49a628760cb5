/** @file frames.h  Series of volumes in one array: frames, the slowest axis (internal).
 *
 * An array has three sizes here, whatever it is of: a series is one of n[2] / frames slices a
 * volume, the first volume's first.  Headers of formats tell four sizes.
 */
#ifndef FBP_SRC_FRAMES_H
#define FBP_SRC_FRAMES_H

#include "fbp/array.h"

#include "base/base.h"

#include <stdint.h>

/** Volumes of an array: 1 if it is no series. */
static inline size_t fbp_array_frames(const struct fbp_array_info *info)
{
    return info->frames > 1 ? info->frames : 1;
}

/** Slices of each of them. */
static inline size_t fbp_frame_slices(const struct fbp_array_info *info)
{
    return info->n[2] / fbp_array_frames(info);
}

/** An array of n[2] slices becomes a series of so many. */
static inline fbp_status fbp_frames_take(const char *path, struct fbp_array_info *info,
                                         uint64_t frames)
{
    if (frames > SIZE_MAX || __builtin_mul_overflow(info->n[2], (size_t)frames, &info->n[2]))
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: %llu volumes are more than can be counted: the header is damaged",
                        path, (unsigned long long)frames);
    info->frames = frames > 1 ? (size_t)frames : 0;
    return FBP_OK;
}

#endif /* FBP_SRC_FRAMES_H */
