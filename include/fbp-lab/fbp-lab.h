/** @file fbp-lab.h  What measures and compares: benchmarks, the papers' scenarios, RabbitCT, single
 *  views.  Not part of the stable interface. */
#ifndef FBP_LAB_FBP_LAB_H
#define FBP_LAB_FBP_LAB_H

#include "fbp-lab/bench.h"
#include "fbp-lab/feed.h"
#include "fbp-lab/rabbitct.h"
#include "fbp-lab/s1.h"

#endif /* FBP_LAB_FBP_LAB_H */
