/* Figs. 3 and 4 of Ino et al. (2010) as SVG files: views per second, speed-up, and rates of the
 * backprojection, over the number of devices.  Called by command.c for --pictures.
 * Used by: command.c. */
#include "bench/common/chart.h"
#include "bench/papers/ino2010/text.h"

enum { MOST_SERIES = 2 * S2_CASES + 1 };

static const double counts[S2_COUNTS] = {1, 2, 4};

/* Lines of a chart: measured and published rates of every result, and a bound of the paper's GPU.
 */
struct lines {
    struct bench_series series[MOST_SERIES];
    double y[MOST_SERIES][S2_COUNTS];
    char names[MOST_SERIES][60];
    size_t n;
};

static void add_lines(struct lines *out, const struct s2_result *r, size_t at)
{
    for (int published = 0; published < 2; published++) {
        double *y = out->y[out->n];
        char *name = out->names[out->n];

        snprintf(name, sizeof out->names[0], "%zu^3, %s", published ? r->of->size : r->size,
                 published ? "published (Tesla S1070)" : r->plan.backend);
        for (size_t i = 0; i < S2_COUNTS; i++) {
            const struct s2_rates rates =
                published ? s2_published_rates(r->of, i) : s2_result_rates(r, i);
            y[i] = *(const double *)(const void *)((const char *)&rates + at);
        }
        out->series[out->n] =
            (struct bench_series){name, counts, y, S2_COUNTS, published, false, (int)out->n};
        out->n++;
    }
}

/* A figure of two charts: values over the number of devices. */
static const struct figure {
    const char *file, *title, *titles[2];
    size_t at[2]; /* in struct s2_rates */
    bool bounded;
} figures[] = {
    {"S2-fig3.svg",
     "Fig. 3: throughput over the number of devices",
     {"views/s", "speed-up"},
     {offsetof(struct s2_rates, views), offsetof(struct s2_rates, speed_up)},
     false},
    {"S2-fig4.svg",
     "Fig. 4: the backprojection of one device",
     {"effective GFLOP/s per device", "effective GB/s per device (of 2^30 bytes, as in the paper)"},
     {offsetof(struct s2_rates, gflops), offsetof(struct s2_rates, gbytes)},
     true},
};

static const double gflops[] = {S2_GFLOPS, S2_GFLOPS, S2_GFLOPS},
                    gbytes[] = {S2_GBYTES, S2_GBYTES, S2_GBYTES};
static const struct bench_series bounds[2] = {
    {"bound of the paper's GPU: 933 GFLOP/s", counts, gflops, S2_COUNTS, true, false, 5},
    {"bound of the paper's GPU: 102 GB/s of 10^9 bytes", counts, gbytes, S2_COUNTS, true, false,
     5}};

int s2_draw(const struct s2_result *results, size_t n, const char *folder)
{
    char path[BENCH_PATH];

    for (const struct figure *f = figures; f < figures + sizeof figures / sizeof *figures; f++) {
        struct lines lines[2] = {{.n = 0}, {.n = 0}};
        struct bench_chart charts[2];
        for (size_t k = 0; k < 2; k++) {
            for (size_t i = 0; i < n; i++)
                add_lines(&lines[k], &results[i], f->at[k]);
            if (f->bounded)
                lines[k].series[lines[k].n++] = bounds[k];
            charts[k] = (struct bench_chart){.title = f->titles[k],
                                             .x_name = "devices C",
                                             .log_x = true,
                                             .log_y = k == 0 || f->bounded,
                                             .ticks_at_points = true,
                                             .values = true,
                                             .series = lines[k].series,
                                             .n = lines[k].n};
        }
        if (bench_picture(path, folder, f->file))
            return 1;
        if (bench_chart_draw(path, f->title, charts, 2) != FBP_OK)
            return cli_fail();
    }
    return 0;
}
