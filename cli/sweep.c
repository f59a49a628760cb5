/* A slice for each value of a parameter, a score for each slice, a sheet of all of them. */
#include "sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Pictures are kept as the sheet shows them. */
enum { LONGEST = 384 };

/* Scores are taken well inside what every value sees: at the rim truncation is brighter than any
 * error of the geometry. */
static const double part_of_view = 0.95;

struct sweep {
    struct recon_args *args;
    const struct sweep_range *range;
    struct fbp_scan scan;
    struct fbp_view *views; /* of one value */
    struct fbp_source *source;
    struct fbp_grid grid; /* of the slices */
    size_t slice;         /* the one that is shown, of the volume */
    double present;       /* the scan's own value */
    double radius_mm;     /* what every value sees */
    float *slices;        /* [grid.n[2]][ny][nx] of one value */
    size_t reduce, w, h;  /* values a pixel of the pictures that are kept, their size */
    float *pictures;      /* [range->n][h][w] */
    double *scores;
    double best, seconds;
    bool at_end;
};

/* One slice through the middle; to see a turn of the panel two, far from it on both sides, so that
 * an axis beside the centre changes both alike. */
static void choose_slices(struct sweep *s, const struct fbp_grid *all)
{
    const bool two =
        s->range->parameter == SWEEP_TILT && s->args->slice == SIZE_MAX && all->n[2] >= 4;
    const size_t n = all->n[2], below = n / 4;

    s->grid = *all;
    if (two) {
        s->slice = n - 1 - below;
        s->grid.n[2] = 2;
        s->grid.voxel_mm[2] *= (double)(s->slice - below);
        return;
    }
    s->slice = s->args->slice == SIZE_MAX ? n / 2 : s->args->slice;
    s->grid.n[2] = 1;
    s->grid.centre_mm[2] = fbp_grid_coordinate(all, 2, (double)s->slice);
}

static double value_of(const struct sweep *s, size_t i)
{
    return sweep_value(s->range, i);
}

static int failed_at(const struct sweep *s, double value)
{
    return cli_error("--sweep %s = %.7g: %s", sweep_name(s->range->parameter), value,
                     fbp_message());
}

/* The least field of view of all values; also finds values that no scan can have. */
static int find_radius(struct sweep *s)
{
    struct fbp_geometry_facts facts;

    s->radius_mm = INFINITY;
    for (size_t i = 0; i < s->range->n; i++) {
        const double value = value_of(s, i);
        if (sweep_apply(&s->scan, s->range->parameter, value, s->views) != FBP_OK ||
            fbp_geometry_facts(s->views, s->scan.n_views, s->scan.kind, &s->scan.panel, &s->grid,
                               &facts) != FBP_OK)
            return failed_at(s, value);
        s->radius_mm = fmin(s->radius_mm, facts.fov_radius_mm);
    }
    return 0;
}

static int allocate(struct sweep *s)
{
    const size_t *n = s->grid.n, longest = n[0] > n[1] ? n[0] : n[1];

    s->reduce = (longest + LONGEST - 1) / LONGEST;
    s->w = (n[0] + s->reduce - 1) / s->reduce;
    s->h = (n[1] + s->reduce - 1) / s->reduce;
    s->slices = malloc(n[0] * n[1] * n[2] * sizeof *s->slices);
    s->pictures = malloc(s->range->n * s->w * s->h * sizeof *s->pictures);
    s->scores = calloc(s->range->n, sizeof *s->scores);
    return s->scores && s->slices && s->pictures ? 0 : cli_error("out of memory for the sweep");
}

/* Means of blocks of the slice that is shown, into picture i. */
static void keep_picture(struct sweep *s, size_t i)
{
    const size_t nx = s->grid.n[0], ny = s->grid.n[1], k = s->reduce;
    const float *slice = s->slices + (s->grid.n[2] - 1) * nx * ny;
    float *out = s->pictures + i * s->w * s->h;

    for (size_t y = 0; y < s->h; y++)
        for (size_t x = 0; x < s->w; x++) {
            double sum = 0;
            size_t count = 0;
            for (size_t b = y * k; b < (y + 1) * k && b < ny; b++)
                for (size_t a = x * k; a < (x + 1) * k && a < nx; a++, count++)
                    sum += (double)slice[b * nx + a];
            out[y * s->w + x] = (float)(sum / (double)count);
        }
}

/* Mean over the slices, which are changed by it. */
static void take_score(struct sweep *s, size_t i)
{
    const size_t *n = s->grid.n;
    const double *mm = s->grid.voxel_mm;
    const double cx = -fbp_grid_coordinate(&s->grid, 0, 0) / mm[0];
    const double cy = -fbp_grid_coordinate(&s->grid, 1, 0) / mm[1];

    for (size_t z = 0; z < n[2]; z++)
        s->scores[i] +=
            sweep_score_of((enum sweep_score)s->args->score, s->slices + z * n[0] * n[1], n[0],
                           n[1], cx, cy, part_of_view * s->radius_mm / fmax(mm[0], mm[1])) /
            (double)n[2];
}

/* How much larger objects come out with this value than with the scan's. */
static double magnified(const struct sweep *s, double value)
{
    return s->range->parameter == SWEEP_SOD   ? value / s->present
           : s->range->parameter == SWEEP_SDD ? s->present / value
                                              : 1;
}

/* The slices for one value. */
static int reconstruct(struct sweep *s, double value)
{
    struct fbp_scan scan = s->scan;
    fbp_plan *plan = NULL;
    fbp_sink *sink = NULL;

    scan.views = s->views;
    scan.volume = s->grid;
    for (int i = 0; i < 2; i++) /* edges as many voxels wide, whatever the magnification */
        scan.volume.voxel_mm[i] *= magnified(s, value);
    fbp_status st = sweep_apply(&s->scan, s->range->parameter, value, s->views);
    if (st == FBP_OK)
        st = fbp_plan_create(&plan, &scan, &s->args->p);
    s->args->p.log = NULL; /* what it said once holds for all */
    if (st == FBP_OK)
        st = fbp_sink_memory(&sink, s->slices, s->grid.n);
    if (st == FBP_OK)
        st = fbp_plan_run_to(plan, NULL, sink, NULL);
    fbp_sink_close(&sink);
    const int rc = st == FBP_OK              ? 0
                   : st == FBP_ERR_CANCELLED ? cli_error("interrupted: nothing was written")
                                             : failed_at(s, value);
    fbp_plan_destroy(&plan);
    return rc;
}

static int reconstruct_all(struct sweep *s)
{
    const bool visible = !s->args->quiet && isatty(STDERR_FILENO);
    const double start = cli_now();
    int rc = 0;

    for (size_t i = 0; i < s->range->n && rc == 0; i++) {
        if (visible)
            fprintf(stderr, "\r\033[K%s %.7g, %zu/%zu", sweep_name(s->range->parameter),
                    value_of(s, i), i + 1, s->range->n);
        rc = reconstruct(s, value_of(s, i));
        if (rc == 0) {
            keep_picture(s, i);
            take_score(s, i);
        }
    }
    if (visible)
        fputs("\r\033[K", stderr);
    s->seconds = cli_now() - start;
    return rc;
}

static size_t nearest(const struct sweep *s)
{
    return (size_t)lrint((s->best - s->range->from) / s->range->step);
}

static int write_sheet(const struct sweep *s)
{
    const char *name = sweep_name(s->range->parameter);
    const struct fbp_grid *g = &s->grid;
    struct fbp_tile *tiles = calloc(s->range->n, sizeof *tiles);
    char(*labels)[64] = calloc(s->range->n, sizeof *labels), title[200];
    struct fbp_sheet_params p = {.struct_size = sizeof p, .n = {s->w, s->h}, .title = title};
    int rc = tiles && labels ? 0 : cli_error("out of memory for the contact sheet");

    for (size_t i = 0; rc == 0 && i < s->range->n; i++) {
        snprintf(labels[i], sizeof labels[i], "%s %.7g\n%.5g", name, value_of(s, i), s->scores[i]);
        tiles[i] = (struct fbp_tile){s->pictures + i * s->w * s->h, labels[i], i == nearest(s)};
    }
    snprintf(title, sizeof title, "%s by %s, best %.7g, slice %zu, z = %.5g mm", name,
             sweep_scores[s->args->score], s->best, s->slice,
             fbp_grid_coordinate(g, 2, (double)g->n[2] - 1));
    if (rc == 0 && fbp_sheet_write(s->args->output, tiles, s->range->n, &p) != FBP_OK)
        rc = cli_fail();
    free(tiles);
    free(labels);
    return rc;
}

static int write_curve(const struct sweep *s, const double *x)
{
    char title[200], x_name[60];
    const struct fbp_curve c = {.title = title,
                                .x_name = x_name,
                                .y_name = sweep_scores[s->args->score],
                                .x = x,
                                .y = s->scores,
                                .n = s->range->n,
                                .best = s->best};

    snprintf(x_name, sizeof x_name, "%s [%s]", sweep_name(s->range->parameter),
             sweep_unit(s->range->parameter));
    snprintf(title, sizeof title, "%s by %s", sweep_name(s->range->parameter),
             sweep_scores[s->args->score]);
    return fbp_curve_svg(&c, s->args->curve) == FBP_OK ? 0 : cli_fail();
}

/* How the best value gets into a reconstruction. */
static void say_how(const struct sweep *s)
{
    switch (s->range->parameter) {
    case SWEEP_CENTRE:
        printf("use it: --centre %.7g\n", s->best);
        break;
    case SWEEP_TILT:
        printf("use it: add %.7g to the third of \"detector\": {\"tilt_deg\": [0, 0, 0]}\n",
               s->best);
        break;
    case SWEEP_OFFSET:
        printf("use it: \"detector\": {\"offset_mm\": [%.7g, V]}\n", s->best);
        break;
    case SWEEP_SOD:
        printf("use it: \"source_to_axis_mm\": %.7g\n", s->best);
        break;
    default:
        printf("use it: \"source_to_detector_mm\": %.7g\n", s->best);
        break;
    }
}

/* How far the best stands out: its distance from the mean score, as a part of it. */
static double spread_of(const struct sweep *s)
{
    const double best = s->scores[nearest(s)];
    double sum = 0;

    for (size_t i = 0; i < s->range->n; i++)
        sum += s->scores[i];
    return fabs(best - sum / (double)s->range->n) / fabs(best);
}

static void print_table(const struct sweep *s)
{
    const char *name = sweep_name(s->range->parameter);
    char head[40], t[24];

    snprintf(head, sizeof head, "%s [%s]", name, sweep_unit(s->range->parameter));
    printf("%-16s %s\n", head, sweep_scores[s->args->score]);
    for (size_t i = 0; i < s->range->n; i++)
        printf("%-16.7g %.6g%s\n", value_of(s, i), s->scores[i], i == nearest(s) ? "  *" : "");
    printf("best %s: %.7g %s, in slice %zu; %zu slices in %s\n", name, s->best,
           sweep_unit(s->range->parameter), s->slice, s->range->n * s->grid.n[2],
           cli_seconds(t, sizeof t, s->seconds));
    if (spread_of(s) < 0.002)
        printf("the scores differ by %.2g %% only: this slice hardly tells\n", 100 * spread_of(s));
    if (s->at_end)
        printf("the best is at the end of the range: the true one may lie beyond it\n");
    say_how(s);
}

static int print_json(const struct sweep *s, const double *x)
{
    cJSON *root = cJSON_CreateObject();

    cJSON_AddStringToObject(root, "parameter", sweep_name(s->range->parameter));
    cJSON_AddStringToObject(root, "unit", sweep_unit(s->range->parameter));
    cJSON_AddStringToObject(root, "score", sweep_scores[s->args->score]);
    cli_json_numbers(root, "values", x, s->range->n);
    cli_json_numbers(root, "scores", s->scores, s->range->n);
    cJSON_AddNumberToObject(root, "best", s->best);
    cJSON_AddBoolToObject(root, "at_end", s->at_end);
    cJSON_AddNumberToObject(root, "spread", spread_of(s));
    cJSON_AddNumberToObject(root, "slice", (double)s->slice);
    cJSON_AddNumberToObject(root, "z_mm",
                            fbp_grid_coordinate(&s->grid, 2, (double)s->grid.n[2] - 1));
    cJSON_AddNumberToObject(root, "seconds", s->seconds);
    cJSON_AddStringToObject(root, "output", s->args->output);
    return cli_json(root, false);
}

static int finish(struct sweep *s)
{
    double *x = calloc(s->range->n, sizeof *x);
    int rc = x ? 0 : cli_error("out of memory for the sweep");

    for (size_t i = 0; x && i < s->range->n; i++)
        x[i] = value_of(s, i);
    s->best = s->range->from + s->range->step * sweep_peak(s->scores, s->range->n, &s->at_end);
    if (rc == 0 && !isfinite(s->best))
        rc = cli_error("--sweep: no value gives a slice that can be judged: all are empty");
    if (rc == 0)
        rc = write_sheet(s);
    if (rc == 0 && s->args->curve)
        rc = write_curve(s, x);
    if (rc == 0 && s->args->json)
        rc = print_json(s, x);
    else if (rc == 0 && !s->args->quiet)
        print_table(s);
    free(x);
    return rc;
}

static int check_scan(const struct sweep *s)
{
    const enum sweep_parameter p = s->range->parameter;

    if (s->scan.kind == FBP_PARALLEL && (p == SWEEP_SOD || p == SWEEP_SDD))
        return cli_error("--sweep %s: a parallel beam has no source", sweep_name(p));
    if (s->scan.filtered)
        return cli_error("--sweep needs views that are not filtered yet");
    return 0;
}

static int prepare(struct sweep *s)
{
    struct fbp_grid all;
    int rc = recon_load(s->args, &s->scan);

    if (rc == 0)
        rc = check_scan(s);
    if (rc == 0)
        rc = recon_grid(s->args, &s->scan, &all);
    if (rc != 0)
        return rc;
    choose_slices(s, &all);
    s->args->p.volume = (struct fbp_grid){0};
    s->views = malloc(s->scan.n_views * sizeof *s->views);
    if (!s->views)
        return cli_error("out of memory for the views");
    if (sweep_present(&s->scan, s->range->parameter, &s->present) != FBP_OK)
        return cli_fail();
    rc = find_radius(s);
    if (rc == 0 && fbp_source_open(&s->source, s->scan.projections, &s->scan.raw) != FBP_OK)
        rc = cli_fail();
    s->args->p.source = s->source;
    return rc == 0 ? allocate(s) : rc;
}

int sweep_run(struct recon_args *args, const struct sweep_range *range)
{
    struct sweep s = {.args = args, .range = range};
    int rc = prepare(&s);

    if (rc == 0)
        rc = reconstruct_all(&s);
    if (rc == 0)
        rc = finish(&s);
    fbp_source_close(&s.source);
    free(s.scores);
    free(s.pictures);
    free(s.slices);
    free(s.views);
    fbp_scan_clear(&s.scan);
    return rc;
}
