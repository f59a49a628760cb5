/*
 * usage: fft [MILLISECONDS]: measures how fast rows are filtered
 * (bench/results/cpu.md#fourier-transforms): 32 rows in float at once, as the filter of `--device
 * cpu` takes them, and single rows in double. It prints the least processor time per row, and the
 * rms error of rows in float against double, relative to the rms of the result.  FBP_CPU chooses
 * the instructions of rows in float.
 */
#include "backend/cpu/cpu.h"

#include "base/base.h"
#include "base/system.h"
#include "fft/fft.h"
#include "filter/filter.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROWS = 32, ROUNDS = 5, MOST_COLUMNS = 8192 };

/* Columns of detectors, and the lengths that they have: powers of two, and what is next to others.
 */
static const size_t columns[] = {256,  512,  640,  768,  1024, 1240,
                                 1536, 2048, 2500, 3072, 4096, 8192};

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static float rows[ROWS][MOST_COLUMNS], out[ROWS][MOST_COLUMNS];
static double wanted[ROWS][MOST_COLUMNS];

struct result {
    double in_float, in_double, error; /* s a row, s a row, relative */
};

/* The least time of a few runs, each at least `least` long. */
static double time_of(void (*fn)(void *), void *arg, double least)
{
    const double start = seconds();
    size_t n = 0;

    do {
        fn(arg);
        n++;
    } while (seconds() - start < least);
    return (seconds() - start) / (double)n;
}

struct floats {
    struct cpu_convolution convolution;
    float *work;
};

static void filter_floats(void *arg)
{
    const struct floats *f = arg;
    float *lines[ROWS];

    for (size_t i = 0; i < ROWS; i++) {
        memcpy(out[i], rows[i], f->convolution.filter->n_columns * sizeof(float));
        lines[i] = out[i];
    }
    cpu_convolve(&f->convolution, f->work, lines, ROWS);
}

struct doubles {
    struct fbp_row_filter filter;
    struct fbp_row_work work;
};

static void filter_doubles(void *arg)
{
    const struct doubles *d = arg;
    const size_t n = d->filter.design->n_columns;

    for (size_t i = 0; i < ROWS; i++) {
        memset(d->work.line, 0, d->filter.design->n_fft * sizeof(double));
        for (size_t c = 0; c < n; c++)
            d->work.line[c] = (double)rows[i][c];
        fbp_row_filter(&d->filter, &d->work, wanted[i]);
    }
}

static double error_of(size_t n)
{
    double sum = 0, all = 0;

    for (size_t i = 0; i < ROWS; i++)
        for (size_t c = 0; c < n; c++) {
            const double e = (double)out[i][c] - wanted[i][c];
            sum += e * e;
            all += wanted[i][c] * wanted[i][c];
        }
    return sqrt(sum / all);
}

static fbp_status measure(size_t n, double least, struct result *r)
{
    struct fbp_filter_design design;
    struct fbp_line_dsp dsp;
    struct fbp_job job = {.filtering.design = &design};
    struct floats f = {0};
    struct doubles d = {0};

    FBP_TRY(fbp_filter_design(&design, FBP_FILTER_RAM_LAK, 1, n, 0));
    fbp_line_dsp_init(&dsp, fbp_cpu_flags());
    FBP_TRY(fbp_alloc((void **)&f.work, cpu_convolve_work(&job) * sizeof(float), "work"));
    FBP_TRY(cpu_convolution_open(&f.convolution, &job, &dsp));
    FBP_TRY(fbp_row_work_alloc(&d.work, &design));
    FBP_TRY(fbp_row_filter_open(&d.filter, &design, false));
    r->in_float = fmin(r->in_float, time_of(filter_floats, &f, least) / ROWS);
    r->in_double = fmin(r->in_double, time_of(filter_doubles, &d, least) / ROWS);
    r->error = error_of(n);
    cpu_convolution_close(&f.convolution);
    fbp_free(f.work);
    fbp_row_filter_close(&d.filter);
    fbp_row_work_free(&d.work);
    fbp_filter_design_clear(&design);
    return FBP_OK;
}

static int row_of_table(size_t n, double least)
{
    struct result r = {INFINITY, INFINITY, 0};

    for (int round = 0; round < ROUNDS; round++)
        if (measure(n, least, &r) != FBP_OK) {
            fprintf(stderr, "fft: %s\n", fbp_message());
            return 1;
        }
    printf("%7zu %7zu   %9.0f %9.0f  %.1e\n", n, fbp_fft_length(2 * n), 1e9 * r.in_float,
           1e9 * r.in_double, r.error);
    return 0;
}

int main(int argc, char **argv)
{
    const double least = (argc > 1 ? atof(argv[1]) : 20) / 1000;
    int failed = 0;

    for (size_t i = 0; i < ROWS; i++)
        for (size_t c = 0; c < MOST_COLUMNS; c++)
            rows[i][c] = (float)rand() / (float)RAND_MAX - .5f;
    printf("%s; columns, length; ns a row in float, in double, error\n",
           fbp_cpu_level(fbp_cpu_flags()));
    for (size_t i = 0; i < sizeof columns / sizeof *columns && !failed; i++)
        failed = row_of_table(columns[i], least);
    return failed;
}
