/** @file simulate_planes.h  Views of plane integrals, for the command simulate. */
#ifndef FBP_CLI_SIMULATE_PLANES_H
#define FBP_CLI_SIMULATE_PLANES_H

#include "simulate.h"

/** The directions of --directions, --order and --pole: unit vectors, free(*out).  A failure has a
 *  message (fbp_message()). */
fbp_status simulate_directions(const struct simulate_args *args, double (**out)[3], size_t *n);

/** Usage: what goes with plane integrals and what with lines.  @return OPT_GO_ON or a status. */
int simulate_check_planes(const struct command *self, const struct simulate_args *args);

#endif /* FBP_CLI_SIMULATE_PLANES_H */
