/** @file make.h  Scans to read, of noisy views, written by libtiff, libhdf5 and by hand. */
#ifndef FBP_BENCH_READING_MAKE_H
#define FBP_BENCH_READING_MAKE_H

#include <stddef.h>

enum { MAKE_SIDE = 1024 }; /**< columns and rows of a view */

/** Names of the kinds, in one line. */
void make_kinds(char *out, size_t room);

/** `mib` MiB of samples of the kind `name` at `path`.  0, or an exit status after a message. */
int make_data(const char *name, const char *path, size_t mib);

#endif /* FBP_BENCH_READING_MAKE_H */
