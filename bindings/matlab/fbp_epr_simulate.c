/* fbp_epr_simulate: plane integrals of a phantom, for MATLAB and Octave (fbp_epr_simulate.m). */
#include "mex_args.h"

enum { POINTS = 8 }; /* that a sample is the mean of */

struct call {
    struct mex_failure failure;
    const char *name;
    double (*direction)[3];
    size_t n, samples, sides, points;
    double d_object, d_proj;
    mxArray *projection, *truth;
};

static bool take_points(void *user, const char *name, const mxArray *value)
{
    struct call *c = user;

    return mex_count(&c->failure, name, value, 1, 1000, &c->points);
}

static const struct mex_option options[] = {{"Points", take_points}, {NULL, NULL}};

static bool take_arguments(struct call *c, int n, const mxArray *const *a)
{
    struct mex_failure *f = &c->failure;

    c->points = POINTS;
    if (n < 8)
        return mex_fail(f, "arguments",
                        "expected fbp_epr_simulate(phantom, GX, GY, GZ, d_object, N, d_proj, S, "
                        "...), got %d argument%s",
                        n, n == 1 ? "" : "s");
    return mex_text(f, "phantom", a[0], &c->name) &&
           mex_directions(f, a + 1, 0, &c->direction, &c->n) &&
           mex_number(f, "d_object", a[4], 1e-6, 1e6, &c->d_object) &&
           mex_count(f, "N", a[5], 1, 4096, &c->sides) &&
           mex_number(f, "d_proj", a[6], 1e-6, 1e6, &c->d_proj) &&
           mex_count(f, "S", a[7], 1, 1 << 20, &c->samples) &&
           mex_options(f, options, c, n - 8, a + 8);
}

/* Symmetric about 0. */
static double sample(const struct call *c, const struct fbp_phantom *phantom, const double *n,
                     size_t i)
{
    double sum = 0;

    for (size_t k = 0; k < c->points; k++) {
        const double at = (double)i + ((double)k + 0.5) / (double)c->points;
        sum += fbp_phantom_plane(phantom, n, (at - 0.5 * (double)c->samples) * c->d_proj);
    }
    return sum / (double)c->points;
}

static bool simulate(struct call *c, bool truth)
{
    struct fbp_phantom phantom;
    struct fbp_grid grid;

    for (int i = 0; i < 3; i++) {
        grid.n[i] = c->sides;
        grid.voxel_mm[i] = c->d_object;
        grid.centre_mm[i] = 0;
    }
    if (fbp_phantom_create(&phantom, c->name, 0.5 * (double)c->sides * c->d_object, 1) != FBP_OK)
        return mex_fail_library(&c->failure);
    double *out = mxGetPr(c->projection);
    for (size_t k = 0; k < c->n; k++)
        for (size_t i = 0; i < c->samples; i++)
            *out++ = sample(c, &phantom, c->direction[k], i);
    const bool ok =
        !truth || fbp_phantom_voxels(&phantom, &grid, 0, c->sides, mxGetData(c->truth)) == FBP_OK;
    fbp_phantom_clear(&phantom);
    return ok || mex_fail_library(&c->failure);
}

void mexFunction(int n_out, mxArray *out[], int n_in, const mxArray *in[])
{
    struct call c = {.name = NULL};

    if (take_arguments(&c, n_in, in)) {
        const mwSize sides[3] = {(mwSize)c.sides, (mwSize)c.sides, (mwSize)c.sides};
        c.projection = mxCreateDoubleMatrix((mwSize)c.samples, (mwSize)c.n, mxREAL);
        if (n_out > 1)
            c.truth = mxCreateNumericArray(3, sides, mxSINGLE_CLASS, mxREAL);
        (void)simulate(&c, n_out > 1);
    }
    mex_raise(&c.failure);
    out[0] = c.projection;
    if (n_out > 1)
        out[1] = c.truth;
}
