/** @file tuner.h  Choice of the fastest shape of a GPU kernel by measurement, for the CUDA and
 * OpenGL backends (internal).
 *
 * A shape is a compiled variant (tile and window) of a kernel. A pass is one launch, which adds up
 * to GPU_PASS views. All shapes give bitwise identical results, therefore a run may change shapes
 * between passes. The first large run of a kernel on a type of device times its first passes with
 * each candidate in turn: no pass is computed twice, and no additional memory is used. The fastest
 * shape is cached for later runs. If a measurement fails, the run continues with the first
 * candidate (the "likeliest"). The shapes of passes of up to 8 slices are not measured.
 * Used by: backend/cuda/cuda.h, backend/gl/gl.h, tuner.c.
 */
#ifndef FBP_SRC_BACKEND_GPU_TUNER_H
#define FBP_SRC_BACKEND_GPU_TUNER_H

#include "backend/gpu/gpu_kernel.h"

#include "base/cache.h"

/** GPU_TUNER_ROUNDS: timed passes (trials) per candidate shape, the first of which does not count;
 * GPU_TUNER_TRIALS: greatest number of trials of a kernel; GPU_TUNER_KEY: bytes of a cache key. */
enum {
    GPU_TUNER_ROUNDS = 3,
    GPU_TUNER_TRIALS = GPU_TUNER_ROUNDS * GPU_MOST_SHAPES,
    GPU_TUNER_KEY = 320
};

/** Functions of a backend that time kernel launches by events in the device's queue.  A function
 * that fails returns false and sets no error message; the run continues without timing. */
struct gpu_timer {
    /** file in which the fastest shapes are cached; CUDA and OpenGL have separate files */
    struct fbp_cache_file file;
    /** Writes the properties of a device on which the fastest shape depends: name, driver, and
     * others.  Returns false if they are unknown, or if kernels of the device are not timed. */
    bool (*describe)(int index, char *out, size_t n);
    /** Creates the events for n trials (timed launches). */
    bool (*open)(void *user, int n);
    /** Records an event in the queue of the launches: 2 t begins trial t, 2 t + 1 ends it. */
    bool (*record)(void *user, int event);
    /** Returns whether the device has passed an event; `wait`: first wait until it has. */
    bool (*is_over)(void *user, int event, bool wait);
    /** Sets *ms to the duration of a finished trial in milliseconds. */
    bool (*elapsed)(void *user, int trial, float *ms);
};

/** State of the choice of a shape (compiled variant) of the kernel of one device. */
struct gpu_tuner {
    const struct gpu_timer *timer;
    void *user;  /**< argument of the timer's functions */
    int shape;   /**< shape of launches of more than 8 slices that are not timed */
    int thin[3]; /**< shapes of launches of 1 slice, 2 to 4, 5 to 8 slices */
    bool active; /**< passes are timed */
    int candidates[GPU_MOST_SHAPES], n_candidates;
    int n; /**< timed launches so far; the next uses candidate n % n_candidates */
    /** size and position of every timed launch: only equal launches are compared */
    struct gpu_grid grid;
    char key[GPU_TUNER_KEY];
};

/** Selects the shapes of the kernel of a device: shape i if FBP_SHAPE=i (tests); otherwise, if the
 * job is large enough and gpu_timing_key() returns true, the cached shape or, without it, launches
 * are timed to find the fastest; otherwise the likeliest. */
void gpu_tuner_open(struct gpu_tuner *tuner, const struct gpu_kernel *kernel,
                    const struct fbp_job *job, int index, const struct gpu_timer *timer,
                    void *user);

/** Returns whether a run of the job on the device would time launches to find the fastest shape. */
bool gpu_tuner_is_due(const struct gpu_kernel *kernel, const struct fbp_job *job, int index,
                      const struct gpu_timer *timer);

/** Called before and after the launch of a pass of n views (or groups of symmetric views);
 * gpu_tuner_begin() returns the shape that the backend must launch. */
int gpu_tuner_begin(struct gpu_tuner *tuner, int n, const struct gpu_grid *grid);
void gpu_tuner_end(struct gpu_tuner *tuner, int n, const struct gpu_grid *grid);

/** Stores the fastest shape if at least two trials per shape were launched; stops timing. */
void gpu_tuner_close(struct gpu_tuner *tuner);

/** Writes the key of cached measurements of a kernel on a device; false: not cached, for example if
 * the job has a region, if FBP_TUNE=0, or if describe() fails. */
bool gpu_timing_key(const struct gpu_kernel *kernel, const struct fbp_job *job, int index,
                    const struct gpu_timer *timer, char key[GPU_TUNER_KEY]);

/** Shape that the cache stores under `key`; -1: none from 0 to n_shapes - 1. */
int gpu_tuned_read(const struct fbp_cache_file *file, const char *key, int n_shapes);

/** Stores a shape in the cache; the key must not contain tabs or line ends. */
void gpu_tuned_write(const struct fbp_cache_file *file, const char *key, int shape);

#endif /* FBP_SRC_BACKEND_GPU_TUNER_H */
