/** @file sandbox.h  Runs parsers of other projects in child processes, on request.
 *
 * Libraries that read damaged files may crash, loop or take all memory.  After
 * fbp_isolate_readers(true) (fbp/types.h), which the command calls, they run in forked children
 * with limits on time and memory, and return their results as bytes; a crash becomes a message.
 * This process then never enters such a library, so no lock of it is held during fork().  Otherwise
 * they run in this process, without limits, one call at a time.
 */
#ifndef FBP_SRC_BASE_SANDBOX_H
#define FBP_SRC_BASE_SANDBOX_H

#include "base/base.h"

/** A growing buffer of bytes; free(bytes). */
struct fbp_blob {
    unsigned char *bytes;
    size_t n, room;
};

/** Append n bytes. */
fbp_status fbp_blob_put(struct fbp_blob *blob, const void *data, size_t n);

/** Copy n bytes at *at to `out` and advance *at; false if there are fewer. */
bool fbp_blob_take(const struct fbp_blob *blob, size_t *at, void *out, size_t n);

/** Stores its result in `reply`, which fbp_sandbox_run() returns with its status and message. */
typedef fbp_status fbp_sandbox_fn(void *arg, struct fbp_blob *reply);

/** Limits of a child. */
struct fbp_sandbox_limits {
    uint64_t memory_bytes; /**< address space, in addition to that of this process now */
    double seconds;        /**< elapsed time */
    bool leaves_copy; /**< the child also copies its data to shared memory, which counts, too */
};

/**
 * Run fn(arg), in a child after fbp_isolate_readers(true); the child's standard output and error
 * are discarded.
 *
 * path, library  for messages: the file, and its reader ("the HDF5 library")
 * reply          empty before; the child's on success
 * @return the child's status with its message; FBP_ERR_INVALID if it exceeded a limit; FBP_ERR_IO
 * if it crashed or cannot be started; FBP_ERR_CANCELLED if it was interrupted (Ctrl-C reaches it,
 * too); FBP_ERR_NOMEM.  Several threads may call this at once.
 */
fbp_status fbp_sandbox_run(const char *path, const char *library,
                           const struct fbp_sandbox_limits *given, fbp_sandbox_fn *fn, void *arg,
                           struct fbp_blob *reply);

/** Greatest memory that a child of this thread and its reply needed in addition to this process
 *  since the last fbp_sandbox_forget() [bytes]. */
uint64_t fbp_sandbox_bytes(void);
void fbp_sandbox_forget(void);

/** Count memory that a reader in this process needs beside the samples while it opens a file. */
void fbp_sandbox_note(uint64_t bytes);

#endif /* FBP_SRC_BASE_SANDBOX_H */
