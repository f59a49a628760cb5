/** @file params.h  A caller's parameters, looked at once (internal). */
#ifndef FBP_SRC_PARAMS_H
#define FBP_SRC_PARAMS_H

#include "fbp/recon.h"

#include "base/status.h"

/** What integers stand for in HU unless told: air to bone. */
static const double FBP_USUAL_HU_RANGE[2] = {-1000, 3000};

/** The caller's parameters (NULL: defaults) as this library's struct; FBP_ERR_INVALID names the
 *  field that is out of its range. */
fbp_status fbp_take_params(struct fbp_recon_params *own, const struct fbp_recon_params *given);

#endif /* FBP_SRC_PARAMS_H */
