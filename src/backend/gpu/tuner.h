/** @file tuner.h  Choice among the shapes of a kernel by measurement (internal).
 *
 * All shapes give the same bits, hence a run may change shapes between passes.  The first run of a
 * kernel on a kind of device times its first passes with each candidate in turn: no work is done
 * twice, and no memory is used.  The fastest shape is cached for later runs.  If anything fails,
 * the run continues with the likeliest.  Thin passes have shapes of their own, which are not
 * measured.
 */
#ifndef FBP_SRC_BACKEND_GPU_TUNER_H
#define FBP_SRC_BACKEND_GPU_TUNER_H

#include "backend/gpu/gpu_kernel.h"

#include "base/cache.h"

/** Trials per candidate, the first of which does not count; greatest number of timed passes; bytes
 *  of a key. */
enum {
    GPU_TUNER_ROUNDS = 3,
    GPU_TUNER_TRIALS = GPU_TUNER_ROUNDS * GPU_MOST_SHAPES,
    GPU_TUNER_KEY = 320
};

/** Timing of passes by events in the queue that they are launched in.  A function returns false if
 *  it fails, which is no error of the run, and leaves no error behind. */
struct gpu_timer {
    struct fbp_cache_file file; /**< cache of the module's shapes */
    /** Describe what the best shape depends on: name, size and driver of a device. */
    bool (*describe)(int index, char *out, size_t n);
    /** Create the events of n trials. */
    bool (*open)(void *user, int n);
    /** Record the beginning and the end of a trial. */
    bool (*begin)(void *user, int trial);
    bool (*end)(void *user, int trial);
    /** Has the device finished the trial?  Without waiting; and waiting. */
    bool (*is_over)(void *user, int trial);
    bool (*wait)(void *user, int trial);
    /** Milliseconds of a finished trial. */
    bool (*elapsed)(void *user, int trial, float *ms);
};

/** The shapes of the kernel of a device. */
struct gpu_tuner {
    const struct gpu_timer *timer;
    void *user;  /**< for the timer */
    int shape;   /**< for passes that are not thin */
    int thin[2]; /**< for passes of up to 4, and of up to 8 slices */
    bool active; /**< passes are timed */
    int candidates[GPU_MOST_SHAPES], n_candidates;
    int n;                /**< passes timed so far; of candidate n % n_candidates */
    struct gpu_grid grid; /**< grid of all timed passes */
    char key[GPU_TUNER_KEY];
};

/** Select the device's shapes: FBP_SHAPE=n (tests), the cached one, or the likeliest; in the last
 *  case timing begins unless FBP_TUNE=0. */
void gpu_tuner_open(struct gpu_tuner *tuner, const struct gpu_kernel *kernel,
                    const struct fbp_job *job, int index, const struct gpu_timer *timer,
                    void *user);

/** Would a run of the job on the device measure? */
bool gpu_tuner_is_due(const struct gpu_kernel *kernel, const struct fbp_job *job, int index,
                      const struct gpu_timer *timer);

/** Call these before and after the launch of a pass of n views; begin() returns its shape. */
int gpu_tuner_begin(struct gpu_tuner *tuner, int n, const struct gpu_grid *grid);
void gpu_tuner_end(struct gpu_tuner *tuner, int n, const struct gpu_grid *grid);

/** Cache the fastest shape if two rounds are complete; the events are no longer needed. */
void gpu_tuner_close(struct gpu_tuner *tuner);

/** The cached shape of `key`, or -1 if there is none below n_shapes. */
int gpu_tuned_read(const struct fbp_cache_file *file, const char *key, int n_shapes);

/** Cache a shape; keys have neither tabs nor line ends. */
void gpu_tuned_write(const struct fbp_cache_file *file, const char *key, int shape);

#endif /* FBP_SRC_BACKEND_GPU_TUNER_H */
