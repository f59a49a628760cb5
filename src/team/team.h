/** @file team.h  Processes that compute one volume together (internal).
 *
 * Processes exchange only messages from one to another (struct fbp_team_functions), which MPI or a
 * test transports.  A thread of each process receives them.  At a barrier rank 0 collects the
 * statuses of all ranks and sends the result back.  A rank that fails reports at once, and rank 0
 * tells all others to stop.  A rank that is silent for too long is lost.
 *
 * team.c holds the functions, team_join.c finds out how this process was started.  The plan and its
 * runs (src/api) call them.
 */
#ifndef FBP_SRC_TEAM_TEAM_H
#define FBP_SRC_TEAM_TEAM_H

#include "fbp/team.h"

#include <stdatomic.h>

#include <stdatomic.h>

/** Number of processes of the team on this host, and the number of this one among them. */
size_t fbp_team_local_rank(const fbp_team *team);
size_t fbp_team_local_size(const fbp_team *team);

/** True if `rank` runs on this host. */
bool fbp_team_is_local(const fbp_team *team, size_t rank);

/** fbp_team_meet() to which each process brings n bytes: all[size][n] gets those of all ranks. */
fbp_status fbp_team_gather(fbp_team *team, const char *where, fbp_status status, const void *mine,
                           size_t n, void *all);

/** The same, but only rank 0 gets them. */
fbp_status fbp_team_collect(fbp_team *team, const char *where, fbp_status status, const void *mine,
                            size_t n, void *all);

/** fbp_team_meet() that copies data[n] of rank 0 to all. */
fbp_status fbp_team_share(fbp_team *team, const char *where, fbp_status status, void *data,
                          size_t n);

/** Write "rank 2 on HOST" into buf; returns buf. */
char *fbp_team_name(const fbp_team *team, size_t rank, char *buf, size_t n);

/** Set *flag as soon as another process fails; NULL: no more.  One flag at a time. */
void fbp_team_cancel_flag(fbp_team *team, atomic_bool *flag);

/** Number of counters of progress. */
enum { FBP_TEAM_COUNTERS = 4 };

/** Send this process's progress to rank 0. */
void fbp_team_send_progress(fbp_team *team, const uint64_t values[FBP_TEAM_COUNTERS]);

/** In rank 0: the sum over all ranks. */
void fbp_team_sum_progress(fbp_team *team, uint64_t sum[FBP_TEAM_COUNTERS]);

/* Data go from one process to another in pieces that were requested, in their order, so no process
 * stores data that are not needed yet.  All calls return FBP_ERR_CANCELLED as soon as a process of
 * the team has failed.  Pieces of fbp_team_send_piece() and of fbp_team_offer() are independent. */

/** Send the next piece when it is requested; one thread at a time. */
fbp_status fbp_team_send_piece(fbp_team *team, size_t to, const void *data, size_t n);

/** Request the next piece, n bytes; to[n] must stay valid until fbp_team_wait_piece() has returned.
 */
fbp_status fbp_team_request_piece(fbp_team *team, size_t from, void *to, size_t n);

/** Wait until the requested piece has arrived. */
fbp_status fbp_team_wait_piece(fbp_team *team, size_t from);

/** Announce a piece, described by z and n, to rank 0, and send it when it is requested; several
 *  threads at once.  data NULL: only announce. */
fbp_status fbp_team_offer(fbp_team *team, uint64_t z, uint64_t n, const void *data, size_t bytes);

/** In rank 0: wait for the next announcement. */
fbp_status fbp_team_next_offer(fbp_team *team, size_t *from, uint64_t *z, uint64_t *n);

/** In rank 0: request the announced piece and wait for it. */
fbp_status fbp_team_accept(fbp_team *team, size_t from, void *to, size_t n);

/* The module libfbp_mpi.so, which is the only part that uses MPI. */

/** Version of the function below, raised with every change. */
enum { FBP_MPI_MODULE_VERSION = 2 };

/** The module's only exported function: connect the processes that MPI has started.  False: error,
 *  with a sentence in `why`.  patience: greatest time [s] until all have joined; stopped() ends it
 *  earlier.  If it was exceeded, this process cannot use MPI and must end. */
typedef bool fbp_mpi_fn(unsigned version, double patience, bool (*stopped)(void),
                        struct fbp_team_functions *out, char *why, size_t n);

#endif /* FBP_SRC_TEAM_TEAM_H */
