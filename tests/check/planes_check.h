/*
 * The kernel of plane integrals, every variant against a plain loop in double precision, on guarded
 * buffers: random, steep, axis-parallel and far views.  An argument is the seed.  Of the type
 * VALUE: PLANES and PLANES_FN are the kernel's, TABLE its member of struct fbp_bp_dsp, TOLERANCE is
 * what the sum of n views may be wrong by, and LOOSE how exactly u is known.
 */
#include "check/guarded.h"
#include "check/levels.h"
#include "filter/filter.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EDGE = FBP_PLANES_EDGE, BLOCK = FBP_PLANES_BLOCK, VIEWS = FBP_PLANES_VIEWS };

/* Views of some samples, and u of voxel (0, 0, 0) with its steps, in double precision. */
struct views {
    struct guarded memory;
    size_t samples;
    double origin[VIEWS], step[VIEWS][3];
    PLANES planes;
    enum fbp_interpolation how;
};

/* Blocks of this view span so many samples at most. */
static double span(int narrow)
{
    const double limit = narrow ? FBP_PLANES_NARROW : FBP_PLANES_SPAN;
    return rand() % 4 == 0 ? limit : limit * (double)uniform(0, 1);
}

static void set_steps(struct views *v, size_t k, double most)
{
    double sum = 0;

    for (int i = 0; i < 3; i++) {
        v->step[k][i] = rand() % 5 == 0 ? 0 : (double)uniform(-1, 1);
        sum += fabs(v->step[k][i]);
    }
    for (int i = 0; i < 3; i++) /* what the kernel is given, exactly */
        v->step[k][i] = (VALUE)(sum > 0 ? v->step[k][i] * most * (1 - 1e-6) / 3 / sum : 0);
}

/* The block at x = 0 begins on the row or near it; every fourth far away. */
static void set_view(struct views *v, size_t k, int narrow)
{
    PLANES *p = &v->planes;
    const double n = (double)v->samples;

    set_steps(v, k, span(narrow));
    v->origin[k] = rand() % 4 == 0 ? (double)uniform(-1e5f, 1e5f) : n * (double)uniform(-.3f, 1.3f);
    if (rand() % 4 == 0)
        v->origin[k] = rint(v->origin[k]);
    p->along[k] = v->step[k][0];
    for (int i = 0; i < 3; i++) {
        p->step[i][k] = (VALUE)v->step[k][i];
        p->above[k] -= fmin(v->step[k][i], 0) * (EDGE - 1);
    }
    p->start[k] = v->origin[k] - p->above[k];
}

static VALUE *values(const struct guarded *g)
{
    return (VALUE *)(void *)g->data;
}

static void make_views(struct views *v, enum fbp_interpolation how, size_t n, size_t samples,
                       int narrow)
{
    memset(v, 0, sizeof *v);
    v->how = how;
    v->samples = samples;
    v->planes.n = n;
    v->planes.stride = samples + 2 * FBP_PLANES_MARGIN;
    v->planes.last = (double)samples + 1;
    v->planes.narrow = narrow != 0;
    v->memory = guarded(n * v->planes.stride * sizeof(VALUE) / sizeof(float));
    VALUE *const first = values(&v->memory) + FBP_PLANES_MARGIN;
    v->planes.samples = first;
    for (size_t k = 0; k < n; k++) {
        set_view(v, k, narrow);
        for (size_t i = 0; i < samples; i++)
            first[k * v->planes.stride + i] = (VALUE)uniform(-1, 1);
    }
}

static double tap(const struct views *v, size_t k, double at)
{
    const VALUE *row = v->planes.samples + k * v->planes.stride;

    return at >= 0 && at < (double)v->samples ? (double)row[(size_t)at] : 0;
}

/* The row at u, which is 0 beside its samples. */
static double sample(const struct views *v, size_t k, double u)
{
    const double at = floor(u), t = u - at, s = 1 - t;

    if (v->how == FBP_INTERPOLATION_NEAREST)
        return tap(v, k, at);
    if (v->how == FBP_INTERPOLATION_LINEAR)
        return s * tap(v, k, at) + t * tap(v, k, at + 1);
    return (s * s * s * tap(v, k, at - 1) + (4 - 3 * t * t * (2 - t)) * tap(v, k, at) +
            (4 - 3 * s * s * (2 - s)) * tap(v, k, at + 1) + t * t * t * tap(v, k, at + 2)) /
           6;
}

/* Where it jumps, either side is right: *loose is how far they are apart. */
static double wanted(const struct views *v, double x, int i, double *loose)
{
    const double at[3] = {x + i % EDGE, i / EDGE % EDGE, i / EDGE / EDGE}, near = LOOSE;
    double sum = 0;

    *loose = 0;
    for (size_t k = 0; k < v->planes.n; k++) {
        const double u =
            v->origin[k] + at[0] * v->step[k][0] + at[1] * v->step[k][1] + at[2] * v->step[k][2];
        sum += sample(v, k, u);
        if (v->how == FBP_INTERPOLATION_NEAREST)
            *loose += fabs(sample(v, k, u + near) - sample(v, k, u - near));
    }
    return sum;
}

/* A block that has values already; it ends at an unmapped page. */
static double worst_of(PLANES_FN *fn, const struct views *v, double x)
{
    struct guarded block = guarded(BLOCK * sizeof(VALUE) / sizeof(float));
    VALUE *const data = values(&block), before[BLOCK];
    double worst = 0;

    for (int i = 0; i < BLOCK; i++)
        before[i] = data[i] = (VALUE)uniform(-1, 1);
    fn(data, x, &v->planes);
    for (int i = 0; i < BLOCK; i++) {
        double loose, right = wanted(v, x, i, &loose);
        const double d = fabs((double)data[i] - (double)before[i] - right) - loose;
        worst = d > worst || isnan(d) ? d : worst;
    }
    release(&block);
    return worst;
}

static int check(PLANES_FN *fn, enum fbp_interpolation how, const char *name, unsigned seed)
{
    static struct views v;

    srand(seed);
    for (int t = 0; t < 2000; t++) {
        const size_t n = 1 + (size_t)rand() % VIEWS, samples = 1 + (size_t)rand() % 200;
        const double x = EDGE * (double)(rand() % 60);
        make_views(&v, how, n, samples, t % 2);
        const double worst = worst_of(fn, &v, x), tolerance = TOLERANCE(n);
        release(&v.memory);
        if (!(worst < tolerance)) {
            fprintf(stderr, "%s: differs by %g (seed %u, case %d: %zu views of %zu)\n", name, worst,
                    seed, t, n, samples);
            return 1;
        }
    }
    return 0;
}

/* Bits depend neither on the windows that the other views need, nor on how many there are. */
static int check_bits(PLANES_FN *fn, enum fbp_interpolation how, const char *name)
{
    static struct views v;
    VALUE one[BLOCK] = {0}, wide[BLOCK] = {0}, parts[BLOCK] = {0};

    make_views(&v, how, VIEWS, 100, 1);
    PLANES *p = &v.planes;
    fn(one, 40, p);
    p->narrow = false;
    fn(wide, 40, p);
    for (size_t k = 0; k < VIEWS; k++) {
        PLANES some = {
            .samples = p->samples + k * p->stride, .n = 1, .last = p->last, .narrow = k % 2};
        some.along[0] = p->along[k];
        some.start[0] = p->start[k];
        some.above[0] = p->above[k];
        for (int i = 0; i < 3; i++)
            some.step[i][0] = p->step[i][k];
        fn(parts, 40, &some);
    }
    release(&v.memory);
    if (memcmp(one, wide, sizeof one) == 0 && memcmp(one, parts, sizeof one) == 0)
        return 0;
    fprintf(stderr, "%s: bits depend on the other views\n", name);
    return 1;
}

static int test_one(const char *level, unsigned flags, enum fbp_interpolation how, unsigned seed)
{
    struct fbp_bp_dsp dsp;
    char name[40];

    fbp_bp_dsp_init(&dsp, flags);
    PLANES_FN *fn = dsp.TABLE[how];
    snprintf(name, sizeof name, "%s %s", level, fbp_interpolation_name(how));
    const int bad = check(fn, how, name, seed) | check_bits(fn, how, name);
    printf("%-16s %s\n", name, bad ? "FAIL" : "ok");
    return bad;
}

static int test(const char *name, unsigned flags, unsigned seed)
{
    int bad = 0;

    for (int how = 0; how <= FBP_INTERPOLATION_LAST; how++)
        bad |= test_one(name, flags, (enum fbp_interpolation)how, seed);
    return bad;
}

int main(int argc, char **argv)
{
    return test_levels(argc, argv, test);
}
