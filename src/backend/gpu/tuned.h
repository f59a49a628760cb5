/** @file tuned.h  Which shape of a kernel was fastest, kept from run to run (internal). */
#ifndef FBP_SRC_GPU_TUNED_H
#define FBP_SRC_GPU_TUNED_H

#include "base/cache.h"

/** The shape kept for `key`, or -1 if there is none below n_shapes. */
int gpu_tuned_recall(const struct fbp_kept_file *file, const char *key, int n_shapes);

/** Keep a shape; keys have neither tabs nor line ends. */
void gpu_tuned_keep(const struct fbp_kept_file *file, const char *key, int shape);

#endif /* FBP_SRC_GPU_TUNED_H */
