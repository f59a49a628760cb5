/** @file simulate_planes.h  Directions and option checks of fbp simulate --kind planes. */
#ifndef FBP_CLI_SIMULATE_PLANES_H
#define FBP_CLI_SIMULATE_PLANES_H

#include "simulate.h"

/** Directions of --directions, --order and --pole: n unit vectors, to be freed by the caller. Files
 * and sets leave a message in fbp_message() after a failure. */
fbp_status simulate_directions(const struct simulate_args *args, double (**out)[3], size_t *n);

/** Check options that apply only to plane integrals or only to line integrals.
 * @return OPT_GO_ON, or OPT_USAGE after an error was reported. */
int simulate_check_planes(const struct command *self, const struct simulate_args *args);

#endif /* FBP_CLI_SIMULATE_PLANES_H */
