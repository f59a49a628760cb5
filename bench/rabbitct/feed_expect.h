/** @file feed_expect.h  What a feed (bench/rabbitct/feed.h) expects (internal). */
#ifndef FBP_BENCH_RABBITCT_FEED_EXPECT_H
#define FBP_BENCH_RABBITCT_FEED_EXPECT_H

#include "bench/rabbitct/feed.h"

/** A matrix for devices to choose layouts and shapes by before a view has come: one that shows the
 *  volume from side to side and from bottom to top, so that a voxel covers about as many pixels as
 *  it will. */
void fbp_feed_expect(const struct fbp_panel *panel, const struct fbp_grid *volume, double P[12]);

#endif /* FBP_BENCH_RABBITCT_FEED_EXPECT_H */
