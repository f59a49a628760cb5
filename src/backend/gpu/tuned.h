/** @file tuned.h  Which shape of a kernel was fastest, kept from run to run (internal).
 *
 * The file ${XDG_CACHE_HOME:-~/.cache}/fbp/cuda-shapes holds a line of title and lines
 * "key<TAB>shape".  It is a convenience: whatever is wrong with it or with its folder, a run goes
 * on without, and a damaged file is written anew.
 */
#ifndef FBP_SRC_GPU_TUNED_H
#define FBP_SRC_GPU_TUNED_H

/** The shape kept for `key`, or -1 if there is none below n_shapes. */
int gpu_tuned_recall(const char *key, int n_shapes);

/** Keep a shape; keys have neither tabs nor line ends. */
void gpu_tuned_keep(const char *key, int shape);

#endif /* FBP_SRC_GPU_TUNED_H */
