/** @file called.h  Functions of the caller's that give views and take slices (internal). */
#ifndef FBP_SRC_CALLED_H
#define FBP_SRC_CALLED_H

#include "base/base.h"

/** Room for the sentence of a function that fails. */
enum { FBP_WHY_BYTES = 512 };

/** What the result of a function of the caller's stands for: FBP_OK; FBP_ERR_CANCELLED if the call
 *  that it works for is to end; else FBP_ERR_IO and why. */
fbp_status fbp_called_status(int result, const char *what, const char *why);

#endif /* FBP_SRC_CALLED_H */
