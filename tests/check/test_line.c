/*
 * Every variant of the loops over detector rows against C, on guarded buffers of random sizes:
 * equal bit for bit, but for `convolve`, which fuses products and sums.  `--bench` prints samples
 * (taps) a second; another argument is the seed.
 */
#include "backend/cpu/simd.h"
#include "base/system.h"
#include "check/levels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* n floats that end at an unmapped page. */
struct guarded {
    char *base;
    size_t bytes, n;
    float *data;
};

static float uniform(void)
{
    return 2 * (float)rand() / (float)RAND_MAX - 1;
}

static struct guarded guarded(size_t n)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t size = (n * sizeof(float) + page - 1) / page * page;
    struct guarded g = {.bytes = size + page, .n = n};

    g.base = mmap(NULL, g.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (g.base == MAP_FAILED || mprotect(g.base + size, page, PROT_NONE) != 0)
        abort();
    g.data = (float *)(void *)(g.base + size) - n;
    for (size_t i = 0; i < n; i++)
        g.data[i] = uniform();
    return g;
}

static void release(struct guarded *g)
{
    munmap(g->base, g->bytes);
}

static int same(const struct guarded *a, const struct guarded *b)
{
    return memcmp(a->data, b->data, a->n * sizeof(float)) == 0;
}

static struct guarded copy(const struct guarded *g)
{
    struct guarded out = guarded(g->n);
    memcpy(out.data, g->data, g->n * sizeof(float));
    return out;
}

static int check_rows(const struct fbp_line_dsp *c, const struct fbp_line_dsp *dsp, size_t n)
{
    struct guarded in[3] = {guarded(n), guarded(n), guarded(n)};
    struct guarded a = guarded(n), b = guarded(n);

    c->weigh(in[0].data, in[1].data, in[2].data, n, a.data);
    dsp->weigh(in[0].data, in[1].data, in[2].data, n, b.data);
    const int bad = !same(&a, &b) || c->peak(in[0].data, n) != dsp->peak(in[0].data, n);
    for (int k = 0; k < 3; k++)
        release(&in[k]);
    release(&a);
    release(&b);
    return bad;
}

/* Half of the cases are such that whole cache lines are written. */
static int check_transpose(const struct fbp_line_dsp *c, const struct fbp_line_dsp *dsp, size_t n)
{
    const size_t rows = 1 + (size_t)rand() % 40;
    const size_t stride = rand() % 2 ? (rows + 15) / 16 * 16 : rows + (size_t)rand() % 20;
    struct guarded in = guarded(rows * n), a = guarded(n * stride), b = copy(&a);

    c->transpose(in.data, rows, n, a.data, stride);
    dsp->transpose(in.data, rows, n, b.data, stride);
    const int bad = !same(&a, &b);
    release(&in);
    release(&a);
    release(&b);
    return bad;
}

/* All of them against the sum in double, lane by lane. */
static int check_convolve(const struct fbp_line_dsp *dsp, size_t n)
{
    const size_t S = rand() % 3 ? (size_t)rand() % n : n - 1, lanes = dsp->lanes;
    const size_t zeros = FBP_CONVOLVE_COLUMNS;
    struct guarded x = guarded(n * lanes), taps = guarded(2 * (S + zeros) + 1), out = copy(&x);
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
    release(&x);
    release(&taps);
    release(&out);
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

enum { N = 512, S = 256, STRIDE = 640, REPEATS = 20 };

static void convolve_lines(const struct fbp_line_dsp *dsp, const float *in, const float *k,
                           float *out)
{
    for (int i = 0; i < REPEATS; i++)
        dsp->convolve(in, k + FBP_CONVOLVE_COLUMNS + S, S, N, out);
}

static void transpose_view(const struct fbp_line_dsp *dsp, const float *in, const float *k,
                           float *out)
{
    for (size_t r = 0; r < N; r += 16)
        dsp->transpose(in, 16, N, out + 48 + r, STRIDE);
}

/* [10^9 a second]: products of S0's kernel (256 taps a side, rows of 512), samples transposed. */
static void bench(const struct fbp_line_dsp *dsp)
{
    struct guarded in = guarded(N * 16), k = guarded(2 * (S + FBP_CONVOLVE_COLUMNS) + 1);
    struct guarded out = guarded(N * STRIDE);
    const double products = (double)N * (2 * S + 1) - (double)S * (S + 1);
    double best[2] = {1e9, 1e9};

    for (int i = 0; i < 60; i++) {
        const double start = fbp_seconds();
        (i % 2 ? transpose_view : convolve_lines)(dsp, in.data, k.data, out.data);
        best[i % 2] = fmin(best[i % 2], fbp_seconds() - start);
    }
    printf("  1e9/s: convolve %.1f products, transpose %.2f samples",
           1e-9 * products * (double)dsp->lanes * REPEATS / best[0], 1e-9 * N * N / best[1]);
    release(&in);
    release(&k);
    release(&out);
}

static int test(const char *name, unsigned flags, unsigned seed, bool timed)
{
    struct fbp_line_dsp dsp;

    fbp_line_dsp_init(&dsp, flags);
    const int bad = check(&dsp, name, seed);
    printf("%-8s %s", name, bad ? "FAIL" : "ok");
    if (timed)
        bench(&dsp);
    putchar('\n');
    return bad;
}

int main(int argc, char **argv)
{
    return test_levels(argc, argv, test);
}
