/** @file tuner.h  Choosing among the shapes of a kernel (internal).
 *
 * All shapes give the same bits, so a run may change from one to another between passes.  The first
 * passes of the first run of a kernel on a kind of device are timed with each of its candidates in
 * turn: no work is done twice and no memory taken.  The fastest is kept for later runs (tuned.h).
 * Whatever goes wrong, the run goes on with the likeliest.  Thin passes have shapes of their own,
 * which are not measured.
 */
#ifndef FBP_SRC_GPU_TUNER_H
#define FBP_SRC_GPU_TUNER_H

#include "backend/gpu/gpu_kernel.h"
#include "backend/gpu/tuned.h"

/** Each candidate is timed so many times, the first time for nothing; passes that are timed at
 *  most; bytes of a key. */
enum {
    GPU_TUNER_ROUNDS = 3,
    GPU_TUNER_TRIALS = GPU_TUNER_ROUNDS * GPU_MOST_SHAPES,
    GPU_TUNER_KEY = 320
};

/** How a GPU's module times passes: by marks in the queue that they are launched in.  A function
 *  returns false if it could not, which is no error of the run, and leaves no error behind. */
struct gpu_timer {
    struct fbp_kept_file file; /**< where the module's shapes are kept */
    /** What the best shape depends on of a device: its name, size and driver. */
    bool (*describe)(int index, char *out, size_t n);
    /** Make the marks of n trials. */
    bool (*open)(void *user, int n);
    /** Mark the beginning of a trial, and its end. */
    bool (*begin)(void *user, int trial);
    bool (*end)(void *user, int trial);
    /** Has the device come to its end?  Without waiting; and waiting. */
    bool (*is_over)(void *user, int trial);
    bool (*wait)(void *user, int trial);
    /** Milliseconds of a trial that is over. */
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
    struct gpu_grid grid; /**< of all of them */
    char key[GPU_TUNER_KEY];
};

/** The device's shapes: FBP_SHAPE=n (tests), the one kept, or the likeliest; if that is all, timing
 *  begins unless FBP_TUNE=0. */
void gpu_tuner_open(struct gpu_tuner *tuner, const struct gpu_kernel *kernel,
                    const struct fbp_job *job, int index, const struct gpu_timer *timer,
                    void *user);

/** Would a run of the job on the device measure? */
bool gpu_tuner_is_due(const struct gpu_kernel *kernel, const struct fbp_job *job, int index,
                      const struct gpu_timer *timer);

/** Before and after the launch of a pass of n views: the shape that it is to have, and its time if
 *  it counts. */
int gpu_tuner_begin(struct gpu_tuner *tuner, int n, const struct gpu_grid *grid);
void gpu_tuner_end(struct gpu_tuner *tuner, int n, const struct gpu_grid *grid);

/** A measurement of two rounds is kept; the marks are no longer needed. */
void gpu_tuner_close(struct gpu_tuner *tuner);

#endif /* FBP_SRC_GPU_TUNER_H */
