/* fbp_epr: plane integrals of EPR imaging to an object, for MATLAB and Octave (fbp_epr.m). */
#include "mex_args.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARGUMENTS = 7, MOST_SIDE = 65536, WARNINGS = 2000 };

struct call {
    struct mex_failure failure;
    struct fbp_array_info info; /* of the projections: samples, delays, views */
    const void *samples;        /* the host's */
    double (*direction)[3];     /* [views] */
    double *d_object, *d_proj;  /* [1 or 3], [1 or views] */
    size_t n_object, n_proj;
    const double *first; /* [1 or views]; NULL: as `paper` says */
    size_t n_first;
    const double *centre; /* [3]; NULL: as `paper` says */
    bool paper;           /* t = 0 at sample S/2, voxel m (from 0) at (m + 1 - N/2) d */
    struct fbp_scan scan;
    struct fbp_recon_params params;
    char warnings[WARNINGS];
    mxArray *object;
};

/* Options. */

static const char *filter_name(size_t i)
{
    const char *name = i <= FBP_FILTER_LAST ? fbp_filter_name((enum fbp_filter)i) : NULL;

    return i == FBP_FILTER_LAST + 1 ? "none" : name;
}

static bool take_filter(void *user, const char *name, const mxArray *value)
{
    struct call *c = user;
    size_t i;

    if (!mex_choice(&c->failure, name, value, filter_name, &i))
        return false;
    c->scan.filtered = i > FBP_FILTER_LAST;
    if (!c->scan.filtered)
        c->params.filter = (enum fbp_filter)i;
    return true;
}

static bool take_cutoff(void *user, const char *name, const mxArray *value)
{
    struct call *c = user;

    return mex_number(&c->failure, name, value, 1e-6, 1, &c->params.cutoff);
}

static bool take_oversampling(void *user, const char *name, const mxArray *value)
{
    struct call *c = user;

    return mex_count(&c->failure, name, value, 1, 2, &c->params.oversampling);
}

/* A word, or one weight a projection. */
static bool take_quadrature(void *user, const char *name, const mxArray *value)
{
    struct call *c = user;
    double *weights;
    size_t i;

    if (mxIsChar(value)) {
        if (!mex_choice(&c->failure, name, value, fbp_quadrature_name, &i))
            return false;
        c->scan.quadrature = (enum fbp_quadrature)i;
        return c->scan.quadrature != FBP_QUADRATURE_GIVEN ||
               mex_fail(&c->failure, "value", "%s: give the weights themselves, %zu numbers", name,
                        c->scan.n_views);
    }
    if (!mex_numbers(&c->failure, name, value, c->scan.n_views, &weights))
        return false;
    free(c->scan.plane_weights);
    c->scan.plane_weights = malloc(c->scan.n_views * sizeof *weights);
    if (!c->scan.plane_weights)
        return mex_fail(&c->failure, "memory", "%s: not enough memory", name);
    memcpy(c->scan.plane_weights, weights, c->scan.n_views * sizeof *weights);
    c->scan.quadrature = FBP_QUADRATURE_GIVEN;
    return true;
}

static bool take_stages(void *user, const char *name, const mxArray *value)
{
    struct call *c = user;
    size_t n = 1;
    const bool there = mex_count(&c->failure, name, value, 1, 2, &n);

    c->params.stages = (int)n;
    return there;
}

static const char *grid_name(size_t i)
{
    static const char *const names[] = {"symmetric", "eprit", NULL};

    return names[i];
}

static bool take_grid(void *user, const char *name, const mxArray *value)
{
    struct call *c = user;
    size_t i = 0;

    if (!mex_choice(&c->failure, name, value, grid_name, &i))
        return false;
    c->paper = i == 1;
    return true;
}

/* One number, or one a projection. */
static bool take_each(struct call *c, const char *name, const mxArray *value, double **out,
                      size_t *n)
{
    *n = mxGetNumberOfElements(value) == 1 ? 1 : c->scan.n_views;
    return mex_numbers(&c->failure, name, value, *n, out);
}

static bool take_first(void *user, const char *name, const mxArray *value)
{
    struct call *c = user;
    double *list = NULL;
    const bool there = take_each(c, name, value, &list, &c->n_first);

    c->first = list;
    return there;
}

static bool take_centre(void *user, const char *name, const mxArray *value)
{
    struct call *c = user;
    double *list = NULL;
    const bool there = mex_numbers(&c->failure, name, value, 3, &list);

    c->centre = list;
    return there;
}

static const char *interpolation_name(size_t i)
{
    return i <= FBP_INTERPOLATION_LAST ? fbp_interpolation_name((enum fbp_interpolation)i) : NULL;
}

static bool take_interpolation(void *user, const char *name, const mxArray *value)
{
    struct call *c = user;
    size_t i = 0;
    const bool there = mex_choice(&c->failure, name, value, interpolation_name, &i);

    c->params.interpolation = (enum fbp_interpolation)i;
    return there;
}

static bool take_device(void *user, const char *name, const mxArray *value)
{
    struct call *c = user;

    return mex_text(&c->failure, name, value, &c->params.device);
}

static bool take_kernel(void *user, const char *name, const mxArray *value)
{
    struct call *c = user;

    return mex_text(&c->failure, name, value, &c->params.kernel);
}

static bool take_threads(void *user, const char *name, const mxArray *value)
{
    struct call *c = user;
    size_t n = 0;
    const bool there = mex_count(&c->failure, name, value, 0, 4096, &n);

    c->params.n_threads = (int)n;
    return there;
}

static const struct mex_option options[] = {
    {"Filter", take_filter},
    {"Cutoff", take_cutoff},
    {"Oversampling", take_oversampling},
    {"Interpolation", take_interpolation},
    {"Stages", take_stages},
    {"Quadrature", take_quadrature},
    {"Grid", take_grid},
    {"First", take_first},
    {"Centre", take_centre},
    {"Device", take_device},
    {"Kernel", take_kernel},
    {"Threads", take_threads},
    {NULL, NULL},
};

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
static bool take_projections(struct call *c, const mxArray *a)
{
    const mwSize *n = mxGetDimensions(a);
    const size_t dimensions = (size_t)mxGetNumberOfDimensions(a);
    const bool delays = dimensions == 3;

    if (mxIsComplex(a))
        return mex_fail(
            &c->failure, "type",
            "projection: expected real numbers, got complex ones: give real(projection) "
            "once their phase is right");
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
static bool take_sides(struct call *c, const mxArray *a)
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

static bool take_distances(struct call *c, const mxArray *object, const mxArray *proj)
{
    c->n_object = mxGetNumberOfElements(object) == 3 ? 3 : 1;
    if (!mex_numbers(&c->failure, "d_object", object, c->n_object, &c->d_object) ||
        !take_each(c, "d_proj", proj, &c->d_proj, &c->n_proj))
        return false;
    for (size_t i = 0; i < c->n_object; i++)
        if (!(c->d_object[i] > 0 && isfinite(c->d_object[i])))
            return mex_fail(&c->failure, "value", "d_object: expected a distance above 0, got %g",
                            c->d_object[i]);
    for (size_t k = 0; k < c->n_proj; k++)
        if (!(c->d_proj[k] > 0 && isfinite(c->d_proj[k])))
            return mex_fail(&c->failure, "value",
                            "d_proj: expected a distance above 0, got %g for projection %zu: a "
                            "projection without a gradient shows no place",
                            c->d_proj[k], k + 1);
    return true;
}

/* Q and S, which the paper's list ends with, are known from the projections. */
static bool check_number(struct call *c, const char *name, const mxArray *a, size_t wanted)
{
    size_t n = 0;

    if (!mex_count(&c->failure, name, a, 1, (size_t)1 << 31, &n))
        return false;
    return n == wanted ||
           mex_fail(&c->failure, "size", "%s: is %zu, but projection has %zu", name, n, wanted);
}

static bool take_arguments(struct call *c, int n, const mxArray *const *a)
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
    return mex_options(&c->failure, options, c, n - next, a + next);
}

/* The scan. */

static bool make_scan(struct call *c)
{
    const double samples = (double)c->info.n[0];
    struct fbp_grid *g = &c->scan.volume;

    c->scan.kind = FBP_PLANES;
    for (int i = 0; i < 3; i++) {
        g->voxel_mm[i] = c->d_object[c->n_object == 3 ? i : 0];
        g->centre_mm[i] = c->centre ? c->centre[i] : c->paper ? 0.5 * g->voxel_mm[i] : 0;
    }
    c->scan.views = calloc(c->scan.n_views, sizeof *c->scan.views);
    if (!c->scan.views)
        return mex_fail(&c->failure, "memory", "not enough memory for directions");
    for (size_t k = 0; k < c->scan.n_views; k++) {
        const double step = c->d_proj[c->n_proj == 1 ? 0 : k];
        const double usual = -(c->paper ? samples : samples - 1) / 2 * step;
        fbp_plane_view(c->direction[k], step, c->first ? c->first[c->n_first == 1 ? 0 : k] : usual,
                       c->info.n[0], &c->scan.views[k]);
    }
    return true;
}

/* N x N x N, or with D delays N x N x N x D: x is the fastest, here and in the library. */
static void make_object(struct call *c)
{
    const size_t *n = c->scan.volume.n;
    const mwSize sides[4] = {(mwSize)n[0], (mwSize)n[1], (mwSize)n[2], (mwSize)c->info.n[1]};

    c->object = mxCreateNumericArray(c->info.n[1] > 1 ? 4 : 3, sides, mxSINGLE_CLASS, mxREAL);
}

/* Lines are kept: only the host's own thread may print. */
static void keep_warning(void *user, enum fbp_log_level level, const char *line)
{
    struct call *c = user;
    const size_t used = strlen(c->warnings);

    if (level == FBP_LOG_WARNING)
        snprintf(c->warnings + used, sizeof c->warnings - used, "%s%s", used ? "\n" : "", line);
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

/* What was decided and found, before the plan is gone. */
struct done {
    struct fbp_plan_summary summary;
    struct fbp_report report;
    char device[32], kernel[32];
};

static void keep_summary(const fbp_plan *plan, struct done *done)
{
    done->summary = *fbp_plan_info(plan);
    snprintf(done->device, sizeof done->device, "%s", done->summary.backend);
    snprintf(done->kernel, sizeof done->kernel, "%s", done->summary.kernel);
    done->summary.backend = done->device;
    done->summary.kernel = done->kernel;
}

static bool reconstruct(struct call *c, struct done *done)
{
    const size_t *n = c->scan.volume.n, slices[3] = {n[0], n[1], n[2] * c->info.n[1]};
    fbp_source *source = NULL;
    fbp_sink *sink = NULL;
    fbp_plan *plan = NULL;

    c->params.log = keep_warning;
    c->params.user = c;
    bool ok = fbp_source_memory(&source, c->samples, &c->info) == FBP_OK;
    c->params.source = source;
    ok = ok && fbp_plan_create(&plan, &c->scan, &c->params) == FBP_OK &&
         fbp_sink_memory(&sink, mxGetData(c->object), slices) == FBP_OK &&
         fbp_plan_run_to(plan, NULL, sink, &done->report) == FBP_OK;
    if (!ok)
        mex_fail_library(&c->failure);
    else
        keep_summary(plan, done);
    fbp_sink_close(&sink);
    fbp_plan_destroy(&plan);
    fbp_source_close(&source);
    return ok;
}

void mexFunction(int n_out, mxArray *out[], int n_in, const mxArray *in[])
{
    struct call c = {.scan = {.struct_size = sizeof c.scan},
                     .params = {.struct_size = sizeof c.params}};
    struct done done = {.report = {.struct_size = sizeof done.report}};
    bool ok = take_arguments(&c, n_in, in);

    if (ok)
        make_object(&c); /* may leave by a jump: nothing but the weights would stay */
    if (ok && make_scan(&c))
        (void)reconstruct(&c, &done);
    fbp_scan_clear(&c.scan);
    mex_raise(&c.failure);
    out[0] = c.object;
    if (n_out > 1)
        out[1] = describe(&done.summary, &done.report);
    if (c.warnings[0])
        mexWarnMsgIdAndTxt("fbp:warning", "%s", c.warnings);
}
