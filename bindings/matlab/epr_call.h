/** @file epr_call.h  A call of fbp_epr: its arguments, and what becomes of them. */
#ifndef FBP_MEX_EPR_CALL_H
#define FBP_MEX_EPR_CALL_H

#include "mex_args.h"

enum { EPR_WARNINGS = 2000 };

struct epr_call {
    struct mex_failure failure;
    struct fbp_array_info info; /* of the projections: samples, delays, views */
    const void *samples;        /* the host's */
    double (*direction)[3];     /* [views] */
    double *d_object, *d_proj;  /* [1 or 3], [1 or views] */
    size_t n_object, n_proj;
    const double *first; /* [1 or views]; NULL: as `paper` says */
    size_t n_first;
    const double *reference; /* [samples]: spectrum without a gradient; NULL: none */
    const double *centre;    /* [3]; NULL: as `paper` says */
    bool paper;              /* t = 0 at sample S/2, voxel m (from 0) at (m + 1 - N/2) d */
    struct fbp_scan scan;
    struct fbp_recon_params params;
    char warnings[EPR_WARNINGS];
    mxArray *object;
};

/** What was decided and found. */
struct epr_done {
    struct fbp_plan_summary summary;
    struct fbp_report report;
    char device[32], kernel[32];
};

/** Pairs of name and value, n values in all. */
bool epr_options(struct epr_call *c, int n, const mxArray *const *pairs);

/** One number, or one a projection. */
bool epr_each(struct epr_call *c, const char *name, const mxArray *value, double **out, size_t *n);

/** A new object, which the host owns; may leave by a jump. */
void epr_new_object(struct epr_call *c);
/** Fill it. */
bool epr_reconstruct(struct epr_call *c, struct epr_done *done);

#endif /* FBP_MEX_EPR_CALL_H */
