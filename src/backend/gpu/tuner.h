/** @file tuner.h  Choice among the shapes of a GPU kernel by measurement; called by the CUDA and
 * OpenGL backends (internal).
 *
 * A shape is a compiled variant (tile and window) of a kernel.  All shapes give the same bits,
 * therefore a run may change shapes between passes.  The first run of a kernel on a type of device
 * times its first passes with each candidate in turn: no pass is computed twice, and no additional
 * memory is used.  The fastest shape is cached for later runs.  If a measurement fails, the run
 * continues with the likeliest shape.  Passes of up to 8 slices have shapes that are not measured.
 */
#ifndef FBP_SRC_BACKEND_GPU_TUNER_H
#define FBP_SRC_BACKEND_GPU_TUNER_H

#include "backend/gpu/gpu_kernel.h"

#include "base/cache.h"

/** GPU_TUNER_ROUNDS: timed passes (trials) per candidate, of which the first does not count;
 * GPU_TUNER_TRIALS: greatest number of trials; GPU_TUNER_KEY: bytes of a cache key. */
enum {
    GPU_TUNER_ROUNDS = 3,
    GPU_TUNER_TRIALS = GPU_TUNER_ROUNDS * GPU_MOST_SHAPES,
    GPU_TUNER_KEY = 320
};

/** Functions of a backend that time passes by events in the device's queue.  A function that fails
 * returns false and sets no error; the run continues. */
struct gpu_timer {
    /** file of the cache that stores the fastest shapes of the module */
    struct fbp_cache_file file;
    /** Writes name, size and driver of a device, because the fastest shape depends on them. */
    bool (*describe)(int index, char *out, size_t n);
    /** Creates the events of n trials. */
    bool (*open)(void *user, int n);
    /** Records an event in the queue of the passes: event 2 t begins trial t, event 2 t + 1 ends
     *  it. */
    bool (*record)(void *user, int event);
    /** Returns whether the device has passed an event; `wait`: waits until it has. */
    bool (*is_over)(void *user, int event, bool wait);
    /** Sets *ms to the duration of a finished trial in milliseconds. */
    bool (*elapsed)(void *user, int trial, float *ms);
};

/** State of the choice among shapes for the kernel of one device. */
struct gpu_tuner {
    const struct gpu_timer *timer;
    void *user;  /**< argument of the timer's functions */
    int shape;   /**< shape of passes of more than 8 slices */
    int thin[2]; /**< shapes of passes of up to 4, and of 5 to 8 slices */
    bool active; /**< passes are timed */
    int candidates[GPU_MOST_SHAPES], n_candidates;
    int n; /**< number of timed passes so far; the next pass has candidate n % n_candidates */
    struct gpu_grid grid; /**< grid of all timed passes: only equal passes are compared */
    char key[GPU_TUNER_KEY];
};

/** Selects the shapes of a device: shape n if FBP_SHAPE=n (tests), else the cached shape, else the
 * likeliest; in the last case, passes are timed unless FBP_TUNE=0. */
void gpu_tuner_open(struct gpu_tuner *tuner, const struct gpu_kernel *kernel,
                    const struct fbp_job *job, int index, const struct gpu_timer *timer,
                    void *user);

/** Returns whether a run of the job on the device would time passes. */
bool gpu_tuner_is_due(const struct gpu_kernel *kernel, const struct fbp_job *job, int index,
                      const struct gpu_timer *timer);

/** The backend calls these functions before and after the launch of a pass of n views;
 * gpu_tuner_begin() returns the pass's shape. */
int gpu_tuner_begin(struct gpu_tuner *tuner, int n, const struct gpu_grid *grid);
void gpu_tuner_end(struct gpu_tuner *tuner, int n, const struct gpu_grid *grid);

/** Caches the fastest shape if enough trials are complete, and ends the trials. */
void gpu_tuner_close(struct gpu_tuner *tuner);

/** Writes the key under which measurements of a kernel on a device are cached.  Returns false if
 * they are not: for a region, if FBP_TUNE=0, or if the device is unknown. */
bool gpu_timing_key(const struct gpu_kernel *kernel, const struct fbp_job *job, int index,
                    const struct gpu_timer *timer, char key[GPU_TUNER_KEY]);

/** Returns the cached shape of `key`; -1: none in 0 … n_shapes - 1. */
int gpu_tuned_read(const struct fbp_cache_file *file, const char *key, int n_shapes);

/** Stores a shape in the cache; the key must not contain tabs or line ends. */
void gpu_tuned_write(const struct fbp_cache_file *file, const char *key, int shape);

#endif /* FBP_SRC_BACKEND_GPU_TUNER_H */
