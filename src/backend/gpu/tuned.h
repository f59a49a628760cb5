/** @file tuned.h  Which shape of a kernel was fastest, kept from run to run (internal).
 *
 * The file ${XDG_CACHE_HOME:-~/.cache}/fbp/NAME holds a line of title and lines
 * "key<TAB>shape".  It is a convenience: whatever is wrong with it or with its folder, a run goes
 * on without, and a damaged file is written anew.
 */
#ifndef FBP_SRC_GPU_TUNED_H
#define FBP_SRC_GPU_TUNED_H

/** A module's file. */
struct gpu_tuned_file {
    const char *name,
        *title; /**< the title with its line end; another one: nothing is kept there */
};

/** The shape kept for `key`, or -1 if there is none below n_shapes. */
int gpu_tuned_recall(const struct gpu_tuned_file *file, const char *key, int n_shapes);

/** Keep a shape; keys have neither tabs nor line ends. */
void gpu_tuned_keep(const struct gpu_tuned_file *file, const char *key, int shape);

#endif /* FBP_SRC_GPU_TUNED_H */
