/** @file team.h  Processes that compute one volume together, on one machine or on several. */
#ifndef FBP_TEAM_H
#define FBP_TEAM_H

#include "fbp/types.h"

FBP_BEGIN

/** Processes that compute one volume together: fbp_recon_params.team.  Each has one of its own. */
typedef struct fbp_team fbp_team;

/** A message has so many bytes at most. */
enum { FBP_TEAM_MESSAGE = 1 << 16 };

/** How messages go from process to process. */
struct fbp_team_functions {
    size_t struct_size;
    size_t rank, size; /**< this process, from 0, and how many there are */
    /** Give a message to process `to`; `data` may be used again when it returns.  Several threads
     *  call it at once.  Messages of one process to another come in their order.  0: done. */
    int (*send)(void *user, size_t to, const void *data, size_t n);
    /** Wait up to so long for a message of any process: its length to *n, data[FBP_TEAM_MESSAGE].
     *  Called by one thread.  0: here it is; 1: there was none; 2: process *from is lost. */
    int (*receive)(void *user, double seconds, size_t *from, void *data, size_t *n);
    /** The last call.  lost 1: a process is lost, and waiting for it would never end. */
    void (*close)(void *user, int lost);
    void *user;
    /** After fbp_stop(), a process that is silent for so many seconds is taken for lost; 0: it has
     * as long as ever.  For launchers that end all processes soon after one of them. */
    double stop_patience;
};

/**
 * A team whose processes talk by the caller's functions; all of them call this.
 *
 * functions  copied; what `user` points to must be there until close() has returned
 * @return FBP_ERR_INVALID for processes of different releases, FBP_ERR_IO if one is lost: that is
 *         what the one gets that speaks for all (rank 0, if it is not lost); the others get
 *         FBP_ERR_CANCELLED, with the same message.  FBP_ERR_NOMEM.  close() has been called then.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_team_create(fbp_team **out,
                                                  const struct fbp_team_functions *functions);

/**
 * The team that this process was started in, by `mpirun` of Open MPI or by `srun --mpi=pmix`; *out
 * NULL if it was started alone.
 * @return as fbp_team_create(); FBP_ERR_UNSUPPORTED for launchers of other MPIs, for srun that lets
 *         its processes not talk to each other, or without the module libfbp_mpi.so.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_team_join(fbp_team **out);

/** This process, from 0, and how many there are; of a team NULL 0 and 1. */
FBP_API size_t fbp_team_rank(const fbp_team *team);
FBP_API size_t fbp_team_size(const fbp_team *team);

/**
 * Wait until all processes are here.  If something has failed in one of them, all get that status
 * and its message, which names rank and host, and the team is of no further use but to be left.
 *
 * where   the same in all processes, up to 31 bytes
 * status  what became of this process so far; its message is fbp_message()
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_team_meet(fbp_team *team, const char *where,
                                                fbp_status status);

/**
 * Does this process say what went wrong, for all of them?  1 in rank 0; where that was lost before
 * it could, in one of the others, which agree on who it is: then this waits, up to some seconds.
 * Ask it after a call has failed in all of them.  Of a team NULL 1.
 */
FBP_API int fbp_team_speaks(fbp_team *team);

/**
 * Meet for the last time; then only fbp_team_speaks() and fbp_team_leave() may be called.  team may
 * be NULL.
 *
 * failure  NULL: all went well here; else the sentence that all others get
 * @return as fbp_team_meet()
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_team_end(fbp_team *team, const char *failure);

/**
 * The end of every team: fbp_team_end() unless that was called, free it, and set the caller's
 * pointer to NULL.  *team may be NULL.  Where a process is lost, MPI may end this one here.
 *
 * @return as fbp_team_end()
 */
FBP_API fbp_status fbp_team_leave(fbp_team **team, const char *failure);

FBP_END

#endif /* FBP_TEAM_H */
