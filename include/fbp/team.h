/** @file team.h  Processes that compute one volume together, on one machine or on several. */
#ifndef FBP_TEAM_H
#define FBP_TEAM_H

#include "fbp/types.h"

FBP_BEGIN

/** A handle of this process for the processes that compute one volume: fbp_recon_params.team. */
typedef struct fbp_team fbp_team;

/** Greatest size of a message [bytes]. */
enum { FBP_TEAM_MESSAGE = 1 << 16 };

/** Functions that transport messages between processes. */
struct fbp_team_functions {
    size_t struct_size;
    size_t rank, size; /**< number of this process, from 0; number of processes */
    /** Send a message to process `to`; `data` may be reused after the call.  Several threads call
     *  it at once.  Messages from one process to another arrive in their order.  0: success. */
    int (*send)(void *user, size_t to, const void *data, size_t n);
    /** Wait up to `seconds` for a message of any process: its length to *n, its bytes to
     *  data[FBP_TEAM_MESSAGE].  One thread calls it.  0: a message; 1: none; 2: process *from is
     *  lost. */
    int (*receive)(void *user, double seconds, size_t *from, void *data, size_t *n);
    /** The last call.  lost 1: a process is lost, so waiting for it would never end. */
    void (*close)(void *user, int lost);
    void *user;
    /** Silence after fbp_stop() that makes a process lost [s]; 0: the usual 6 s.  For launchers
     * that end all processes soon after one of them. */
    double stop_patience;
};

/**
 * Create a team whose messages the caller's functions transport; all processes call this.
 *
 * functions  copied; the object of `user` must exist until close() has returned
 * @return FBP_ERR_INVALID for processes of different releases, FBP_ERR_IO if one is lost: the
 *         process that reports the error (rank 0, if it is not lost) gets these; the others get
 *         FBP_ERR_CANCELLED with the same message.  FBP_ERR_NOMEM.  On failure close() has been
 *         called.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_team_create(fbp_team **out,
                                                  const struct fbp_team_functions *functions);

/**
 * Join the processes that `mpirun` of Open MPI or `srun --mpi=pmix` has started; *out is NULL if
 * this process was started alone.
 * @return as fbp_team_create(); FBP_ERR_UNSUPPORTED for launchers of other MPIs, for srun without
 *         --mpi=pmix, or without the module libfbp_mpi.so.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_team_join(fbp_team **out);

/** Number of this process, from 0, and number of processes; 0 and 1 if team is NULL. */
FBP_API size_t fbp_team_rank(const fbp_team *team);
FBP_API size_t fbp_team_size(const fbp_team *team);

/**
 * Barrier: wait for all processes.  If one of them has failed, all get its status and its message,
 * which names rank and host; then only fbp_team_leave() is useful.
 *
 * where   name of the step, the same in all processes, up to 31 bytes
 * status  status of this process; its message is fbp_message()
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_team_meet(fbp_team *team, const char *where,
                                                fbp_status status);

/**
 * Return 1 in the one process that reports an error for all of them, else 0.  This is rank 0 or, if
 * that was lost, one of the others: the call then waits up to some seconds for their agreement.
 * Call it after a failure in all processes.  1 if team is NULL.
 */
FBP_API int fbp_team_speaks(fbp_team *team);

/**
 * The last barrier; afterwards only fbp_team_speaks() and fbp_team_leave() may be called.  team may
 * be NULL.
 *
 * failure  NULL: success of this process; else its error message, which all others get
 * @return as fbp_team_meet()
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_team_end(fbp_team *team, const char *failure);

/**
 * Call fbp_team_end() unless it was called, free the team, and set the caller's pointer to NULL.
 * *team may be NULL.  If a process is lost, MPI may end this one here.
 *
 * @return as fbp_team_end()
 */
FBP_API fbp_status fbp_team_leave(fbp_team **team, const char *failure);

FBP_END

#endif /* FBP_TEAM_H */
