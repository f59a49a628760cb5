/** @file feed.h  Backprojection of filtered views that are given one by one, without a scan.
 * Called by module.c and run_command.c, whose loops over views are those of RabbitCT's runner
 * (docs/rabbitct.md).
 *
 * The volume is kept on the device.  Views are copied to the device and computed in batches, while
 * the program prepares the next ones.
 */
#ifndef FBP_BENCH_RABBITCT_FEED_H
#define FBP_BENCH_RABBITCT_FEED_H

#include "fbp/recon.h"

FBP_BEGIN

/** Belongs to the process that opened it, as fbp_plan does: in a forked child, calls fail. */
typedef struct fbp_feed fbp_feed;

/** Zero means default, except for panel and volume. */
struct fbp_feed_params {
    size_t struct_size;
    const char *device; /**< one device, such as "cpu" or "cuda:1"; NULL = auto */
    int n_threads;
    enum fbp_precision precision;
    struct fbp_panel panel;
    struct fbp_grid volume;
    size_t n_views; /**< how many views will be added: the last of them finishes the volume; 0 = not
                         known */
    size_t batch_views; /**< computed at a time: 8 … 256, a multiple of 8; 0 = 64, on a CPU 32 */
};

/**
 * Open a device with a volume of zeros.
 * @return FBP_OK, FBP_ERR_INVALID, FBP_ERR_NOMEM (says what would fit), FBP_ERR_UNSUPPORTED,
 *         FBP_ERR_DEVICE.
 */
FBP_MUST_CHECK fbp_status fbp_feed_open(fbp_feed **out, const struct fbp_feed_params *params);

/** "cuda", kernel and instruction set as in fbp_plan_info. */
void fbp_feed_names(const fbp_feed *feed, const char **backend, const char **kernel,
                    const char **isa);

/** Memory that the device can copy from and to while it computes; free with fbp_feed_release(). */
FBP_MUST_CHECK fbp_status fbp_feed_alloc(fbp_feed *feed, size_t bytes, void **out);
void fbp_feed_release(fbp_feed *feed, void *memory);

/**
 * Add a view: volume += I(u, v) / w^2, with (u, v, 1) w = P (x, y, z, 1).  P is row-major, in mm;
 * pixel centres are whole numbers; I is 0 beside the panel.
 *
 * view      [panel.n_rows][panel.n_columns]; copied before the call returns, unless
 * in_place  it is memory of fbp_feed_alloc() that will not be changed before fbp_feed_settle()
 * @return FBP_ERR_INVALID if a voxel is not in front of the source, FBP_ERR_DEVICE, FBP_ERR_NOMEM.
 */
FBP_MUST_CHECK fbp_status fbp_feed_add(fbp_feed *feed, const double P[12], const float *view,
                                       bool in_place);

/** Wait until all views that were added are in the volume. */
FBP_MUST_CHECK fbp_status fbp_feed_settle(fbp_feed *feed);

/** Get the volume of all views that were added, [z][y][x].  The next view begins a new volume. */
FBP_MUST_CHECK fbp_status fbp_feed_fetch(fbp_feed *feed, float *volume);

/** Set the volume to zero. */
FBP_MUST_CHECK fbp_status fbp_feed_reset(fbp_feed *feed);

/** *feed may be NULL. */
void fbp_feed_close(fbp_feed **feed);

/** A matrix for devices to choose layouts and shapes by before a view has come: one that shows the
 *  volume from side to side and from bottom to top, so that a voxel covers about as many pixels as
 *  it will. */
void fbp_feed_expect(const struct fbp_panel *panel, const struct fbp_grid *volume, double P[12]);

FBP_END

#endif /* FBP_BENCH_RABBITCT_FEED_H */
