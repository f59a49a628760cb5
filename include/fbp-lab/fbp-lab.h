/** @file fbp-lab.h  What measures and compares: benchmarks, the papers' scenarios, RabbitCT, single
 *  views.
 *
 * Not part of the stable interface: libfbp_lab.so has the whole release in its name for the loader,
 * so that a program which was built with other headers does not start.  Its own parameters begin
 * with a size as everywhere, its results do not. */
#ifndef FBP_LAB_FBP_LAB_H
#define FBP_LAB_FBP_LAB_H

#include "fbp-lab/bench.h"
#include "fbp-lab/feed.h"
#include "fbp-lab/rabbitct.h"
#include "fbp-lab/s1.h"

#endif /* FBP_LAB_FBP_LAB_H */
