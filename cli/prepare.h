/** @file prepare.h  --prepare: the steps before plane integrals, as words. */
#ifndef FBP_CLI_PREPARE_H
#define FBP_CLI_PREPARE_H

#include "fbp/preparation.h"

#include <stddef.h>

/** "baseline=1,phase=all" and so on, to steps whose strings lie in room[n].  0, or an exit status,
 *  which has been said. */
int prepare_parse(const char *text, struct fbp_preparation *out, char *room, size_t n);

#endif /* FBP_CLI_PREPARE_H */
