/** @file bridge.h  From which good pixels a bad one is interpolated (internal). */
#ifndef FBP_SRC_BRIDGE_H
#define FBP_SRC_BRIDGE_H

#include "prep/prep.h"

/** Fill in bridges and margin_rows.  bad: [row][column], non-zero = bad. */
fbp_status fbp_bridges_find(struct fbp_prep *prep, const unsigned char *bad);

#endif /* FBP_SRC_BRIDGE_H */
