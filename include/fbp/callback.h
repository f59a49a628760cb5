/** @file callback.h  A source that reads views, and a sink that writes slices, by functions of the
 *  calling program.  For programs and bindings whose data are not in files or in one array.
 *
 * A function with the argument `why` returns 0 for success. If it fails, it returns another number,
 * and may write the reason, one sentence that ends with a 0 byte, to why[n_why]; the run then ends
 * with FBP_ERR_IO and that sentence. The library may call the functions from its own threads; it
 * calls none after the source or sink is closed.  A function that takes long should call
 * fbp_stopped() a few times per second, and fail if the result is true; the run then ends with
 * FBP_ERR_CANCELLED.
 */
#ifndef FBP_CALLBACK_H
#define FBP_CALLBACK_H

#include "fbp/array.h"

FBP_BEGIN

/** Function that stores rows [row0, row0 + n_rows) of slices (views) [slice0, slice0 + n_slices) in
 * `out`: [n_slices][n_rows][n[0]] of the type in the description (info->type), in the byte order of
 * this machine, x fastest. */
typedef int fbp_read_fn(void *user, size_t slice0, size_t n_slices, size_t row0, size_t n_rows,
                        void *out, char *why, size_t n_why);

/** The functions of a source. */
struct fbp_source_functions {
    size_t struct_size;
    fbp_read_fn *read;
    void *user;        /**< passed to the functions */
    size_t at_once;    /**< greatest number of slices (views) per call of read(); 0: one */
    size_t concurrent; /**< 1: several threads may call read() at the same time; 0: only one */
    /** Returns the number of views, counted from the first, that are available while views are
     * still being measured; NULL: all views are available.  A separate thread calls this function
     * every few milliseconds until all views are available.  read() is called only for available
     * views, and a plan follows the source as after fbp_source_follow(), but without a timeout:
     * fbp_stopper_stop() ends the waiting.  A plan that was made for another source, that removes
     * rings or that retrieves phases waits for all views first. */
    size_t (*there)(void *user);
};

/**
 * Create a source that calls the caller's function for samples, in any order.  The same samples are
 * read again if the volume does not fit in memory, and to check views that seem dead
 * (fbp_report.dead_views).
 *
 * callback  copied; the object of `user` must outlive the source
 * info      n, type, row_order (0: bottom-up), scale and offset are used
 * @return FBP_ERR_INVALID, FBP_ERR_UNSUPPORTED (big_endian), FBP_ERR_NOMEM.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_source_callback(fbp_source **out,
                                                      const struct fbp_source_functions *callback,
                                                      const struct fbp_array_info *info);

/** The functions of a sink. */
struct fbp_sink_functions {
    size_t struct_size;
    /** Function that is called once, before the first slice is written; NULL: not called.  n: size
     * of the volume, n[2] slices of n[1] rows of n[0] voxels. */
    int (*begin)(void *user, const size_t n[3], char *why, size_t n_why);
    /** Function that receives slices [z0, z0 + nz) of the volume, [nz][n[1]][n[0]].  Each slice is
     * passed once, in any order, because several devices compute at the same time. */
    int (*write)(void *user, size_t z0, size_t nz, const float *slices, char *why, size_t n_why);
    /** Function that is called once at the end, if begin() succeeded.  complete 1: all slices were
     * written; 0: the sink is closed before all slices were written.  NULL: not called. */
    int (*end)(void *user, int complete, char *why, size_t n_why);
    void *user;        /**< passed to the functions */
    size_t at_once;    /**< greatest number of slices per call of write(); 0: one */
    size_t concurrent; /**< 1: several threads may call write() at the same time; 0: only one */
    /** Function that receives slices of doubles, in place of write(), which must then be NULL. */
    int (*write_double)(void *user, size_t z0, size_t nz, const double *slices, char *why,
                        size_t n_why);
};

/**
 * Create a sink that passes its slices to the caller's function.
 *
 * callback  copied; the object of `user` must outlive the sink
 * n         size of the volume: fbp_plan_info()->volume.n, but time_points * volume.n[2] slices
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_sink_callback(fbp_sink **out,
                                                    const struct fbp_sink_functions *callback,
                                                    const size_t n[3]);

FBP_END

#endif /* FBP_CALLBACK_H */
