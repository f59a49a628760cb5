/** @file epr_table.h  Phantoms by name that ellipsoids about z cannot make (internal). */
#ifndef FBP_SRC_PHANTOM_EPR_TABLE_H
#define FBP_SRC_PHANTOM_EPR_TABLE_H

#include "fbp/phantom.h"

/** Name i from 0; NULL beyond the last. */
const char *fbp_epr_table_name(size_t i);

/** Phantom i in a cube of half side h; cleared by the caller, on failure, too. */
FBP_MUST_CHECK fbp_status fbp_epr_table_create(struct fbp_phantom *out, size_t i, double h,
                                               double scale);

#endif /* FBP_SRC_PHANTOM_EPR_TABLE_H */
