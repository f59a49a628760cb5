/** @file team.h Several processes of fbp recon that compute one volume together (MPI): functions
 * that join them to a team, let only rank 0 print, and wait for all at the end. Implemented in
 * team.c.
 * Used by: cli/. */
#ifndef FBP_CLI_TEAM_H
#define FBP_CLI_TEAM_H

#include "fbp/team.h"

#include <stdbool.h>

/** Join the team of processes that a launcher such as mpirun started, if any; from then on only
 * rank 0 prints. Returns 0 or an exit status. */
int team_start(void);

/** Fail if team_start() could not connect the processes of the launcher, unless each computes a
 * part (--part). If the launcher is not that of Open MPI or PMIx, and PMI_RANK or SLURM_PROCID is
 * set, only the first process prints the error. Returns the exit status. */
int team_check(bool has_part);

/** Let only the first process print (rank in PMIX_RANK, which Open MPI sets), if several processes
 * do the same work independently, as in `fbp plan`. */
void team_let_first_speak(void);

/** Get the team of processes to which this process belongs; NULL: it is alone. */
fbp_team *team_own(void);

/** True if this is rank 0 of a team whose launcher (the parent process) prints on a terminal.
 * mpirun forwards messages through a pipe, so isatty() is false in this process. */
bool team_has_terminal(void);

/** True if this process is rank 0 of its team, or has no team. */
bool team_is_first(void);

/** At the end of the command with status rc, wait for the other ranks. Returns the exit status, not
 * 0 if any rank failed. Rank 0, or another if it is lost, prints the error. */
int team_end(int rc);

/** Free the team, after all output: MPI may end this process if another is lost. */
void team_leave(void);

#endif /* FBP_CLI_TEAM_H */
