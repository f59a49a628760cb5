/* Rules of Qiao et al. (2015) applied to its own seconds, and the agreement of its tables and
 * figures. */
#include "bench/papers/qiao2015/text.h"
#include "test.h"

#include <unistd.h>

enum { FACTORS = S4_COLUMNS - S4_CM_TO_COMPUTE };

static void check(double is, double wanted, double error)
{
    if (!(fabs(is - wanted) <= error))
        fail_msg("%g instead of %g", is, wanted);
}

static struct s4_table1 derived(const struct s4_table1 *p)
{
    const double *c = p->column;

    return s4_derive(p->size, c[S4_GS_COMPUTE], c[S4_GATHER], c[S4_CM_SECONDS], c[S4_CS_SECONDS]);
}

/* Each published factor is that of the published seconds with as many digits as it has: 11 are
 * rounded, and these 9 are cut off, as "bench S4" prints below its table. */
TEST(published_seconds_give_the_published_factors)
{
    static const bool is_cut[S4_SIZES][FACTORS] = {
        {1, 0, 1, 1}, {0}, {0, 1, 1, 1}, {1, 0, 0, 1}, {1}};

    for (size_t i = 0; i < S4_SIZES; i++) {
        const struct s4_table1 *p = &s4_published[i], d = derived(p);
        check(d.column[S4_GS_SECONDS], p->column[S4_GS_SECONDS], 1e-12);
        for (int k = 0; k < FACTORS; k++) {
            const double factor = p->column[S4_CM_TO_COMPUTE + k];
            double ten = 1;
            while (fabs(factor * ten - round(factor * ten)) > 1e-6)
                ten *= 10;
            const double exact = d.column[S4_CM_TO_COMPUTE + k] * ten;
            check((is_cut[i][k] ? floor(exact) : round(exact)) / ten, factor, 1e-9);
            assert_true(!is_cut[i][k] || round(exact) > floor(exact));
        }
    }
}

/* The paper's averages: 59 and 3.4 times as fast as CM, 3523 and 208 times as fast as CS. */
TEST(published_seconds_give_the_published_averages)
{
    static const double averages[FACTORS] = {59, 3.4, 3523, 208};

    for (int k = 0; k < FACTORS; k++) {
        double sum = 0;
        for (size_t i = 0; i < S4_SIZES; i++)
            sum += derived(&s4_published[i]).column[S4_CM_TO_COMPUTE + k];
        check(sum / S4_SIZES, averages[k], k == 1 ? 0.05 : 1);
    }
}

/* A job whose measurements are the published seconds; those in float are different. */
static void fill(struct s4_job *job)
{
    job->n = S4_SIZES;
    job->has_cuda = true;
    job->gpu = s4_published_gpu;
    for (size_t i = 0; i < S4_SIZES; i++) {
        struct s4_row *r = &job->row[i];
        const double *c = s4_published[i].column;
        r->size = s4_published[i].size;
        r->views = S4_PAPER_VIEWS;
        for (int k = 0; k < S4_WAYS; k++)
            r->way[k] = (struct s4_cell){.done = true, .compute = 1000 + k, .gather = 1};
        r->way[S4_GS].compute = c[S4_GS_COMPUTE];
        r->way[S4_GS].gather = c[S4_GATHER];
        r->way[S4_GS].copied = 3 * c[S4_GS_COMPUTE];
        r->way[S4_NO_BRANCH].compute = c[S4_GS_COMPUTE] / 2;
        r->way[S4_CM].compute = c[S4_CM_SECONDS] - 1;
        r->way[S4_CS].compute = c[S4_CS_SECONDS] - 1;
    }
}

/* Read a whole file. */
static char *text_of(const char *path)
{
    char *text = not_null(calloc(1, 1 << 16));
    FILE *f = fopen(path, "r");

    assert_true(f && fread(text, 1, (1 << 16) - 1, f) > 0);
    fclose(f);
    return text;
}

static void print_to(const char *path, const struct s4_job *job)
{
    fflush(stdout);
    const int out = dup(STDOUT_FILENO);
    assert_non_null(freopen(path, "w", stdout));
    s4_print(job);
    fflush(stdout);
    assert_true(dup2(out, STDOUT_FILENO) >= 0);
    close(out);
}

static void check_point(const char *svg, const char *series, double y, size_t x)
{
    char point[100];

    snprintf(point, sizeof point, "<title>%s: %.6g at %zu</title>", series, y, x);
    if (!strstr(svg, point))
        fail_msg("the figure lacks %s", point);
}

TEST(table_factors_and_figures_show_the_same_seconds)
{
    static const char *const times[] = {"GS without transfer, now", NULL, "GS, now", "CM, now",
                                        "CS, now"};
    static const char *const factors[] = {"CM / GS compute, now", "CM / GS, now",
                                          "CS / GS compute, now", "CS / GS, now"};
    static struct s4_job job;
    char folder[] = "/tmp/fbp-s4-XXXXXX", path[100];

    fill(&job);
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/text", folder);
    print_to(path, &job);
    AUTO_FREE char *text = text_of(path);
    assert_int_equal(s4_draw(&job, folder), 0);
    snprintf(path, sizeof path, "%s/S4-fig1.svg", folder);
    AUTO_FREE char *fig1 = text_of(path);
    snprintf(path, sizeof path, "%s/S4-fig2.svg", folder);
    AUTO_FREE char *fig2 = text_of(path);
    snprintf(path, sizeof path, "%s/S4-fig3.svg", folder);
    AUTO_FREE char *fig3 = text_of(path);
    const char *row = strstr(text, "Table 1 [s], now");

    for (size_t i = 0; i < S4_SIZES; i++) {
        const struct s4_table1 d = derived(&s4_published[i]);
        char name[20];
        int used;
        snprintf(name, sizeof name, "\n%zu^3", d.size);
        row = strstr(row, name);
        assert_non_null(row);
        row += strlen(name);
        for (int k = 0; k < S4_COLUMNS; k++, row += used) {
            double printed;
            assert_int_equal(sscanf(row, "%lf%n", &printed, &used), 1);
            check(printed / d.column[k], 1, 1e-3);
            if (k >= S4_CM_TO_COMPUTE)
                check_point(fig3, factors[k - S4_CM_TO_COMPUTE], d.column[k], d.size);
            else if (times[k]) {
                check_point(fig1, times[k], d.column[k], d.size);
                assert_non_null(strstr(fig2, times[k]));
            }
        }
    }
    snprintf(path, sizeof path, "rm -r %s", folder);
    assert_int_equal(system(path), 0);
}

/* A row of a table: a name, then words. */
static void check_row(const char *text, const char *name, const char *wanted)
{
    char row[200] = "", one[60];
    const char *at = strstr(text, name);
    int used;

    if (!at)
        fail_msg("no row %s", name);
    for (at += strlen(name); *at != '\n' && sscanf(at, "%59s%n", one, &used) == 1; at += used)
        snprintf(row + strlen(row), sizeof row - strlen(row), " %s", one);
    assert_string_equal(row, wanted);
}

TEST(advice_and_limits_are_printed)
{
    static struct s4_job job;
    char path[] = "/tmp/fbp-s4-XXXXXX";
    const int fd = mkstemp(path);

    fill(&job);
    assert_true(fd >= 0);
    print_to(path, &job);
    AUTO_FREE char *text = text_of(path);
    const char *advice = strstr(text, "\nAdvice");
    assert_non_null(advice);
    check_row(advice, "\n64^3", " 0.0330 0.0110 3.000 0.0110 0.005500 2.000");
    check_row(text, "\nmemory [MiB]", " 2048 2048");
    check_row(text, "\ncores", " 1152 1152");
    check_row(text, "\nblock size (x, y, z) [threads]", " 1024x1024x64 1024x1024x64");
    check_row(text, "\ngrid size (x, y, z) [blocks]",
              " 2147483647x65535x65535 2147483647x65535x65535");
    close(fd);
    unlink(path);
}

TEST(precision_of_two_stages_is_that_of_equal_projections)
{
    static float cm[4] = {1, 2, 3, 4}, cs[4] = {1, 2, 3, 5};
    static struct s4_row row = {.size = 2};

    row.way[S4_CM].slice = cm;
    assert_true(isnan(s4_two_stages(&row)));
    row.way[S4_CS_RESAMPLED].slice = cs;
    check(s4_two_stages(&row), 0.1, 1e-12);
}

/* The launch was timed, not the kernel: its GUPS are beyond what the card can do in double, which
 * is 1152 fp32 units at 1.1 GHz, of which one in 24 does double, and 26 operations an update. */
TEST(published_computing_times_are_impossible)
{
    const double most = 1152 / 24. * 2 * 1.1 / 26;

    for (size_t i = 0; i < S4_SIZES; i++) {
        const struct s4_table1 *p = &s4_published[i];
        assert_true(s4_gups(p->size, S4_PAPER_VIEWS, p->column[S4_GS_COMPUTE]) > most);
        assert_true(s4_gups(p->size, S4_PAPER_VIEWS, p->column[S4_GS_SECONDS]) < most);
    }
}

TEST(operations_are_counted_and_misprinted)
{
    assert_true(fbp_s4_operations(128, 208) == 11372855296.);
    assert_true(fbp_s4_operations_printed(128, 208) == s4_published_operations);
}

TEST(threads_of_a_processor_are_those_of_whole_blocks)
{
    assert_int_equal(fbp_s4_paper_threads(&s4_published_gpu, 64), 16 * 64);
    assert_int_equal(fbp_s4_paper_threads(&s4_published_gpu, 128), 2048);
    assert_int_equal(fbp_s4_paper_threads(&s4_published_gpu, 150), 13 * 150);
    assert_int_equal(fbp_s4_paper_threads(&s4_published_gpu, 1024), 2048);
    assert_int_equal(fbp_s4_paper_threads(&s4_published_gpu, 1000), 2000);
}

TEST(rows_reach_over_the_corners)
{
    assert_int_equal(fbp_s4_samples_for(64), 112);
    for (size_t n = 2; n < 300; n += 2) {
        const size_t s = fbp_s4_samples_for(n);
        assert_true(s % 2 == 0 && (double)s >= sqrt(3) * (double)n);
    }
}

/* Two jobs of one object: the library's error, and what the paper's kernel cannot take. */
TEST(kernels_refuse_what_they_cannot_take)
{
    const struct fbp_s4_params odd = {
        .struct_size = sizeof odd, .size = 8, .rings = 4, .samples = 15, .n_threads = 1};
    struct fbp_s4_launch t;
    struct fbp_s4_error e;
    fbp_s4 *s4 = NULL;

    OK(fbp_s4_open(&s4, &odd));
    assert_int_equal(fbp_s4_samples(s4), 15);
    assert_null(fbp_s4_object(s4));
    assert_int_equal(fbp_s4_compare(s4, &e), FBP_ERR_INVALID);
    assert_fails(fbp_s4_launch(s4, FBP_S4_PAPER, 0, 1, &t), FBP_ERR_UNSUPPORTED,
                 "expected an even number, got 15");
    assert_fails(fbp_s4_launch(s4, FBP_S4_NO_BRANCH, 0, 1, &t), FBP_ERR_UNSUPPORTED,
                 "expected an even number, got 15");
    fbp_s4_close(&s4);
    assert_null(s4);
    /* an odd number of voxels is no reason: without a card there is another one */
    OK(fbp_s4_open(&s4, &(struct fbp_s4_params){.struct_size = sizeof odd, .size = 9, .rings = 4}));
    if (fbp_s4_launch(s4, FBP_S4_PAPER, 0, 1, &t) != FBP_OK)
        assert_null(strstr(fbp_message(), "voxels"));
    fbp_s4_close(&s4);
    assert_int_equal(fbp_s4_open(&s4, &(struct fbp_s4_params){.struct_size = sizeof odd}),
                     FBP_ERR_INVALID);
}

TEST_MAIN(NULL, NULL)
