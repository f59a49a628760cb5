/** @file team.h  Several processes of fbp recon that compute one volume (MPI). Rank 0 prints. */
#ifndef FBP_CLI_TEAM_H
#define FBP_CLI_TEAM_H

#include "fbp/team.h"

#include <stdbool.h>

/** If a launcher started this process together with others, join their team; from then on only rank
 * 0 prints. Returns 0 or an exit status. */
int team_start(void);

/** Fail if team_start() could not connect the processes that were started together, unless each
 * computes a part of its own (has_part: --part is given). Only the first process prints the error.
 * Returns 0 or an exit status. */
int team_check(bool has_part);

/** If Open MPI started several processes that all do the same work independently, let only the
 * first one print. */
void team_let_first_speak(void);

/** The team of this process; NULL: none. */
fbp_team *team_own(void);

/** Is this rank 0 of a team, and does the launcher (the parent process) print on a terminal? mpirun
 * forwards messages through a pipe, so isatty() is false in this process. */
bool team_has_terminal(void);

/** Is this rank 0, or a process without a team? */
bool team_is_first(void);

/** Wait for the other ranks at the end of the command, with exit status rc. Returns the exit
 * status: not 0 if any rank failed. One rank prints the error: rank 0 or, if rank 0 is lost, a
 * remaining rank. */
int team_end(int rc);

/** Free the team. Must be the last call, after all output: if a process is lost, MPI may end this
 * process here. */
void team_leave(void);

#endif /* FBP_CLI_TEAM_H */
