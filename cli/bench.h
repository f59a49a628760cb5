/** @file bench.h  What the benchmarks of whole reconstructions share: a place, a scan, overlap. */
#ifndef FBP_CLI_BENCH_H
#define FBP_CLI_BENCH_H

#include "cli.h"

/** Files of a run, in a directory of their own. */
struct workplace {
    char dir[400], scan[440], matrices[440], volume[440];
};

/** Make a new directory in `base` (NULL: $TMPDIR or /tmp); an exit status, failures reported. */
int workplace_make(struct workplace *w, const char *base);
/** Remove the directory and all that is in it, half-written files included. */
void workplace_remove(const struct workplace *w);

/** The part of a stage's busy seconds during which computing did not stand still for it. */
double bench_overlap(double busy, double waiting);

#endif /* FBP_CLI_BENCH_H */
