/* fbp_epr_weights: solid angles of directions, for MATLAB and Octave (fbp_epr_weights.m). */
#include "mex_args.h"

struct call {
    struct mex_failure failure;
    double (*direction)[3];
    size_t n;
    enum fbp_quadrature quadrature;
    mxArray *weights;
    char words[200];
};

static const char *quadrature_name(size_t i)
{
    return fbp_name(FBP_LIST_QUADRATURES, i);
}

static bool take_quadrature(void *user, const char *name, const mxArray *value)
{
    struct call *c = user;
    size_t i = 0;

    if (!mex_choice(&c->failure, name, value, quadrature_name, &i))
        return false;
    c->quadrature = (enum fbp_quadrature)i;
    return c->quadrature != FBP_QUADRATURE_GIVEN ||
           mex_fail(&c->failure, "value",
                    "%s: not used if the weights are given as numbers; pass these numbers directly",
                    name);
}

static const struct mex_option options[] = {{"Quadrature", take_quadrature}, {NULL, NULL}};

static bool make(struct call *c, int n, const mxArray *const *a)
{
    if (n < 3)
        return mex_fail(&c->failure, "arguments", "expected fbp_epr_weights(GX, GY, GZ, ...)");
    if (!mex_directions(&c->failure, a, 0, &c->direction, &c->n) ||
        !mex_options(&c->failure, options, c, n - 3, a + 3))
        return false;
    c->weights = mxCreateDoubleMatrix(1, (mwSize)c->n, mxREAL);
    return fbp_quadrature_weights((const double(*)[3])c->direction, c->n, c->quadrature,
                                  mxGetPr(c->weights), c->words, sizeof c->words) == FBP_OK ||
           mex_fail_library(&c->failure);
}

void mexFunction(int n_out, mxArray *out[], int n_in, const mxArray *in[])
{
    struct call c = {.quadrature = FBP_QUADRATURE_AUTO};

    (void)make(&c, n_in, in);
    mex_raise(&c.failure);
    out[0] = c.weights;
    if (n_out > 1)
        out[1] = mxCreateString(c.words);
}
