/* fbp_epr_directions: sets of directions, for MATLAB and Octave (fbp_epr_directions.m). */
#include "mex_args.h"

#include <string.h>

struct call {
    struct mex_failure failure;
    struct fbp_directions set;
    double (*direction)[3];
    size_t n;
};

static const char *order_name(size_t i)
{
    return fbp_name(FBP_LIST_DIRECTION_ORDERS, i);
}

static bool take_order(void *user, const char *name, const mxArray *value)
{
    struct call *c = user;
    size_t i = 0;
    const bool there = mex_choice(&c->failure, name, value, order_name, &i);

    c->set.order = (enum fbp_direction_order)i;
    return there;
}

static const char *pole_name(size_t i)
{
    return fbp_name(FBP_LIST_POLES, i);
}

static bool take_pole(void *user, const char *name, const mxArray *value)
{
    struct call *c = user;
    size_t i = 0;
    const bool there = mex_choice(&c->failure, name, value, pole_name, &i);

    c->set.pole = (enum fbp_pole)i;
    return there;
}

static const struct mex_option options[] = {
    {"Order", take_order}, {"Pole", take_pole}, {NULL, NULL}};

static bool take_counts(struct call *c, const mxArray *a)
{
    const size_t n = mxGetNumberOfElements(a) == 2 ? 2 : 1;
    double *counts = NULL;

    if (!mex_numbers(&c->failure, "n", a, n, &counts))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!(counts[i] >= 1 && counts[i] <= 1e6 && counts[i] == (double)(size_t)counts[i]))
            return mex_fail(&c->failure, "value", "n: expected whole numbers from 1 on, got %g",
                            counts[i]);
        c->set.n[i] = (size_t)counts[i];
    }
    return true;
}

static const char *set_name(size_t i)
{
    return fbp_name(FBP_LIST_DIRECTION_SETS, i);
}

static bool make(struct call *c, int n, const mxArray *const *a)
{
    size_t set = 0;

    if (n < 2)
        return mex_fail(&c->failure, "arguments",
                        "expected fbp_epr_directions(set, n, ...), such as "
                        "fbp_epr_directions('solid-angle', 18)");
    if (!mex_choice(&c->failure, "set", a[0], set_name, &set) || !take_counts(c, a[1]) ||
        !mex_options(&c->failure, options, c, n - 2, a + 2))
        return false;
    c->set.set = (enum fbp_direction_set)set;
    if (fbp_directions_make(&c->set, NULL, &c->n) != FBP_OK)
        return mex_fail_library(&c->failure);
    c->direction = mxMalloc(c->n * sizeof *c->direction);
    return fbp_directions_make(&c->set, c->direction, NULL) == FBP_OK ||
           mex_fail_library(&c->failure);
}

void mexFunction(int n_out, mxArray *out[], int n_in, const mxArray *in[])
{
    struct call c = {.set = {.struct_size = sizeof c.set}};

    (void)make(&c, n_in, in);
    mex_raise(&c.failure);
    for (int i = 0; i < 3 && i < (n_out > 1 ? n_out : 1); i++) {
        out[i] = mxCreateDoubleMatrix(1, (mwSize)c.n, mxREAL);
        for (size_t k = 0; k < c.n; k++)
            mxGetPr(out[i])[k] = c.direction[k][i];
    }
}
