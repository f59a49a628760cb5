/** @file sandbox.h  Runs parsers of other projects (the HDF5 library) in child processes, if the
 * program enables it.
 *
 * Libraries that read damaged files may crash, loop or exhaust memory.  After
 * fbp_isolate_readers(true), which the command calls at its start, such a library runs in a forked
 * child with limits on time and memory, and its results are returned as bytes; a crash becomes an
 * error message.  The parent process then never calls the library, so fork() never copies a held
 * lock of the library.  Otherwise the library runs in this process, without limits, one call at a
 * time.
 * Used by: cli/, array/format/, base/, pipeline/. */
#ifndef FBP_SRC_BASE_SANDBOX_H
#define FBP_SRC_BASE_SANDBOX_H

#include "base/base.h"

/** A growing buffer of n bytes, with memory for `room` bytes; to be freed: `bytes`. */
struct fbp_blob {
    unsigned char *bytes;
    size_t n, room;
};

/** Append n bytes. */
fbp_status fbp_blob_put(struct fbp_blob *blob, const void *data, size_t n);

/** Copy n bytes from position *at of the buffer to `out`, and advance *at by n; false if fewer
 * bytes remain. */
bool fbp_blob_take(const struct fbp_blob *blob, size_t *at, void *out, size_t n);

/** Function that fbp_sandbox_run() runs, in a child process or in this one, and that writes its
 * result to `reply`. The result, the status and the error message are returned to this process. */
typedef fbp_status fbp_sandbox_fn(void *arg, struct fbp_blob *reply);

/** Limits of a child process. */
struct fbp_sandbox_limits {
    uint64_t memory_bytes; /**< limit of the child's address space, in addition to the present size
                              of this process [bytes] */
    double seconds;        /**< limit of the child's elapsed time, and of its CPU time [s] */
    /** true: the child also copies its data to shared memory, so it may use only half of the memory
     * that is left below the limit of this process (fbp_limit_memory()) */
    bool leaves_copy;
};

/**
 * Run fn(arg): in a child process after fbp_isolate_readers(true), else in this process.  A child's
 * standard output and error are discarded.
 *
 * path, library  for messages: the file, and its reader ("the HDF5 library")
 * reply          empty before the call; the result of fn on success
 * @return the status of fn, with its message; for a child also FBP_ERR_INVALID if it exceeded its
 * time limit or returned more than 1 GiB, FBP_ERR_IO if it crashed or cannot be started,
 * FBP_ERR_CANCELLED if it was interrupted (Ctrl-C also reaches the child), and FBP_ERR_NOMEM.
 * Several threads may call this at once.
 */
fbp_status fbp_sandbox_run(const char *path, const char *library,
                           const struct fbp_sandbox_limits *given, fbp_sandbox_fn *fn, void *arg,
                           struct fbp_blob *reply);

/** Greatest memory [bytes] that a child process and its answer used in addition to the memory of
 * this process, among the children that this thread has started since its last
 * fbp_sandbox_forget(). */
uint64_t fbp_sandbox_bytes(void);
void fbp_sandbox_forget(void);

/** Let fbp_sandbox_bytes() also count memory that a reader in this process uses while it opens a
 * file, in addition to the samples that it returns. */
void fbp_sandbox_note(uint64_t bytes);

/**
 * Select the process in which libhdf5 runs.  true: only in forked child processes with limits of
 * time and memory, which protect this process against crashes and blocking by a damaged file.
 * false (default): in this process, and libfbp never forks.  libhdf5 is not thread-safe: a program
 * that also calls libhdf5 must not do so while a call of libfbp opens or reads HDF5.  Call this
 * function before other calls.
 */
void fbp_isolate_readers(bool isolate);

#endif /* FBP_SRC_BASE_SANDBOX_H */
