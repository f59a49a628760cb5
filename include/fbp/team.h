/** @file team.h  Public header: teams of processes that compute one volume together, on one machine
 * or on several, connected by MPI or by functions of the program.  `fbp recon` joins a team if
 * mpirun or srun started it.
 *
 * Each process creates its handle with fbp_team_join() or fbp_team_create(), passes it to its plan
 * (fbp_recon_params.cluster.team), and frees it with fbp_team_leave(). */
#ifndef FBP_TEAM_H
#define FBP_TEAM_H

#include "fbp/types.h"

FBP_BEGIN

/** Handle that one process has of its team (the processes that compute one volume together). */
typedef struct fbp_team fbp_team;

/** Greatest size of a message [bytes]. */
enum { FBP_TEAM_MESSAGE = 1 << 16 };

/** Functions of the caller that transport messages between the processes of a team. */
struct fbp_team_functions {
    size_t struct_size;
    size_t rank, size; /**< rank of this process, from 0, and number of processes */
    /** Sends a message of n bytes to process `to`; `data` may be reused after the call.  Several
     * threads may call this function at the same time.  Messages from one process to another must
     * arrive in the order of sending.  Returns 0 for success. */
    int (*send)(void *user, size_t to, const void *data, size_t n);
    /** Waits up to `seconds` for a message from any process.  Only one thread calls this function.
     * Returns 0 for a message: sender in *from, length in *n, bytes in data[FBP_TEAM_MESSAGE]; 1:
     * no message; 2: the connection to process *from is lost. */
    int (*receive)(void *user, double seconds, size_t *from, void *data, size_t *n);
    /** Closes the transport; called last.  lost 1: a process of the team is lost, and this function
     * must not wait for it. */
    void (*close)(void *user, int lost);
    void *user; /**< passed to send(), receive() and close() */
    /** After fbp_stopper_stop(NULL): time without a message until a process counts as lost [s]; 0:
     * 6 s, as before that call.  Set less if the launcher ends all processes soon after one has
     * ended. */
    double stop_patience;
};

/**
 * Create a team whose messages are transported by functions of the caller.  All processes call this
 * function.
 *
 * functions  copied; the object of `user` must exist until close() has returned
 * @return FBP_ERR_INVALID for invalid `functions` or processes of different releases, FBP_ERR_IO if
 *         a process is lost, FBP_ERR_NOMEM.  If a process is lost or the releases differ, only the
 *         process that reports the error (rank 0, unless it is lost) gets this status; the other
 *         processes get FBP_ERR_CANCELLED with the same message.  On failure close() has been
 *         called, except for invalid `functions`.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_team_create(fbp_team **out,
                                                  const struct fbp_team_functions *functions);

/**
 * Join the processes that `mpirun` of Open MPI or `srun --mpi=pmix` has started.  *out is NULL if
 * this process was started alone.
 * @return as fbp_team_create(); FBP_ERR_UNSUPPORTED for launchers of other MPIs, for srun without
 *         --mpi=pmix, or if the module libfbp_mpi.so is missing.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_team_join(fbp_team **out);

/** Rank of this process in the team, from 0; 0 if team is NULL. */
FBP_API size_t fbp_team_rank(const fbp_team *team);

/**
 * Wait for all processes, free the team, and set the caller's pointer to NULL.
 * *team may be NULL.  If a process is lost, MPI may end this process here.
 *
 * failure  NULL: this process has succeeded; else its error message, which all other processes get
 * @return FBP_OK, or the status of the process that failed; FBP_ERR_IO if a process is lost.
 */
FBP_API fbp_status fbp_team_leave(fbp_team **team, const char *failure);

FBP_END

#endif /* FBP_TEAM_H */
