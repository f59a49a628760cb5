/* Figures 3 and 4: views a second and speed-up, what a GPU does in its backprojection. */
#include "bench/papers/ino2010/text.h"

#include <math.h>

enum { MOST_SERIES = 2 * S2_CASES + 1 };

/* Lines of a chart: of every result, of the paper's job beside it, and a bound of its GPU. */
struct lines {
    struct fbp_s2_series series[MOST_SERIES];
    char names[MOST_SERIES][60];
    size_t n;
};

static double rate_of(struct s2_rates rates, size_t at)
{
    return *(const double *)(const void *)((const char *)&rates + at);
}

static void add_lines(struct lines *out, const struct s2_result *r, size_t at)
{
    for (int published = 0; published < 2; published++) {
        struct fbp_s2_series *s = &out->series[out->n];
        char *name = out->names[out->n++];

        snprintf(name, sizeof out->names[0], "%zu^3, %s", published ? r->of->size : r->size,
                 published ? "published (Tesla S1070)" : r->plan.backend);
        s->name = name;
        s->published = published;
        for (size_t i = 0; i < S2_COUNTS; i++)
            s->value[i] =
                rate_of(published ? s2_published_rates(r->of, i) : s2_result_rates(r, i), at);
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

static const struct fbp_s2_series bounds[2] = {
    {"bound of the paper's GPU: 933 GFLOP/s", {S2_GFLOPS, S2_GFLOPS, S2_GFLOPS}, true},
    {"bound of the paper's GPU: 102 GB/s of 10^9 bytes", {S2_GBYTES, S2_GBYTES, S2_GBYTES}, true}};

int s2_draw(const struct s2_result *results, size_t n, const char *folder)
{
    char path[600];

    for (const struct figure *f = figures; f < figures + sizeof figures / sizeof *figures; f++) {
        struct lines lines[2] = {{.n = 0}, {.n = 0}};
        struct fbp_s2_chart charts[2];
        for (size_t k = 0; k < 2; k++) {
            for (size_t i = 0; i < n; i++)
                add_lines(&lines[k], &results[i], f->at[k]);
            if (f->bounded)
                lines[k].series[lines[k].n++] = bounds[k];
            charts[k] = (struct fbp_s2_chart){.title = f->titles[k],
                                              .series = lines[k].series,
                                              .n = lines[k].n,
                                              .logarithmic = k == 0 || f->bounded};
        }
        if (snprintf(path, sizeof path, "%s/%s", folder, f->file) >= (int)sizeof path)
            return cli_error("%s: the name is too long: choose another --pictures", folder);
        if (fbp_s2_draw(path, f->title, charts) != FBP_OK)
            return cli_fail();
    }
    return 0;
}
