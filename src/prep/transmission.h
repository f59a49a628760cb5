/** @file transmission.h  What is left of the unattenuated intensity (internal; pure). */
#ifndef FBP_SRC_TRANSMISSION_H
#define FBP_SRC_TRANSMISSION_H

#include <float.h>
#include <stdbool.h>
#include <stddef.h>

/** Of a sample x, (x - dark) gain, at least 1e-6, to which less is clipped and counted; 1 for a bad
 *  pixel, of gain 0, which is bridged later. */
static inline float fbp_transmission(float x, float dark, float gain, bool has_gain,
                                     size_t *clipped)
{
    const float least = 1e-6f;
    float t = (x - dark) * gain;

    if (has_gain && gain == 0)
        t = 1;
    if (t < least && t >= -FLT_MAX) { /* not -inf, which is mended later */
        t = least;
        ++*clipped;
    }
    return t;
}

#endif /* FBP_SRC_TRANSMISSION_H */
