/** @file packed.h  Samples of a page as numbers of 8, 16 or 32 bits, packed, as text. */
#ifndef FBP_CLI_PACKED_H
#define FBP_CLI_PACKED_H

#include "page/markup.h"
#include "page/reduced.h"

/** value = scale * number + offset; `none`: the number of what has no value, -1: there is none. */
struct packed_scale {
    double scale, offset;
    long none;
};

/**
 * The samples of a page as <script> elements that hold no script: class "samples", the means frame
 * by frame in chunks of whole layers of bins; class "greatest", for each frame three planes.
 *
 * A chunk is deflated (RFC 1950) and base64.  Before that, of numbers of 16 bits each row holds
 * differences from the sample on the left (mod 2^16), and numbers lie apart in planes of bytes, the
 * lowest first: both make them smaller.
 *
 * samples, greatest: get the scales
 */
void packed_put(struct markup *page, const struct reduced *r, struct packed_scale *samples,
                struct packed_scale *greatest);

/** Layers of bins that a chunk holds, at most. */
size_t packed_layers(const struct reduced *r);

#endif /* FBP_CLI_PACKED_H */
