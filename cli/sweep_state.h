/** @file sweep_state.h  A sweep as it runs. */
#ifndef FBP_CLI_SWEEP_STATE_H
#define FBP_CLI_SWEEP_STATE_H

#include "sweep.h"

struct sweep {
    struct recon_args *args;
    struct sweep_range *range;
    struct fbp_scan scan;
    struct fbp_view *views; /* of one value, and of all else that is given */
    struct fbp_source *source;
    struct fbp_grid grid; /* of the slices */
    size_t slice, shown;  /* the one that is shown, of the volume and of the grid */
    double present;       /* the scan's own value */
    double radius_mm;     /* what every value sees */
    float *slices;        /* [grid.n[2]][ny][nx] of one value */
    size_t reduce, w, h;  /* values a pixel of the pictures that are kept, their size */
    float *pictures;      /* [range->n][h][w] */
    double *scores;
    double best, seconds;
    bool at_end;
};

/** Find the best value, write the sheet and the curve, print; returns an exit status. */
int sweep_finish(struct sweep *sweep);

#endif /* FBP_CLI_SWEEP_STATE_H */
