/** @file contain.h  Third-party parsers, in a process of their own if requested (internal).
 *
 * Libraries that read damaged files may crash, loop or take all memory.  After
 * fbp_isolate_readers(true) (fbp/types.h), which the command calls, they run in forked children with
 * limits on time and memory, and return their results as bytes; a crash becomes a message.  The
 * parent then never enters such a library, so that no lock of it is held during fork().  Otherwise
 * they run in this process, without limits, one call at a time.
 */
#ifndef FBP_SRC_CONTAIN_H
#define FBP_SRC_CONTAIN_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/** Bytes that grow; free(bytes). */
struct fbp_blob {
    unsigned char *bytes;
    size_t n, room;
};

/** Append n bytes. */
fbp_status fbp_blob_put(struct fbp_blob *blob, const void *data, size_t n);

/** The next n bytes from *at on, copied to `out`; false if there are not so many. */
bool fbp_blob_take(const struct fbp_blob *blob, size_t *at, void *out, size_t n);

/** Puts its result into `reply`; it and the message reach the caller of fbp_contain(). */
typedef fbp_status fbp_contained_fn(void *arg, struct fbp_blob *reply);

/** Limits of a child. */
struct fbp_child_limits {
    uint64_t memory_bytes; /**< beyond what this process holds now */
    double seconds;        /**< by the clock on the wall */
    bool leaves_copy;      /**< what it holds it puts into memory that stays, too */
};

/**
 * Run fn(arg), in a child after fbp_isolate_readers(true); the child's standard output and error are
 * discarded.
 *
 * path, library  for messages: the file, and what reads it ("the HDF5 library")
 * reply          empty; the child's on success
 * @return the child's status with its message; FBP_ERR_INVALID if it crashed or broke a limit;
 *         FBP_ERR_CANCELLED if it was interrupted (Ctrl-C reaches it, too); FBP_ERR_NOMEM,
 *         FBP_ERR_IO if no child can be made.  Several threads may call this at once.
 */
fbp_status fbp_contain(const char *path, const char *library, const struct fbp_child_limits *given,
                       fbp_contained_fn *fn, void *arg, struct fbp_blob *reply);

/**
 * The most memory that a child of this thread held beside this process, and the reply to it, since
 * the last fbp_contained_forget() [bytes]: pages that both have count in the process alone, but for
 * those of libraries, a few MiB.
 */
uint64_t fbp_contained_bytes(void);
void fbp_contained_forget(void);

/** Count memory that a reader of this process holds beside the samples while it opens a file. */
void fbp_contained_note(uint64_t bytes);

#endif /* FBP_SRC_CONTAIN_H */
