/* Plans of lanes.h: radices of the levels, and tables, computed in double. */
#include "base/mem.h"
#include "base/vec.h"
#include "fft/lanes.h"

#include <math.h>

/* Fours first, as the first level takes a 4 or a 2, and large blocks then soon fit a cache; what is
 * left of twos goes to the leaves. */
static void choose_levels(struct fbp_lanes_plan *p)
{
    size_t radix[FBP_LANES_LEVELS];
    unsigned n = 0;
    size_t left = p->n, points = p->n;

    radix[n++] = left % 4 == 0 ? 4 : 2;
    left /= radix[0];
    for (; left % 4 == 0 && left % 16 != 8; left /= 4)
        radix[n++] = 4;
    p->leaf = left % 8 == 0 ? 8 : left % 2 == 0 ? 2 : 1;
    left /= p->leaf;
    for (; left % 5 == 0; left /= 5)
        radix[n++] = 5;
    for (; left % 3 == 0; left /= 3)
        radix[n++] = 3;
    if (p->leaf == 1 && n > 1) /* the last level, without turns */
        p->leaf = radix[--n];
    p->n_levels = n;
    for (unsigned i = 0; i < n; i++) {
        points /= radix[i];
        p->level[i] = (struct fbp_lanes_level){.radix = radix[i], .m = points};
    }
}

static size_t turns_of(const struct fbp_lanes_level *l)
{
    return 2 * (l->radix - 1) * l->m;
}

static void fill_turns(const struct fbp_lanes_level *l, float *out)
{
    const size_t n = l->radix * l->m;

    for (size_t p = 0; p < l->m; p++)
        for (size_t k = 1; k < l->radix; k++) {
            const double angle = 2 * FBP_PI * (double)(p * k % n) / (double)n;
            *out++ = (float)cos(angle);
            *out++ = (float)-sin(angle);
        }
}

static fbp_status make_turns(struct fbp_lanes_plan *p)
{
    size_t floats = 0;

    for (unsigned i = 0; i < p->n_levels; i++)
        floats += turns_of(&p->level[i]);
    FBP_TRY(fbp_alloc((void **)&p->turns, floats * sizeof *p->turns, "the plan of a transform"));
    float *at = p->turns;
    for (unsigned i = 0; i < p->n_levels; i++) {
        fill_turns(&p->level[i], at);
        p->level[i].turn = at;
        at += turns_of(&p->level[i]);
    }
    return FBP_OK;
}

/* Which frequency falls at place i of the whole: its digits in the other order. */
static size_t frequency_at(const struct fbp_lanes_plan *p, size_t i)
{
    size_t out = 0, times = 1;

    for (unsigned l = 0; l < p->n_levels; l++) {
        out += times * (i / p->level[l].m);
        i %= p->level[l].m;
        times *= p->level[l].radix;
    }
    return out + times * i;
}

fbp_status fbp_lanes_plan_open(struct fbp_lanes_plan *p, size_t n, const double *response,
                               const double *imaginary)
{
    const size_t parts = imaginary ? 2 : 1;

    *p = (struct fbp_lanes_plan){.n = n, .has_phase = imaginary != NULL};
    choose_levels(p);
    FBP_TRY(make_turns(p));
    FBP_TRY(fbp_alloc((void **)&p->response, parts * n * sizeof *p->response, "filter response"));
    for (size_t i = 0; i < n; i++) {
        const size_t k = frequency_at(p, i), at = k <= n / 2 ? k : n - k;
        p->response[parts * i] = (float)response[at];
        if (imaginary)
            p->response[2 * i + 1] = (float)((k == at ? 1 : -1) * imaginary[at]);
    }
    return FBP_OK;
}

const struct fbp_lanes *fbp_lanes_table(size_t lanes)
{
#if defined(__x86_64__)
    if (lanes >= fbp_lanes_avx512.lanes)
        return &fbp_lanes_avx512;
    if (lanes >= fbp_lanes_avx2.lanes)
        return &fbp_lanes_avx2;
#else
    (void)lanes;
#endif
    return &fbp_lanes_c;
}

void fbp_lanes_plan_close(struct fbp_lanes_plan *p)
{
    fbp_free(p->turns);
    fbp_free(p->response);
    *p = (struct fbp_lanes_plan){0};
}
