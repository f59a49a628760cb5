/*
 * Every orbit kernel against C, on guarded buffers: random, adversarial and edge orbits.  An
 * argument is the seed.
 */
#include "backend/cpu/simd.h"
#include "check/guarded.h"
#include "check/levels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 6 };

/* A packed view of a few columns inside its border of zeros. */
struct packed {
    struct guarded memory;
    size_t n_rows, turns, stride;
};

static struct packed make_packed(size_t n_rows, size_t turns)
{
    struct packed p = {.n_rows = n_rows, .turns = turns};

    p.stride = (FBP_ROT_BELOW + n_rows + FBP_ROT_ABOVE) * turns;
    p.memory = guarded(COLUMNS * p.stride);
    for (size_t c = 0; c < COLUMNS; c++)
        for (size_t i = FBP_ROT_BELOW * turns; i < (FBP_ROT_BELOW + n_rows) * turns; i++)
            p.memory.data[c * p.stride + i] = uniform(-1, 1);
    return p;
}

/* Places on it: steep and flat, on and beside the rows; every third case wild. */
static struct fbp_bp_rot make_orbit(const struct packed *p, size_t n, int wild)
{
    const float nr = (float)p->n_rows, over = wild ? 3.0f : 0.2f, row = floorf(nr / 2);
    struct fbp_bp_rot o = {.v_lo = -1 - row, .v_hi = nr - row, .row = (int)row};

    for (size_t i = 0; i < p->turns; i++) {
        const float a = rand() % 8 == 0 ? 0 : uniform(0, 1), w2 = uniform(0.5f, 2);
        const size_t column = (size_t)rand() % (COLUMNS - 1);
        o.left[i] = p->memory.data + column * p->stride + FBP_ROT_BELOW * p->turns;
        o.wl[i] = (1 - a) * w2;
        o.wr[i] = a * w2;
        o.dv[i] = rand() % 5 == 0 ? 1 : uniform(0.05f, 4);
        o.v0[i] = uniform(-over * nr, (1 + over) * nr) - row - o.dv[i] * (float)n / 2;
        if (rand() % 5 == 0)
            o.v0[i] = floorf(o.v0[i]); /* exactly on samples */
    }
    return o;
}

static int check_one(fbp_bp_rot_fn *fn, fbp_bp_rot_fn *c, size_t turns, int wild)
{
    const size_t n = 1 + (size_t)rand() % 200;
    const struct packed p = make_packed(1 + (size_t)rand() % 120, turns);
    const struct fbp_bp_rot o = make_orbit(&p, n, wild);
    struct guarded ref = guarded(n * turns), out = guarded(n * turns), memory = p.memory;
    const float t0 = (float)(rand() % 300 - 150);
    /* A rounding of a coordinate of up to 1000 rows, over samples that differ by up to 2. */
    const double tolerance = 2e-3;
    double worst = 0;

    for (size_t i = 0; i < n * turns; i++)
        ref.data[i] = out.data[i] = uniform(-1, 1);
    c(ref.data, n, t0, &o, p.stride);
    fn(out.data, n, t0, &o, p.stride);
    for (size_t i = 0; i < n * turns; i++) {
        const double d = fabs((double)ref.data[i] - (double)out.data[i]);
        worst = d > worst || isnan(d) ? d : worst;
    }
    /* Any split of the slices gives the same bits. */
    const size_t split = (size_t)rand() % n;
    struct guarded parts = guarded(n * turns);
    for (int turn = 0; turn < 2; turn++) {
        struct guarded *to = turn ? &parts : &out;
        memset(to->data, 0, n * turns * sizeof(float));
    }
    fn(out.data, n, t0, &o, p.stride);
    fn(parts.data, split, t0, &o, p.stride);
    fn(parts.data + split * turns, n - split, t0 + (float)split, &o, p.stride);
    const int same = memcmp(out.data, parts.data, n * turns * sizeof(float)) == 0;
    release(&ref);
    release(&out);
    release(&parts);
    release(&memory);
    return worst < tolerance && same ? 0 : 1;
}

/* Packed views of int16, of which each entry has two samples. */
static void fill_half(const struct packed *p)
{
    for (size_t c = 0; c < COLUMNS; c++)
        for (size_t i = FBP_ROT_BELOW * p->turns; i < (FBP_ROT_BELOW + p->n_rows) * p->turns; i++) {
            const int16_t pair[2] = {(int16_t)(rand() % 65535 - FBP_HALF_LARGEST),
                                     (int16_t)(rand() % 65535 - FBP_HALF_LARGEST)};
            memcpy(p->memory.data + c * p->stride + i, pair, sizeof pair);
        }
}

/* Precision half against C: sums of integers differ only by the rounding of rows and weights. */
static int check_half(fbp_bp_rot_half_fn *fn, int wild)
{
    const size_t n = 1 + (size_t)rand() % 200, split = (size_t)rand() % n, lanes = FBP_ROT_VIEWS;
    const struct packed p = make_packed(1 + (size_t)rand() % 120, lanes);
    struct guarded ref = guarded(n * lanes), out = guarded(n * lanes), parts = guarded(n * lanes);
    struct guarded memory = p.memory;
    struct fbp_bp_rot_half o = {.scale = 1.0f / FBP_HALF_LARGEST / FBP_HALF_WEIGHT};
    const float t0 = (float)(rand() % 300 - 150);
    double worst = 0;

    fill_half(&p);
    for (size_t g = 0; g < FBP_HALF_GROUPS; g++) {
        const struct fbp_bp_rot r = make_orbit(&p, n, wild);
        for (size_t i = 0; i < lanes; i++) {
            const uint32_t both = (uint32_t)rand() % (FBP_HALF_WEIGHT + 1);
            const uint32_t left = (uint32_t)rand() % (both + 1);
            o.group[g].left[i] = (const int16_t *)(const void *)r.left[i];
            o.group[g].weights[i] = left | (both - left) << 16;
            o.group[g].v0[i] = r.v0[i];
            o.group[g].dv[i] = r.dv[i];
        }
        o.group[g].v_lo = r.v_lo;
        o.group[g].v_hi = r.v_hi;
        o.group[g].row = r.row;
    }
    for (size_t i = 0; i < n * lanes; i++)
        ref.data[i] = out.data[i] = parts.data[i] = uniform(-1, 1);
    fbp_bp_c.rot90_half(ref.data, n, t0, &o);
    fn(out.data, n, t0, &o);
    fn(parts.data, split, t0, &o);
    fn(parts.data + split * lanes, n - split, t0 + (float)split, &o);
    for (size_t i = 0; i < n * lanes; i++) {
        const double d = fabs((double)ref.data[i] - (double)out.data[i]);
        worst = d > worst || isnan(d) ? d : worst;
    }
    const int same = memcmp(out.data, parts.data, n * lanes * sizeof(float)) == 0;
    release(&ref);
    release(&out);
    release(&parts);
    release(&memory);
    /* A rounding of a coordinate of up to 1000 rows, at 8 positions, of samples that differ by up
     * to 2. */
    return worst < 4e-3 && same ? 0 : 1;
}

static const char *const names[] = {"rot90", "rot180"};

enum { N_KERNELS = sizeof names / sizeof *names };

static size_t turns_of(size_t k)
{
    return k == 0 ? 4 : 2;
}

static fbp_bp_rot_fn *kernel_of(const struct fbp_bp_dsp *dsp, size_t k)
{
    return k == 0 ? dsp->rot90 : dsp->rot180;
}

static int check(const struct fbp_bp_dsp *dsp, size_t k, const char *level, unsigned seed)
{
    srand(seed);
    for (int t = 0; t < 2000; t++)
        if (check_one(kernel_of(dsp, k), kernel_of(&fbp_bp_c, k), turns_of(k), t % 3 == 0)) {
            fprintf(stderr, "%s %s: differs from C, or by the split (seed %u, case %d)\n", level,
                    names[k], seed, t);
            return 1;
        }
    return 0;
}

static int check_all_half(fbp_bp_rot_half_fn *fn, const char *level, unsigned seed)
{
    srand(seed);
    for (int t = 0; t < 2000; t++)
        if (check_half(fn, t % 3 == 0)) {
            fprintf(stderr, "%s rot90 half: differs from C, or by the split (seed %u, case %d)\n",
                    level, seed, t);
            return 1;
        }
    return 0;
}

static int test(const char *name, unsigned flags, unsigned seed)
{
    struct fbp_bp_dsp dsp;
    int failed = 0;

    fbp_bp_dsp_init(&dsp, flags);
    for (size_t k = 0; k < N_KERNELS; k++) {
        const int bad = check(&dsp, k, name, seed);
        printf("%-8s %-8s %s\n", name, names[k], bad ? "FAIL" : "ok");
        failed |= bad;
    }
    if (dsp.rot90_half) {
        const int bad = check_all_half(dsp.rot90_half, name, seed);
        printf("%-8s %-8s %s\n", name, "half", bad ? "FAIL" : "ok");
        failed |= bad;
    }
    return failed;
}

int main(int argc, char **argv)
{
    return test_levels(argc, argv, test);
}
