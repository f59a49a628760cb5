/** @file feed.h  What a feed (fbp-lab/feed.h) expects (internal). */
#ifndef FBP_SRC_PIPELINE_FEED_H
#define FBP_SRC_PIPELINE_FEED_H

#include "fbp-lab/feed.h"

/** A matrix for devices to choose layouts and shapes by before a view has come: one that shows the
 *  volume from side to side and from bottom to top, so that a voxel covers about as many pixels as
 *  it will. */
void fbp_feed_expect(const struct fbp_panel *panel, const struct fbp_grid *volume, double P[12]);

#endif /* FBP_SRC_PIPELINE_FEED_H */
