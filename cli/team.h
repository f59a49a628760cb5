/** @file team.h Several processes of fbp recon that compute one volume together (MPI); only rank 0
 * prints. Used by cmd_recon.c, cmd_plan.c, progress.c and program.c; implemented in team.c.
 * Used by: cli/. */
#ifndef FBP_CLI_TEAM_H
#define FBP_CLI_TEAM_H

#include "fbp/team.h"

#include <stdbool.h>

/** Join the team of processes that a launcher such as mpirun started, if any; from then on only
 * rank 0 prints. Returns 0 or an exit status. */
int team_start(void);

/** Fail if team_start() could not connect the processes of the launcher, unless each computes a
 * part of its own (has_part: --part is given). Only the first process prints the error. Returns 0
 * or an exit status. */
int team_check(bool has_part);

/** If Open MPI started several processes that all do the same work independently, let only the
 * first process print. */
void team_let_first_speak(void);

/** Get the team of processes to which this process belongs; NULL: it is alone. */
fbp_team *team_own(void);

/** True if this is rank 0 of a team whose launcher (the parent process) prints on a terminal.
 * mpirun forwards messages through a pipe, so isatty() is false in this process. */
bool team_has_terminal(void);

/** True if this process prints: rank 0, or a process without a team. */
bool team_is_first(void);

/** At the end of the command with exit status rc, wait for the other ranks. Returns the exit
 * status, which is not 0 if any rank failed. Rank 0 prints the error; if rank 0 is lost, another
 * rank does. */
int team_end(int rc);

/** Free the team: the last call, after all output, because MPI may end this process in this call if
 * another process is lost. */
void team_leave(void);

#endif /* FBP_CLI_TEAM_H */
