/** @file team.h  Processes that compute one volume together (internal).
 *
 * Processes exchange point-to-point messages (struct fbp_team_functions); MPI or a test transports
 * them. A thread of each process receives them. At a barrier, rank 0 collects the statuses of all
 * ranks and sends the result back. A rank that fails reports at once, and rank 0 then sends a stop
 * message to all others. A rank that sends no message for too long counts as failed.
 *
 * team.c implements the functions; fbp_team_join() (team_join.c) finds how this process was
 * started, and connects it to the others.
 *
 * Used by: cli/, pipeline/, team/.
 */
#ifndef FBP_SRC_TEAM_TEAM_H
#define FBP_SRC_TEAM_TEAM_H

#include "fbp/team.h"

#include <stdatomic.h>

/** Rank of this process among the team's processes on this host, and their number. */
size_t fbp_team_local_rank(const fbp_team *team);
size_t fbp_team_local_size(const fbp_team *team);

/** True if `rank` runs on this host. */
bool fbp_team_is_local(const fbp_team *team, size_t rank);

/** Barrier (fbp_team_meet()) with an all-gather: each process contributes n bytes; all[size][n]
 * receives the bytes of all ranks. */
fbp_status fbp_team_gather(fbp_team *team, const char *where, fbp_status status, const void *mine,
                           size_t n, void *all);

/** Barrier with a gather: as fbp_team_gather(), but only rank 0 receives all[size][n]. */
fbp_status fbp_team_collect(fbp_team *team, const char *where, fbp_status status, const void *mine,
                            size_t n, void *all);

/** Barrier (fbp_team_meet()) with a broadcast: data[n] of rank 0 is copied to all ranks. */
fbp_status fbp_team_share(fbp_team *team, const char *where, fbp_status status, void *data,
                          size_t n);

/** Write "rank 2 on HOST" into buf; returns buf. */
char *fbp_team_name(const fbp_team *team, size_t rank, char *buf, size_t n);

/** Register the flag that is set as soon as a process of the team fails; NULL: none. */
void fbp_team_cancel_flag(fbp_team *team, atomic_bool *flag);

/** Number of progress counters. */
enum { FBP_TEAM_COUNTERS = 4 };

/** Send this process's progress to rank 0. */
void fbp_team_send_progress(fbp_team *team, const uint64_t values[FBP_TEAM_COUNTERS]);

/** Rank 0 only: add up the progress counters of all ranks (fbp_team_send_progress()). */
void fbp_team_sum_progress(fbp_team *team, uint64_t sum[FBP_TEAM_COUNTERS]);

/* Data are transferred in pieces, which the receiver requests, in the order of the requests. A
 * process therefore stores no data before they are needed. Calls that wait return FBP_ERR_CANCELLED
 * as soon as a process of the team has failed. There are two independent sequences of pieces
 * between two processes: those of fbp_team_send_piece(), and those of fbp_team_offer() to rank 0.
 */

/** Wait until rank `to` requests the next piece of data, and send data[n]; one thread at a time. */
fbp_status fbp_team_send_piece(fbp_team *team, size_t to, const void *data, size_t n);

/** Request the next piece of data, n bytes, from rank `from`; to[n] must stay valid until
 * fbp_team_wait_piece() returns. */
fbp_status fbp_team_request_piece(fbp_team *team, size_t from, void *to, size_t n);

/** Wait until the piece of data that fbp_team_request_piece() has requested has arrived. */
fbp_status fbp_team_wait_piece(fbp_team *team, size_t from);

/** Announce a piece of data, described by the numbers z and n, to rank 0, and send the piece when
 * rank 0 requests it; several threads may call this function at once.  data NULL: only announce. */
fbp_status fbp_team_offer(fbp_team *team, uint64_t z, uint64_t n, const void *data, size_t bytes);

/** Rank 0 only: wait until a rank announces a piece of data by fbp_team_offer(). */
fbp_status fbp_team_next_offer(fbp_team *team, size_t *from, uint64_t *z, uint64_t *n);

/** Rank 0 only: request the piece of data that rank `from` has announced, and wait for it. */
fbp_status fbp_team_accept(fbp_team *team, size_t from, void *to, size_t n);

/* The module libfbp_mpi.so (modules/mpi.c) is the only part of the project that calls MPI. */

/** Version of the interface between libfbp and the module libfbp_mpi.so (fbp_mpi_fn); increased
 * with every change. */
enum { FBP_MPI_MODULE_VERSION = 2 };

/** Type of the only exported function of libfbp_mpi.so, fbp_mpi_team(): connects the processes that
 * MPI has started. Returns false on an error, with a message in why[n]. patience: greatest time [s]
 * until all processes have joined; stopped() ends the wait earlier. If the time was exceeded, this
 * process cannot use MPI and must end. */
typedef bool fbp_mpi_fn(unsigned version, double patience, bool (*stopped)(void),
                        struct fbp_team_functions *out, char *why, size_t n);

/**
 * Barrier: wait for all processes.  If one of them has failed, all get its status and its message,
 * which begins with its rank and host, unless all processes have failed with the same message.
 * After that, only fbp_team_speaks() and fbp_team_leave() are useful.
 *
 * where   name of the step, the same in all processes, up to 31 bytes
 * status  status of this process; its message is fbp_message()
 * @return FBP_OK, or the status of the process that failed; FBP_ERR_IO if a process is lost.
 */
fbp_status fbp_team_meet(fbp_team *team, const char *where, fbp_status status);

/**
 * Return 1 in the one process that reports an error for all processes, else 0.  This is rank 0 or,
 * if rank 0 is lost, another rank: the call then waits up to some seconds until the remaining ranks
 * have agreed on it.  Call it after a failure in all processes.  1 if team is NULL.
 */
int fbp_team_speaks(fbp_team *team);

/**
 * Enter the last barrier.  Afterwards only fbp_team_speaks() and fbp_team_leave() may be called.
 *
 * team     may be NULL
 * failure  NULL: this process has succeeded; else its error message, which all others get
 * @return as fbp_team_meet()
 */
fbp_status fbp_team_end(fbp_team *team, const char *failure);

/** Number of processes; 1 if team is NULL. */
size_t fbp_team_size(const fbp_team *team);

#endif /* FBP_SRC_TEAM_TEAM_H */
