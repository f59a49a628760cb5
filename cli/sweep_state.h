/** @file sweep_state.h  State of a running sweep, shared by sweep.c and sweep_result.c. */
#ifndef FBP_CLI_SWEEP_STATE_H
#define FBP_CLI_SWEEP_STATE_H

#include "sweep.h"

struct sweep {
    struct recon_args *args;
    struct sweep_range *range;
    struct fbp_scan scan;
    struct fbp_view *views; /* views with the current value and all other options applied */
    struct fbp_source *source;
    struct fbp_grid grid; /* grid of the slices */
    size_t slice, shown;  /* index of the slice in the sheet: in the volume, in `grid` */
    double present;       /* the scan's value of the parameter */
    double radius_mm;     /* least field of view radius over all values */
    float *slices;        /* [grid.n[2]][ny][nx], for the current value */
    size_t reduce, w, h;  /* voxels per picture pixel along x and y; picture size */
    float *pictures;      /* [range->n][h][w] */
    double *scores;       /* [range->n] */
    double best, seconds; /* best value; duration */
    bool at_end;          /* the best value is at an end of the range */
};

/** Find the best value, write the sheet and the curve, print; returns an exit status. */
int sweep_finish(struct sweep *sweep);

#endif /* FBP_CLI_SWEEP_STATE_H */
