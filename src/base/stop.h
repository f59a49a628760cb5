/** @file stop.h  The flag that ends every running call of this process (internal). */
#ifndef FBP_SRC_STOP_H
#define FBP_SRC_STOP_H

#include "base/status.h"

/** Was fbp_stop() called? */
bool fbp_stopped(void);

/** FBP_OK, or FBP_ERR_CANCELLED if fbp_stop() was called.  Cheap enough for every block of a loop.
 */
fbp_status fbp_go_on(void);

#endif /* FBP_SRC_STOP_H */
