/** @file hold.h  Views that can only be read in order, held in memory once they are unpacked
 * (internal).
 */
#ifndef FBP_SRC_HOLD_H
#define FBP_SRC_HOLD_H

#include "array/file/growing.h"

/** Memory that fbp_source_hold() takes beside `below`'s own. */
uint64_t fbp_hold_bytes(const fbp_source *below);

/**
 * A source on top of one that is read in order, each view once: views stay as they are stored, and
 * are read from memory in any order, by any number of threads.
 *
 * below: must outlive *out; owned: it is closed with it, also if this fails
 */
fbp_status fbp_source_hold(fbp_source **out, fbp_source *below, bool owned);

/**
 * Unpack views [0, n) now; reading does what is missing.  Returns at once of other sources.
 *
 * idle: called every few hundredths of a second; may be NULL
 * @return FBP_ERR_CANCELLED by `idle`, or what reading gives
 */
fbp_status fbp_hold_fill(fbp_source *src, size_t n, fbp_idle_fn *idle, void *user);

#endif /* FBP_SRC_HOLD_H */
