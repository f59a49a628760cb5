/* Checks that the CPU filters detector rows correctly, by FFT (two rows share a transform) and by
 * convolution, and that a row's result does not depend on the other rows of the batch. */
#include "backend/cpu/cpu.h"

#include "base/base.h"
#include "base/system.h"
#include "filter/filter.h"
#include "filter/parabola.h"
#include "recon/fixture.h"

/* Rows of `n` samples and the filter for them, of every form and instruction set. */
struct bank {
    struct fbp_filter_design design;
    struct fbp_job job;
    struct fbp_line_dsp dsp;
    struct cpu_convolution convolution;
    float *work;
};

/* With the bank's design. */
static void open_designed(struct bank *b, bool spatial, unsigned flags)
{
    b->job.filtering.design = &b->design;
    b->job.filtering.spatial = spatial;
    fbp_line_dsp_init(&b->dsp, flags);
    OK(fbp_alloc((void **)&b->work, cpu_convolve_work(&b->job) * sizeof(float), "work"));
    OK(cpu_convolution_open(&b->convolution, &b->job, &b->dsp));
}

static void open_bank(struct bank *b, size_t n, size_t half_width, unsigned flags)
{
    *b = (struct bank){0};
    OK(fbp_filter_design(&b->design, FBP_FILTER_RAM_LAK, 1, n, half_width));
    open_designed(b, half_width > 0, flags);
}

static void close_bank(struct bank *b)
{
    cpu_convolution_close(&b->convolution);
    fbp_free(b->work);
    fbp_filter_design_clear(&b->design);
}

static float *random_line(size_t n, float size)
{
    float *x = not_null(malloc(n * sizeof *x));
    for (size_t i = 0; i < n; i++)
        x[i] = size * (2 * (float)rand() / (float)RAND_MAX - 1);
    return x;
}

/* Greatest error of out against the sum in double, as a part of the greatest |in|. */
static double error_of(const struct bank *b, const float *in, const float *out)
{
    const size_t n = b->design.n_columns, S = b->design.half_width;
    const double *ahead = b->design.kernel;
    const double *back = b->design.kernel_back ? b->design.kernel_back : ahead;
    double worst = 0, peak = 0;

    for (size_t c = 0; c < n; c++) {
        double sum = 0;
        for (size_t i = c > S ? c - S : 0; i < n && i <= c + S; i++)
            sum += (i > c ? back[i - c] : ahead[c - i]) * (double)in[i];
        const double d = fabs(sum - (double)out[c]);
        worst = d > worst || isnan(d) ? d : worst;
        peak = fmax(peak, fabs((double)in[c]));
    }
    return worst / peak;
}

/* Two rows through the filter; their errors. */
static void filter_two(const struct bank *b, const float *x, const float *y, double error[2])
{
    const size_t bytes = b->design.n_columns * sizeof(float);
    float *lines[2] = {malloc(bytes), malloc(bytes)};

    assert_non_null(lines[0]);
    assert_non_null(lines[1]);
    memcpy(lines[0], x, bytes);
    memcpy(lines[1], y, bytes);
    cpu_convolve(&b->convolution, b->work, lines, 2);
    error[0] = error_of(b, x, lines[0]);
    error[1] = error_of(b, y, lines[1]);
    free(lines[0]);
    free(lines[1]);
}

static const unsigned levels[] = {0, FBP_CPU_AVX2, FBP_CPU_AVX2 | FBP_CPU_AVX512, FBP_CPU_NEON};
enum { LEVELS = sizeof levels / sizeof *levels };

/* What a row's partner is, from 10^30 times smaller to 10^30 times larger, does not show in it. */
TEST(partners_do_not_leak)
{
    static const float sizes[] = {1e-30f, 1e-10f, 1e-3f, 1, 1e5f, 1e30f};
    static const size_t columns[] = {1, 2, 7, 48, 512, 1250};
    double worst = 0;

    srand(1);
    for (size_t l = 0; l < LEVELS; l++)
        for (size_t n = 0; n < 6; n++) {
            struct bank b;
            if ((levels[l] & fbp_cpu_flags()) != levels[l])
                continue;
            open_bank(&b, columns[n], 0, levels[l]);
            for (size_t i = 0; i < 6; i++) {
                AUTO_FREE float *x = random_line(columns[n], 1),
                                *y = random_line(columns[n], sizes[i]);
                double error[2];
                filter_two(&b, x, y, error);
                if (!(error[0] < 1e-6 && error[1] < 1e-6))
                    fail_msg("%zu columns, partner of size %g: errors %.1e and %.1e", columns[n],
                             (double)sizes[i], error[0], error[1]);
                worst = fmax(worst, fmax(error[0], error[1]));
            }
            close_bank(&b);
        }
    print_message("greatest error %.1e of a row's greatest sample\n", worst);
}

/* Zeros stay zeros beside anything, and whatever is beside them is what it is beside them again. */
TEST(zeros_stay_zeros)
{
    enum { N = 100 };
    AUTO_FREE float *x = random_line(N, 3), *zeros = not_null(calloc(N, sizeof *zeros)),
                    *again = not_null(malloc(N * sizeof *x));
    struct bank b;

    open_bank(&b, N, 0, fbp_cpu_flags());
    memcpy(again, x, N * sizeof *x);
    cpu_convolve(&b.convolution, b.work, (float *const[]){x, zeros}, 2);
    for (size_t i = 0; i < N; i++)
        assert_true(zeros[i] == 0);
    cpu_convolve(&b.convolution, b.work, (float *const[]){again, zeros}, 2);
    assert_memory_equal(x, again, N * sizeof *x);
    close_bank(&b);
}

/* In space a line does not depend on the others of its group at all, by FFT a pair of lines not on
 * other pairs, nor either on how many lines there are. */
TEST(lines_and_pairs_are_independent)
{
    enum { N = 90, LINES = 38 };
    float *lines[LINES], *alone[LINES];

    srand(2);
    for (size_t way = 0; way < 2 * LEVELS; way++) {
        const size_t l = way / 2, half_width = way % 2 ? 40 : 0, n = way % 2 ? LINES - 1 : LINES;
        struct bank b;
        if ((levels[l] & fbp_cpu_flags()) != levels[l])
            continue;
        open_bank(&b, N, half_width, levels[l]);
        for (size_t i = 0; i < n; i++) {
            lines[i] = random_line(N, half_width || i % 3 ? 1 : 1e6f);
            alone[i] = not_null(malloc(N * sizeof(float)));
            memcpy(alone[i], lines[i], N * sizeof(float));
        }
        for (size_t i = 0; i < n; i += half_width ? 1 : 2)
            cpu_convolve(&b.convolution, b.work, &alone[i], half_width ? 1 : 2);
        if (half_width)
            assert_true(error_of(&b, lines[0], alone[0]) < 1e-6);
        cpu_convolve(&b.convolution, b.work, lines, n);
        for (size_t i = 0; i < n; i++) {
            assert_memory_equal(lines[i], alone[i], N * sizeof(float));
            free(lines[i]);
            free(alone[i]);
        }
        close_bank(&b);
    }
}

/* Rows that go round have, of their last samples, what follows before their first. */
TEST(rows_go_round)
{
    static const size_t columns[] = {15, 64, 97};
    static const double h[] = {.2, 1, -.7, .1};
    const struct fbp_reference reference = {.h = h, .n = 4, .centre = 1, .wiener = .1};

    srand(4);
    for (size_t k = 0; k < 3 * LEVELS; k++) {
        if ((levels[k / 3] & fbp_cpu_flags()) != levels[k / 3])
            continue;
        const size_t n = columns[k % 3], turn = n / 3;
        AUTO_FREE float *x = random_line(n, 1), *y = random_line(n, 3),
                        *round = malloc(n * sizeof *round);
        AUTO_FREE double *wanted = malloc(n * sizeof *wanted);
        struct bank b = {0};
        assert_true(round && wanted);
        for (size_t i = 0; i < n; i++)
            round[(i + turn) % n] = x[i];
        OK(fbp_periodic_design(
            &b.design, &(struct fbp_spectral_filter){FBP_FILTER_HANN, 1, reference, {0}}, n));
        open_designed(&b, false, levels[k / 3]);
        /* The same row in double, by a transform just as long. */
        struct fbp_row_filter filter;
        struct fbp_row_work work;
        OK(fbp_row_work_alloc(&work, &b.design));
        OK(fbp_row_filter_open(&filter, &b.design, false));
        for (size_t i = 0; i < b.design.n_columns; i++)
            work.line[i] = (double)x[i];
        fbp_row_filter(&filter, &work, wanted);
        fbp_row_filter_close(&filter);
        fbp_row_work_free(&work);
        cpu_convolve(&b.convolution, b.work, (float *const[]){x, y}, 2);
        cpu_convolve(&b.convolution, b.work, (float *const[]){round, y}, 2);
        for (size_t i = 0; i < n; i++)
            assert_true(fabs((double)x[i] - wanted[i]) < 1e-6 &&
                        fabs((double)round[(i + turn) % n] - wanted[i]) < 1e-6);
        close_bank(&b);
    }
}

/* With every tap both forms are one filter. */
TEST(forms_agree)
{
    static const size_t columns[] = {3, 64, 333};

    for (size_t n = 0; n < 3; n++) {
        AUTO_FREE float *x = random_line(columns[n], 1), *y = random_line(columns[n], 20);
        struct bank b;
        for (size_t S = 0; S < columns[n]; S += columns[n] - 1) {
            double error[2];
            open_bank(&b, columns[n], S, fbp_cpu_flags());
            assert_int_equal(b.convolution.spatial, S > 0);
            assert_int_equal(b.design.half_width, columns[n] - 1);
            filter_two(&b, x, y, error);
            assert_true(error[0] < 1e-6 && error[1] < 1e-6);
            close_bank(&b);
        }
    }
}

/* A kernel that is neither even nor odd keeps its sides, and pairs of rows apart, in both forms. */
TEST(kernels_have_two_sides)
{
    enum { N = 75 };
    static const double h[] = {.2, 1, -.7, .1};
    const struct fbp_reference reference = {.h = h, .n = 4, .centre = 1, .wiener = .1};
    AUTO_FREE float *x = random_line(N, 1), *y = random_line(N, 1e-5f);

    for (size_t l = 0; l < LEVELS; l++)
        for (int spatial = 0; spatial < 2; spatial++) {
            struct bank b = {0};
            double error[2];
            if ((levels[l] & fbp_cpu_flags()) != levels[l])
                continue;
            OK(fbp_deconvolution_design(
                &b.design, &(struct fbp_spectral_filter){FBP_FILTER_HANN, 1, reference, {0}}, N, 0,
                1));
            assert_true(fabs(b.design.kernel[1] - b.design.kernel_back[1]) > .01);
            open_designed(&b, spatial, levels[l]);
            filter_two(&b, x, y, error);
            assert_true(error[0] < 1e-6 && error[1] < 1e-6);
            close_bank(&b);
        }
}

/* Two passes are the filter twice, cut off between. */
TEST(passes_follow_each_other)
{
    enum { N = 80 };
    struct bank b;
    float *x = random_line(N, 1), *y = random_line(N, 1), *in[2] = {x, y};
    float once[2][N], *lines[2] = {once[0], once[1]};

    open_bank(&b, N, 0, fbp_cpu_flags());
    for (int i = 0; i < 2; i++)
        memcpy(lines[i], in[i], N * sizeof(float));
    cpu_convolve(&b.convolution, b.work, lines, 2);
    cpu_convolve(&b.convolution, b.work, lines, 2);
    b.design.passes = 2;
    cpu_convolve(&b.convolution, b.work, in, 2);
    assert_memory_equal(x, once[0], sizeof once[0]);
    assert_memory_equal(y, once[1], sizeof once[1]);
    close_bank(&b);
    free(x);
    free(y);
}

TEST_MAIN(NULL, NULL)
