/** @file tune.h  Choosing among the shapes of a kernel (internal).
 *
 * All shapes give the same bits, so a run may change from one to another between passes.  The first
 * passes of the first run of a kernel on a kind of device are timed with each of its candidates in
 * turn: no work is done twice and no memory taken.  The fastest is kept for later runs (tuned.h).
 * Whatever goes wrong, the run goes on with the likeliest.  Thin passes have shapes of their own,
 * which are not measured.
 */
#ifndef FBP_SRC_CUDA_TUNE_H
#define FBP_SRC_CUDA_TUNE_H

#include "backend/cuda/kernel.h"

struct cuda_device;

/** Each candidate is timed so many times, the first time for nothing; bytes of a key. */
enum { CUDA_TUNE_ROUNDS = 3, CUDA_TUNE_KEY = 320 };

/** One timed pass. */
struct cuda_trial {
    cudaEvent_t begin, end;
};

struct cuda_tuning {
    bool active;
    int candidates[GPU_MOST_SHAPES], n_candidates;
    int thin[2]; /**< for passes of up to 4, and of up to 8 slices */
    int n;       /**< passes timed so far; of candidate n % n_candidates */
    int z0, nz;  /**< slices of all of them */
    struct cuda_trial trials[CUDA_TUNE_ROUNDS * GPU_MOST_SHAPES];
    char key[CUDA_TUNE_KEY];
};

/** The device's shape: FBP_SHAPE=n (tests), the one kept, or the likeliest; if that is all, timing
 *  begins unless FBP_TUNE=0. */
void cuda_tune_open(struct cuda_device *dev);

/** Would a run of the job on the device measure? */
bool cuda_tune_is_due(const struct gpu_kernel *kernel, const struct fbp_job *job, int ordinal);

/** Before and after the launch of a pass: which shape it is to have, and its time if it counts. */
void cuda_tune_begin(struct cuda_device *dev, struct cuda_bp *bp);
void cuda_tune_end(struct cuda_device *dev, const struct cuda_bp *bp);

/** Take down events; a measurement of two rounds is kept. */
void cuda_tune_close(struct cuda_device *dev);

#endif /* FBP_SRC_CUDA_TUNE_H */
