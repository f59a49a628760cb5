/* Plane integrals along one direction a view, as EPR imaging measures them.  Every call refuses
 * this kind by its name, until the table has its functions and loses the refusal. */
#include "geometry/kind.h"

const struct fbp_kind_table fbp_kind_planes = {
    .name = "planes",
    .refused = "EPR imaging is not in this release",
    .integral = FBP_OVER_PLANES,
    .has_source = false,
};
