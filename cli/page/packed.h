/** @file packed.h  Samples of a page as 8, 16 or 32-bit numbers, compressed, as text; called by
 * viewer.c. */
#ifndef FBP_CLI_PACKED_H
#define FBP_CLI_PACKED_H

#include "page/markup.h"
#include "page/reduced.h"

/** value = scale * number + offset; `none`: number of a sample without finite value, -1: unused. */
struct packed_scale {
    double scale, offset;
    long none;
};

/**
 * Append the samples of a page as <script> elements that contain data, no script: class "samples",
 * the means, frame by frame in chunks of whole layers of bins; class "greatest", three planes of
 * greatest values per frame.
 *
 * A chunk is deflated (RFC 1950) and base64.  To make it smaller, 16-bit numbers are replaced by
 * differences from the sample on the left (mod 2^16), and the bytes of 16 and 32-bit numbers are
 * stored in planes, the lowest byte first.
 *
 * samples, greatest: receive the scales
 */
void packed_put(struct markup *page, const struct reduced *r, struct packed_scale *samples,
                struct packed_scale *greatest);

/** Greatest number of layers of bins per chunk. */
size_t packed_layers(const struct reduced *r);

#endif /* FBP_CLI_PACKED_H */
