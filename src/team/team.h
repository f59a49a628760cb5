/** @file team.h  Processes that compute one volume together, from inside (internal).
 *
 * All that they say to each other is made of messages from one process to another (struct
 * fbp_team_functions), so that it is the same whoever carries them.  A thread listens.  Rank 0
 * hears what all others say at a meeting, and tells the verdict.  Who has failed is heard at once,
 * and everybody is told to stop; who is silent for too long is lost.
 */
#ifndef FBP_SRC_TEAM_H
#define FBP_SRC_TEAM_H

#include "fbp/team.h"

#include <stdatomic.h>
#include <stdbool.h>

/** Where this process runs: how many of the team run on this host, and the number of this one. */
size_t fbp_team_local_rank(const fbp_team *team);
size_t fbp_team_local_size(const fbp_team *team);
/** Does another one run on this host, too? */
bool fbp_team_is_local(const fbp_team *team, size_t rank);

/** fbp_team_meet() where each process brings n bytes: all[size][n] gets those of all in the order
 *  of ranks. */
fbp_status fbp_team_gather(fbp_team *team, const char *where, fbp_status status, const void *mine,
                           size_t n, void *all);
/** The same, where rank 0 alone gets them. */
fbp_status fbp_team_collect(fbp_team *team, const char *where, fbp_status status, const void *mine,
                            size_t n, void *all);
/** The same, where data[n] of rank 0 become everybody's. */
fbp_status fbp_team_share(fbp_team *team, const char *where, fbp_status status, void *data,
                          size_t n);

/** "rank 2 on HOST" into buf; returns buf. */
char *fbp_team_name(const fbp_team *team, size_t rank, char *buf, size_t n);

/** *flag is set as soon as another process fails; NULL: no more.  One at a time. */
void fbp_team_stops(fbp_team *team, atomic_bool *flag);

/** How far this process is, for rank 0, which alone asks for the sum of all: FBP_TEAM_TOLD numbers.
 */
enum { FBP_TEAM_TOLD = 4 };
void fbp_team_tell(fbp_team *team, const uint64_t values[FBP_TEAM_TOLD]);
void fbp_team_told(fbp_team *team, uint64_t sum[FBP_TEAM_TOLD]);

/**
 * Data go from one process to another in pieces that were asked for, in their order: nobody holds
 * what nobody wants yet.  These calls fail with FBP_ERR_CANCELLED as soon as a process of the team
 * has failed.  Those that are given and those that are offered do not know of each other.
 *
 * Give the next piece; one thread at a time.
 */
fbp_status fbp_team_give(fbp_team *team, size_t to, const void *data, size_t n);
/** Ask for n bytes; to[n] is theirs until fbp_team_taken() has returned. */
fbp_status fbp_team_ask(fbp_team *team, size_t from, void *to, size_t n);
fbp_status fbp_team_taken(fbp_team *team, size_t from);

/** Tell rank 0 of a piece, which z and n describe, and give it when it is asked for; from several
 *  threads at once.  data NULL: there is none. */
fbp_status fbp_team_offer(fbp_team *team, uint64_t z, uint64_t n, const void *data, size_t bytes);
/** Rank 0 waits to be told of the next one, and takes it. */
fbp_status fbp_team_offered(fbp_team *team, size_t *from, uint64_t *z, uint64_t *n);
fbp_status fbp_team_accept(fbp_team *team, size_t from, void *to, size_t n);

#endif /* FBP_SRC_TEAM_H */
