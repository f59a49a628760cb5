/* fbp_epr: plane integrals of EPR imaging to an object, for MATLAB and Octave (fbp_epr.m). */
#include "epr_call.h"

#include <math.h>
#include <stdlib.h>

enum { ARGUMENTS = 7, MOST_SIDE = 65536 };

/* The arguments with a place. */

static enum fbp_type type_of(const mxArray *a)
{
    switch (mxGetClassID(a)) {
    case mxDOUBLE_CLASS:
        return FBP_F64;
    case mxSINGLE_CLASS:
        return FBP_F32;
    case mxINT32_CLASS:
        return FBP_I32;
    case mxINT16_CLASS:
        return FBP_I16;
    case mxUINT16_CLASS:
        return FBP_U16;
    default:
        return FBP_TYPE_NONE;
    }
}

/* S x Q, or S x D x Q: the samples are taken where they lie. */
static bool take_projections(struct epr_call *c, const mxArray *a)
{
    const mwSize *n = mxGetDimensions(a);
    const size_t dimensions = (size_t)mxGetNumberOfDimensions(a);
    const bool delays = dimensions == 3;

    if (mxIsComplex(a))
        return mex_fail(&c->failure, "type",
                        "projection: expected real numbers, got complex numbers; correct the "
                        "phase, then pass real(projection)");
    if (type_of(a) == FBP_TYPE_NONE || mxIsSparse(a))
        return mex_fail(&c->failure, "type",
                        "projection: expected double, single, int32, int16 or uint16, got %s",
                        mxGetClassName(a));
    if (dimensions > 3 || mxGetNumberOfElements(a) == 0)
        return mex_fail(&c->failure, "size",
                        "projection: expected samples x projections, or samples x delays x "
                        "projections");
    c->info = (struct fbp_array_info){
        .struct_size = sizeof c->info,
        .n = {(size_t)n[0], delays ? (size_t)n[1] : 1, (size_t)n[delays ? 2 : 1]},
        .type = type_of(a),
        .row_order = FBP_ROWS_BOTTOM_UP};
    c->samples = mxGetData(a);
    c->scan.panel = (struct fbp_panel){c->info.n[0], c->info.n[1]};
    c->scan.n_views = c->info.n[2];
    return true;
}

/* N, or three numbers. */
static bool take_sides(struct epr_call *c, const mxArray *a)
{
    const size_t n = mxGetNumberOfElements(a) == 3 ? 3 : 1;
    double *sides = NULL;

    if (!mex_numbers(&c->failure, "N", a, n, &sides))
        return false;
    for (int i = 0; i < 3; i++) {
        const double side = sides[n == 3 ? i : 0];
        if (!(side >= 1 && side <= MOST_SIDE && side == floor(side)))
            return mex_fail(&c->failure, "value", "N: expected a whole number from 1 to %d, got %g",
                            MOST_SIDE, side);
        c->scan.volume.n[i] = (size_t)side;
    }
    return true;
}

static bool take_distances(struct epr_call *c, const mxArray *object, const mxArray *proj)
{
    c->n_object = mxGetNumberOfElements(object) == 3 ? 3 : 1;
    if (!mex_numbers(&c->failure, "d_object", object, c->n_object, &c->d_object) ||
        !epr_each(c, "d_proj", proj, &c->d_proj, &c->n_proj))
        return false;
    for (size_t i = 0; i < c->n_object; i++)
        if (!(c->d_object[i] > 0 && isfinite(c->d_object[i])))
            return mex_fail(&c->failure, "value", "d_object: expected a distance above 0, got %g",
                            c->d_object[i]);
    for (size_t k = 0; k < c->n_proj; k++)
        if (!(c->d_proj[k] > 0 && isfinite(c->d_proj[k])))
            return mex_fail(&c->failure, "value",
                            "d_proj: expected a distance above 0, got %g for projection %zu; "
                            "remove projections that were measured without a gradient",
                            c->d_proj[k], k + 1);
    return true;
}

/* Q and S, which the paper's list ends with, are known from the projections. */
static bool check_number(struct epr_call *c, const char *name, const mxArray *a, size_t wanted)
{
    size_t n = 0;

    if (!mex_count(&c->failure, name, a, 1, (size_t)1 << 31, &n))
        return false;
    return n == wanted ||
           mex_fail(&c->failure, "size", "%s: found %zu entries, but projection has %zu", name, n,
                    wanted);
}

static bool take_arguments(struct epr_call *c, int n, const mxArray *const *a)
{
    size_t found;
    int next = ARGUMENTS;

    if (n < ARGUMENTS)
        return mex_fail(&c->failure, "arguments",
                        "expected fbp_epr(projection, GX, GY, GZ, d_object, N, d_proj, ...), got "
                        "%d argument%s",
                        n, n == 1 ? "" : "s");
    if (!take_projections(c, a[0]) ||
        !mex_directions(&c->failure, a + 1, c->scan.n_views, &c->direction, &found) ||
        !take_sides(c, a[5]) || !take_distances(c, a[4], a[6]))
        return false;
    if (next < n && mxIsNumeric(a[next]) && !check_number(c, "Q", a[next++], c->scan.n_views))
        return false;
    if (next < n && mxIsNumeric(a[next]) && !check_number(c, "S", a[next++], c->info.n[0]))
        return false;
    return epr_options(c, n - next, a + next);
}

/* The scan. */

static bool make_scan(struct epr_call *c)
{
    const double samples = (double)c->info.n[0];
    struct fbp_grid *g = &c->scan.volume;

    c->scan.kind = FBP_PLANES;
    for (int i = 0; i < 3; i++) {
        g->voxel_mm[i] = c->d_object[c->n_object == 3 ? i : 0];
        g->centre_mm[i] = c->centre ? c->centre[i] : c->paper ? 0.5 * g->voxel_mm[i] : 0;
    }
    double *first = mxMalloc(c->scan.n_views * sizeof *first);
    for (size_t k = 0; k < c->scan.n_views; k++)
        first[k] =
            c->first ? c->first[c->n_first == 1 ? 0 : k]
                     : -(c->paper ? samples : samples - 1) / 2 * c->d_proj[c->n_proj == 1 ? 0 : k];
    struct fbp_scan made = {.struct_size = sizeof made};
    const struct fbp_planes planes = {.struct_size = sizeof planes,
                                      .n_views = c->scan.n_views,
                                      .direction = (const double(*)[3])c->direction,
                                      .spacing_mm = c->d_proj,
                                      .n_spacing = c->n_proj == 1 ? 1 : c->scan.n_views,
                                      .first_mm = first,
                                      .n_first = c->scan.n_views,
                                      .n_samples = c->info.n[0],
                                      .n_time_points = c->scan.panel.n_rows};
    if (fbp_scan_planes(&made, &planes) != FBP_OK)
        return mex_fail_library(&c->failure);
    c->scan.views = made.views;
    return true;
}

static mxArray *describe(const struct fbp_plan_summary *s, const struct fbp_report *r)
{
    static const char *names[] = {"device", "kernel", "weights", "seconds", "min", "max"};
    mxArray *out = mxCreateStructMatrix(1, 1, 6, names);

    mxSetField(out, 0, "device", mxCreateString(s->backend));
    mxSetField(out, 0, "kernel", mxCreateString(s->kernel));
    mxSetField(out, 0, "weights", mxCreateString(s->weights));
    mxSetField(out, 0, "seconds", mxCreateDoubleScalar(r->total));
    mxSetField(out, 0, "min", mxCreateDoubleScalar(r->min));
    mxSetField(out, 0, "max", mxCreateDoubleScalar(r->max));
    return out;
}

void mexFunction(int n_out, mxArray *out[], int n_in, const mxArray *in[])
{
    struct epr_call c = {.scan = {.struct_size = sizeof c.scan},
                         .params = {.struct_size = sizeof c.params}};
    struct epr_done done = {.report = {.struct_size = sizeof done.report}};
    bool ok = take_arguments(&c, n_in, in);

    if (ok)
        epr_new_object(&c); /* may leave by a jump: nothing but the weights would stay */
    if (ok && make_scan(&c))
        (void)epr_reconstruct(&c, &done);
    fbp_scan_clear(&c.scan);
    mex_raise(&c.failure);
    out[0] = c.object;
    if (n_out > 1)
        out[1] = describe(&done.summary, &done.report);
    if (c.warnings[0])
        mexWarnMsgIdAndTxt("fbp:warning", "%s", c.warnings);
}
