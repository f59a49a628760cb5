/** @file team.h  Several processes of the command that compute together. */
#ifndef FBP_CLI_TEAM_H
#define FBP_CLI_TEAM_H

#include "fbp/team.h"

#include <stdbool.h>

/** Was this process started with others?  Then they meet, and rank 0 alone speaks from here on.
 *  Returns 0 or an exit status. */
int team_start(void);

/** Whoever has no part of his own, but others that he cannot talk to, fails; the first of them says
 *  so.  Returns 0 or an exit status. */
int team_check(bool has_part);

/** Of processes that Open MPI has started together, and that all do the same alone, the first one
 *  speaks. */
void team_let_first_speak(void);

/** This process's team; NULL: it is alone. */
fbp_team *team_own(void);

/** Is what this process prints shown on a terminal by who started it and the others?  mpirun hands
 *  their messages on through a pipe. */
bool team_has_terminal(void);

/** Does this process speak from the start? */
bool team_is_first(void);

/** The command has ended like this; waits for the others.  Returns the exit status: what went wrong
 *  in another process is said, once; by one of those that are left, if rank 0 is lost. */
int team_end(int rc);

/** The last call, when all is said: with a process lost, MPI may end this one. */
void team_leave(void);

#endif /* FBP_CLI_TEAM_H */
