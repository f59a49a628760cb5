/** @file contain.h  Third-party parsers in a process of their own (internal).
 *
 * Libraries that read damaged files may crash, loop or take all memory.  What they find in a file
 * is found out in a forked child with limits on time and memory, and comes back as bytes: whatever
 * happens in there is a sentence here.  The parent never enters such a library, so that no lock of
 * it can be held when a child is made.
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

/** Runs in the child; what it puts into `reply` and its message reach the parent. */
typedef fbp_status fbp_contained_fn(void *arg, struct fbp_blob *reply);

/** What the child may take. */
struct fbp_child_limits {
    uint64_t memory_bytes; /**< beyond what this process holds now */
    double seconds;        /**< by the clock on the wall */
    bool leaves_copy;      /**< what it holds it puts into memory that stays, too */
};

/**
 * Run fn(arg) in a child; its standard output and error lead nowhere.
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

/**
 * For fuzzers, which see neither coverage nor speed of children: from now on fn runs in this
 * process, without limits, one call at a time, and what crashes in there crashes here.
 */
void fbp_contain_inside(bool inside);

#endif /* FBP_SRC_CONTAIN_H */
