/** @file callback.h  Arrays that another program gives and takes itself: views come from a function
 *  of the caller's, and slices go to one.
 *
 * A function that fails returns anything but 0, and may write a sentence that says why into
 * why[n_why], ended with 0: the run then ends with FBP_ERR_IO and that sentence.  No function is
 * called after the call that it works for has returned; they are called in threads of the library.
 * A function that takes long asks fbp_stopped() a few times a second, and fails if it says so: the
 * run then ends with FBP_ERR_CANCELLED.
 */
#ifndef FBP_CALLBACK_H
#define FBP_CALLBACK_H

#include "fbp/array.h"

FBP_BEGIN

/**
 * Rows [row0, row0 + n_rows) of slices (views) [slice0, slice0 + n_slices) into `out`:
 * [n_slices][n_rows][n[0]] of info->type in this machine's byte order, x fastest.
 */
typedef int fbp_read_fn(void *user, size_t slice0, size_t n_slices, size_t row0, size_t n_rows,
                        void *out, char *why, size_t n_why);

/** A source of the caller's. */
struct fbp_source_functions {
    size_t struct_size;
    fbp_read_fn *read;
    void *user;
    size_t at_once;    /**< slices a call at most; 0 = 1 */
    size_t concurrent; /**< 1: several threads may call it at the same time; 0: one after another */
};

/**
 * A source that asks the caller for its samples, in any order, and for the same ones more than once
 * if memory does not hold the volume or views look as if they were dead.
 *
 * callback  read during the call; what `user` points to must outlive the source
 * info      n, type, row_order, scale and offset are used
 * @return FBP_ERR_INVALID, FBP_ERR_UNSUPPORTED (big_endian), FBP_ERR_NOMEM.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_source_callback(fbp_source **out,
                                                      const struct fbp_source_functions *callback,
                                                      const struct fbp_array_info *info);

/** A sink of the caller's. */
struct fbp_sink_functions {
    size_t struct_size;
    /** Once, before the first slice: the volume will have n[2] slices of n[1] rows of n[0].  NULL:
     *  not wanted. */
    int (*begin)(void *user, const size_t n[3], char *why, size_t n_why);
    /** Slices [z0, z0 + nz), [nz][n[1]][n[0]]: each once, in any order (several devices, and slices
     *  that mirror each other, are computed side by side). */
    int (*write)(void *user, size_t z0, size_t nz, const float *slices, char *why, size_t n_why);
    /** Once, if begin() succeeded: all slices were written (fbp_sink_finish(), as a run does), or
     *  `complete` is 0 and the sink is closed without that.  NULL: not wanted. */
    int (*end)(void *user, int complete, char *why, size_t n_why);
    void *user;
    size_t at_once;    /**< slices a call at most; 0 = 1 */
    size_t concurrent; /**< 1: several threads may call write() at the same time; 0: in turn */
};

/**
 * A sink that hands its slices to the caller.
 *
 * callback  read during the call; what `user` points to must outlive the sink
 * n         of the volume, as fbp_plan_info() tells
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_sink_callback(fbp_sink **out,
                                                    const struct fbp_sink_functions *callback,
                                                    const size_t n[3]);

FBP_END

#endif /* FBP_CALLBACK_H */
