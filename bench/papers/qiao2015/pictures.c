/* Figs. 1 to 5 of Qiao et al. (2015): times, their trend, factors; slices and profiles of GS, CM
 * and CS. Called by command.c for --pictures.
 * Used by: command.c. */
#include "bench/common/chart.h"
#include "bench/papers/qiao2015/text.h"
#include "picture/draw.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SERIES = 12 };

/* Lines of a chart over the sizes, with their coordinates. */
struct lines {
    double x[MOST_SERIES][S4_SIZES], y[MOST_SERIES][S4_SIZES];
    struct bench_series series[MOST_SERIES];
    size_t n;
};

/* The next line, with room for n points. */
static size_t next_line(struct lines *l, const char *name, size_t n, bool published, int colour)
{
    const size_t at = l->n++;

    l->series[at] = (struct bench_series){.name = name,
                                          .x = l->x[at],
                                          .y = l->y[at],
                                          .n = n,
                                          .published = published,
                                          .colour = colour};
    return at;
}

static double size_at(size_t size, bool cubed)
{
    const double n = (double)size;

    return cubed ? n * n * n : n;
}

/* A column of Table 1 as a line of a figure. */
struct shown {
    enum s4_column column;
    const char *published, *now;
};

/* Four columns, published and now; without those that were not measured. */
static void add_columns(const struct s4_job *job, const struct shown *shown, struct lines *l,
                        bool cubed)
{
    for (int now = 0; now < 2; now++)
        for (int k = 0; k < 4; k++) {
            const size_t n = now ? job->n : S4_SIZES;
            const size_t at = next_line(l, now ? shown[k].now : shown[k].published, n, !now, k);
            bool known = false;
            for (size_t i = 0; i < n; i++) {
                const struct s4_table1 r = now ? s4_measured(&job->row[i]) : s4_published[i];
                l->x[at][i] = size_at(r.size, cubed);
                l->y[at][i] = r.column[shown[k].column];
                known |= isfinite(l->y[at][i]);
            }
            if (!known)
                l->n--;
        }
}

/* The line of time in proportion to N^3, from the first point of another one. */
static void add_reference(struct lines *l, size_t from, const char *name)
{
    const size_t n = l->series[from].n, at = next_line(l, name, n, l->series[from].published, 5);

    l->series[at].bare = true;
    for (size_t i = 0; i < n; i++) {
        l->x[at][i] = l->x[from][i];
        l->y[at][i] = l->y[from][0] * l->x[from][i] / l->x[from][0];
    }
}

static int draw_lines(const struct lines *l, const char *folder, const char *name,
                      const char *title, const char *y, const char *x, bool log_x)
{
    const struct bench_chart chart = {
        .title = y, .x_name = x, .log_x = log_x, .log_y = true, .series = l->series, .n = l->n};
    char path[BENCH_PATH];

    if (bench_picture(path, folder, name))
        return 1;
    return bench_chart_draw(path, title, &chart, 1) == FBP_OK ? 0 : cli_fail();
}

static int draw_times(const struct s4_job *job, const char *folder)
{
    static const struct shown shown[4] = {
        {S4_GS_SECONDS, "GS, published", "GS, now"},
        {S4_GS_COMPUTE, "GS without transfer, published", "GS without transfer, now"},
        {S4_CM_SECONDS, "CM, published", "CM, now"},
        {S4_CS_SECONDS, "CS, published", "CS, now"}};
    struct lines *l = calloc(1, sizeof *l);

    if (!l)
        return cli_error("out of memory for a chart: close other programs");
    add_columns(job, shown, l, false);
    int rc = draw_lines(l, folder, "S4-fig1.svg", "Fig. 1: times", "seconds", "N", false);
    l->n = 0;
    add_columns(job, shown, l, true);
    const size_t last = l->n - 1;
    add_reference(l, 3, "N^3, from CS, published");
    if (last > 3)
        add_reference(l, last, "N^3, from CS, now");
    if (rc == 0)
        rc = draw_lines(l, folder, "S4-fig2.svg", "Fig. 2: the trend against N^3", "seconds", "N^3",
                        true);
    free(l);
    return rc;
}

static int draw_factors(const struct s4_job *job, const char *folder)
{
    static const struct shown shown[4] = {
        {S4_CM_TO_COMPUTE, "CM / GS compute, published", "CM / GS compute, now"},
        {S4_CM_TO_GS, "CM / GS, published", "CM / GS, now"},
        {S4_CS_TO_COMPUTE, "CS / GS compute, published", "CS / GS compute, now"},
        {S4_CS_TO_GS, "CS / GS, published", "CS / GS, now"}};
    struct lines *l = calloc(1, sizeof *l);

    if (!l)
        return cli_error("out of memory for a chart: close other programs");
    add_columns(job, shown, l, false);
    const int rc = draw_lines(l, folder, "S4-fig3.svg", "Fig. 3: acceleration by the GPU",
                              "speed of GS in units of the speed of CM or CS", "N", false);
    free(l);
    return rc;
}

/* Slices and profiles: of the first size. */

static const float *slice_of(const struct s4_row *r, enum s4_way way)
{
    return way < S4_WAYS ? r->way[way].slice : r->truth;
}

/* The method drawn as GS: the paper's kernel; if it did not run, fbp's own kernel on --device. */
static enum s4_way gs_of(const struct s4_row *r)
{
    return r->way[S4_GS].slice ? S4_GS : r->way[S4_PLAN].slice ? S4_PLAN : S4_PLAN_FLOAT;
}

static const char *label_of(const struct s4_row *r, enum s4_way way)
{
    return way < S4_WAYS ? r->way[way].label : "phantom";
}

static size_t find_slices(const struct s4_row *r, enum s4_way ways[4], const char *names[4])
{
    const enum s4_way all[4] = {gs_of(r), S4_CM, S4_CS, S4_WAYS};
    size_t n = 0;

    for (int i = 0; i < 4; i++)
        if (slice_of(r, all[i])) {
            ways[n] = all[i];
            names[n++] = label_of(r, all[i]);
        }
    return n;
}

static int write_sheet(const struct s4_row *r, const char *folder, const char *name,
                       const struct fbp_tile *tiles, size_t n, const char *title)
{
    const struct fbp_sheet_params p = {.n = {r->size, r->size}, .title = title};
    char path[BENCH_PATH];

    if (n == 0)
        return 0;
    if (bench_picture(path, folder, name))
        return 1;
    return fbp_sheet_write(path, tiles, n, &p) == FBP_OK ? 0 : cli_fail();
}

static int draw_slices(const struct s4_row *r, const char *folder)
{
    const char *names[4];
    enum s4_way ways[4];
    struct fbp_tile tiles[4];
    const size_t n = find_slices(r, ways, names);

    for (size_t i = 0; i < n; i++)
        tiles[i] = (struct fbp_tile){slice_of(r, ways[i]), names[i], false};
    return write_sheet(r, folder, "S4-fig4.png", tiles, n, "FIG. 4: SLICES");
}

/* Draw |a - b| for each pair of measured methods, all with one grey window. */
enum { PAIRS = 4 };

static int draw_differences(const struct s4_row *r, const char *folder)
{
    const enum s4_way gs = gs_of(r);
    const enum s4_way pairs[PAIRS][2] = {
        {gs, S4_CS}, {S4_CM, S4_CS}, {gs, S4_CM}, {S4_CM, S4_CS_RESAMPLED}};
    const size_t pixels = r->size * r->size;
    float *values = malloc(PAIRS * pixels * sizeof *values);
    struct fbp_tile tiles[PAIRS];
    char labels[PAIRS][128];
    size_t n = 0;

    if (!values)
        return cli_error("out of memory for a picture: close other programs");
    for (int k = 0; k < PAIRS; k++) {
        const float *a = slice_of(r, pairs[k][0]), *b = slice_of(r, pairs[k][1]);
        float *out = values + n * pixels;
        if (!a || !b)
            continue;
        for (size_t i = 0; i < pixels; i++)
            out[i] = fabsf(a[i] - b[i]);
        snprintf(labels[k], sizeof labels[k], "|%s - %s|", label_of(r, pairs[k][0]),
                 label_of(r, pairs[k][1]));
        tiles[n++] = (struct fbp_tile){out, labels[k], false};
    }
    const int rc =
        write_sheet(r, folder, "S4-fig4-differences.png", tiles, n, "FIG. 4: DIFFERENCES");
    free(values);
    return rc;
}

/* Lines along x through the middle: of the methods, minus the phantom, minus CS. */
enum { CHARTS = 3, PROFILES = 4 };

struct profiles {
    size_t n;
    double *x, *y; /* [n], [CHARTS][PROFILES][n] */
    struct bench_series series[CHARTS][PROFILES];
    struct bench_chart charts[CHARTS];
};

/* Add the profile of a method to a chart, minus `less` unless that is NULL. */
static void add_profile(struct profiles *p, size_t chart, const char *name, int colour,
                        const float *values, const float *less)
{
    const size_t at = p->charts[chart].n++;
    double *y = p->y + (chart * PROFILES + at) * p->n;

    for (size_t i = 0; i < p->n; i++)
        y[i] = (double)values[i] - (less ? (double)less[i] : 0);
    p->series[chart][at] = (struct bench_series){.name = name,
                                                 .x = p->x,
                                                 .y = y,
                                                 .n = p->n,
                                                 .published = colour == 5,
                                                 .bare = true,
                                                 .colour = colour};
}

static void add_profiles(const struct s4_row *r, struct profiles *p)
{
    static const char *const titles[CHARTS] = {"along x", "minus the phantom", "minus CS"};
    const size_t middle = (p->n / 2 - 1) * p->n;
    const float *cs = slice_of(r, S4_CS);
    const char *names[4];
    enum s4_way ways[4];
    const size_t there = find_slices(r, ways, names);

    for (size_t k = 0; k < CHARTS; k++)
        p->charts[k] =
            (struct bench_chart){.title = titles[k], .x_name = "voxel", .series = p->series[k]};
    for (size_t k = 0; k < there; k++) {
        const float *row = slice_of(r, ways[k]) + middle;
        const int colour = ways[k] == S4_WAYS ? 5 : ways[k] == S4_CM ? 1 : ways[k] == S4_CS ? 2 : 0;
        add_profile(p, 0, names[k], colour, row, NULL);
        if (ways[k] == S4_WAYS)
            continue;
        add_profile(p, 1, names[k], colour, row, r->truth + middle);
        if (ways[k] != S4_CS && cs)
            add_profile(p, 2, names[k], colour, row, cs + middle);
    }
}

static int draw_profiles(const struct s4_row *r, const char *folder)
{
    const size_t n = r->size;
    double *memory = calloc((1 + CHARTS * PROFILES) * n, sizeof *memory);
    struct profiles p = {.n = n, .x = memory, .y = memory + n};
    char path[BENCH_PATH];

    if (!memory)
        return cli_error("out of memory for a chart: close other programs");
    for (size_t i = 0; i < n; i++)
        p.x[i] = (double)i + 1;
    add_profiles(r, &p);
    int rc = bench_picture(path, folder, "S4-fig5.svg");
    if (rc == 0 &&
        bench_chart_draw(path, "Fig. 5: profiles of the slices", p.charts, CHARTS) != FBP_OK)
        rc = cli_fail();
    free(memory);
    return rc;
}

int s4_draw(const struct s4_job *job, const char *folder)
{
    int rc = draw_times(job, folder);

    if (rc == 0)
        rc = draw_factors(job, folder);
    if (rc == 0)
        rc = draw_slices(&job->row[0], folder);
    if (rc == 0)
        rc = draw_differences(&job->row[0], folder);
    return rc == 0 ? draw_profiles(&job->row[0], folder) : rc;
}
