/* Options of fbp_epr. */
#include "epr_call.h"

#include <stdlib.h>
#include <string.h>

static const char *filter_name(size_t i)
{
    return i == FBP_FILTER_LAST + 1 ? "none" : fbp_name(FBP_LIST_FILTERS, i);
}

static bool take_filter(void *user, const char *name, const mxArray *value)
{
    struct epr_call *c = user;
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
    struct epr_call *c = user;

    return mex_number(&c->failure, name, value, 1e-6, 1, &c->params.cutoff);
}

static bool take_oversampling(void *user, const char *name, const mxArray *value)
{
    struct epr_call *c = user;

    return mex_count(&c->failure, name, value, 1, 2, &c->params.epr.oversampling);
}

static const char *quadrature_name(size_t i)
{
    return fbp_name(FBP_LIST_QUADRATURES, i);
}

/* A word, or one weight a projection. */
static bool take_quadrature(void *user, const char *name, const mxArray *value)
{
    struct epr_call *c = user;
    double *weights;
    size_t i;

    if (mxIsChar(value)) {
        if (!mex_choice(&c->failure, name, value, quadrature_name, &i))
            return false;
        c->scan.quadrature = (enum fbp_quadrature)i;
        return c->scan.quadrature != FBP_QUADRATURE_GIVEN ||
               mex_fail(&c->failure, "value",
                        "%s: expected a vector of %zu weights, not the name of a rule", name,
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

static const char *precision_name(size_t i)
{
    static const char *const names[] = {"single", "double", NULL};

    return names[i];
}

static bool take_precision(void *user, const char *name, const mxArray *value)
{
    struct epr_call *c = user;
    size_t i = 0;
    const bool there = mex_choice(&c->failure, name, value, precision_name, &i);

    c->params.precision = i ? FBP_PRECISION_DOUBLE : FBP_PRECISION_DEFAULT;
    return there;
}

static bool take_reference(void *user, const char *name, const mxArray *value)
{
    struct epr_call *c = user;
    double *list = NULL;
    const bool there = mex_numbers(&c->failure, name, value, c->info.n[0], &list);

    c->reference = list;
    return there;
}

static bool take_wiener(void *user, const char *name, const mxArray *value)
{
    struct epr_call *c = user;

    return mex_number(&c->failure, name, value, 0, 1e6, &c->params.epr.wiener);
}

static bool take_stages(void *user, const char *name, const mxArray *value)
{
    struct epr_call *c = user;
    size_t n = 1;
    const bool there = mex_count(&c->failure, name, value, 1, 2, &n);

    c->params.epr.stages = (int)n;
    return there;
}

static bool take_angles(void *user, const char *name, const mxArray *value)
{
    struct epr_call *c = user;

    return mex_count(&c->failure, name, value, 0, 100000, &c->params.epr.angles);
}

static const char *grid_name(size_t i)
{
    static const char *const names[] = {"symmetric", "eprit", NULL};

    return names[i];
}

static bool take_grid(void *user, const char *name, const mxArray *value)
{
    struct epr_call *c = user;
    size_t i = 0;

    if (!mex_choice(&c->failure, name, value, grid_name, &i))
        return false;
    c->paper = i == 1;
    return true;
}

bool epr_each(struct epr_call *c, const char *name, const mxArray *value, double **out, size_t *n)
{
    *n = mxGetNumberOfElements(value) == 1 ? 1 : c->scan.n_views;
    return mex_numbers(&c->failure, name, value, *n, out);
}

static bool take_first(void *user, const char *name, const mxArray *value)
{
    struct epr_call *c = user;
    double *list = NULL;
    const bool there = epr_each(c, name, value, &list, &c->n_first);

    c->first = list;
    return there;
}

static bool take_centre(void *user, const char *name, const mxArray *value)
{
    struct epr_call *c = user;
    double *list = NULL;
    const bool there = mex_numbers(&c->failure, name, value, 3, &list);

    c->centre = list;
    return there;
}

static const char *interpolation_name(size_t i)
{
    return fbp_name(FBP_LIST_INTERPOLATIONS, i);
}

static bool take_interpolation(void *user, const char *name, const mxArray *value)
{
    struct epr_call *c = user;
    size_t i = 0;
    const bool there = mex_choice(&c->failure, name, value, interpolation_name, &i);

    c->params.epr.interpolation = (enum fbp_interpolation)i;
    return there;
}

static bool take_device(void *user, const char *name, const mxArray *value)
{
    struct epr_call *c = user;

    return mex_text(&c->failure, name, value, &c->params.device);
}

static bool take_kernel(void *user, const char *name, const mxArray *value)
{
    struct epr_call *c = user;

    return mex_text(&c->failure, name, value, &c->params.tuning.kernel);
}

static bool take_threads(void *user, const char *name, const mxArray *value)
{
    struct epr_call *c = user;
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
    {"Angles", take_angles},
    {"Precision", take_precision},
    {"Reference", take_reference},
    {"Wiener", take_wiener},
    {"Quadrature", take_quadrature},
    {"Grid", take_grid},
    {"First", take_first},
    {"Centre", take_centre},
    {"Device", take_device},
    {"Kernel", take_kernel},
    {"Threads", take_threads},
    {NULL, NULL},
};

bool epr_options(struct epr_call *c, int n, const mxArray *const *pairs)
{
    return mex_options(&c->failure, options, c, n, pairs);
}
