/** @file private.h  What libfbp_lab may call inside libfbp (internal).
 *
 * Such functions are exported under the symbol version FBP_PRIVATE, which libfbp.map lists name by
 * name.  They are no part of the interface: libfbp and libfbp_lab are built and installed together.
 */
#ifndef FBP_SRC_PRIVATE_H
#define FBP_SRC_PRIVATE_H

#include "fbp/types.h"

#define FBP_PRIVATE_API FBP_API

#endif /* FBP_SRC_PRIVATE_H */
