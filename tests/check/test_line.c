/*
 * Every variant of the loops over detector rows against C, on guarded buffers of random sizes:
 * equal bit for bit, but for `convolve`, which fuses products and sums.  An argument is
 * the seed.
 */
#include "backend/cpu/simd.h"
#include "check/guarded.h"
#include "check/levels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* n random floats that end at an unmapped page. */
struct line {
    struct guarded memory;
    size_t n;
    float *data;
};

static struct line random_line(size_t n)
{
    const struct guarded g = guarded(n);

    for (size_t i = 0; i < n; i++)
        g.data[i] = uniform(-1, 1);
    return (struct line){g, n, g.data};
}

static int same(const struct line *a, const struct line *b)
{
    return memcmp(a->data, b->data, a->n * sizeof(float)) == 0;
}

static struct line copy(const struct line *g)
{
    struct line out = random_line(g->n);
    memcpy(out.data, g->data, g->n * sizeof(float));
    return out;
}

static int check_rows(const struct fbp_line_dsp *c, const struct fbp_line_dsp *dsp, size_t n)
{
    struct line in[3] = {random_line(n), random_line(n), random_line(n)};
    struct line a = random_line(n), b = random_line(n);

    c->weigh(in[0].data, in[1].data, in[2].data, n, a.data);
    dsp->weigh(in[0].data, in[1].data, in[2].data, n, b.data);
    const int bad = !same(&a, &b) || c->peak(in[0].data, n) != dsp->peak(in[0].data, n);
    for (int k = 0; k < 3; k++)
        release(&in[k].memory);
    release(&a.memory);
    release(&b.memory);
    return bad;
}

/* Half of the cases are such that whole cache lines are written. */
static int check_transpose(const struct fbp_line_dsp *c, const struct fbp_line_dsp *dsp, size_t n)
{
    const size_t rows = 1 + (size_t)rand() % 40;
    const size_t stride = rand() % 2 ? (rows + 15) / 16 * 16 : rows + (size_t)rand() % 20;
    struct line in = random_line(rows * n), a = random_line(n * stride), b = copy(&a);

    c->transpose(in.data, rows, n, a.data, stride);
    dsp->transpose(in.data, rows, n, b.data, stride);
    const int bad = !same(&a, &b);
    release(&in.memory);
    release(&a.memory);
    release(&b.memory);
    return bad;
}

/* All of them against the sum in double, lane by lane. */
static int check_convolve(const struct fbp_line_dsp *dsp, size_t n)
{
    const size_t S = rand() % 3 ? (size_t)rand() % n : n - 1, lanes = dsp->lanes;
    const size_t zeros = FBP_CONVOLVE_COLUMNS;
    struct line x = random_line(n * lanes), taps = random_line(2 * (S + zeros) + 1), out = copy(&x);
    const float *centre = taps.data + zeros + S;
    double worst = 0;

    for (size_t i = 0; i < zeros; i++)
        taps.data[i] = taps.data[taps.n - 1 - i] = 0;
    dsp->convolve(x.data, centre, S, n, out.data);
    for (size_t c = 0; c < n; c++)
        for (size_t l = 0; l < lanes; l++) {
            double sum = 0;
            for (size_t i = c > S ? c - S : 0; i <= c + S && i < n; i++)
                sum += (double)centre[(ptrdiff_t)c - (ptrdiff_t)i] * (double)x.data[i * lanes + l];
            const double d = fabs(sum - (double)out.data[c * lanes + l]);
            worst = d > worst || isnan(d) ? d : worst;
        }
    release(&x.memory);
    release(&taps.memory);
    release(&out.memory);
    /* n products below 1, each rounded to 2^-24 of a partial sum of the size of sqrt(n). */
    return !(worst < 1e-6 * (double)n);
}

static int check(const struct fbp_line_dsp *dsp, const char *name, unsigned seed)
{
    srand(seed);
    for (int t = 0; t < 1000; t++) {
        const size_t n = 1 + (size_t)rand() % 150;
        const char *what = check_rows(&fbp_line_c, dsp, n)        ? "rows"
                           : check_transpose(&fbp_line_c, dsp, n) ? "transpose"
                           : check_convolve(dsp, n)               ? "convolve"
                                                                  : NULL;
        if (what) {
            fprintf(stderr, "%s %s: differs (seed %u, case %d: %zu samples)\n", name, what, seed, t,
                    n);
            return 1;
        }
    }
    return 0;
}

static int test(const char *name, unsigned flags, unsigned seed)
{
    struct fbp_line_dsp dsp;

    fbp_line_dsp_init(&dsp, flags);
    const int bad = check(&dsp, name, seed);
    printf("%-8s %s\n", name, bad ? "FAIL" : "ok");
    return bad;
}

int main(int argc, char **argv)
{
    return test_levels(argc, argv, test);
}
