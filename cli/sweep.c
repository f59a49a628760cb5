/* fbp recon --sweep: reconstructs slices for each value of a geometry parameter, computes their
 * scores, writes a contact sheet and a curve of the scores, and prints the best value
 * (sweep_run()); sweep_parse() parses PARAMETER=FROM:TO:STEP.
 * Used by: cmd_recon.c. */
#include "sweep.h"

#include "say.h"

#include "analysis/score.h"
#include "base/system.h"
#include "base/text.h"
#include "picture/draw.h"
#include "scan/adjust.h"
#include "scan/file/scan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct sweep {
    struct recon_args *args;
    struct sweep_range *range;
    struct fbp_scan scan;
    /* views of the scan with the current value and all other options applied */
    struct fbp_view *views;
    struct fbp_source *source;
    struct fbp_grid grid; /* voxel grid of the slices */
    /* slice, shown: index of the displayed slice in the volume, and in `grid` */
    size_t slice, shown;
    double present;   /* value of the parameter without the sweep */
    double radius_mm; /* least radius of the field of view over all values of the parameter [mm] */
    float *slices;    /* [grid.n[2]][ny][nx] slices for the current value */
    /* voxels per pixel of a picture along x and y; its width and height [pixels] */
    size_t reduce, w, h;
    float *pictures;      /* [range->n][h][w] pictures of the displayed slice */
    double *scores;       /* [range->n] */
    double best, seconds; /* best value of the parameter; duration of all reconstructions [s] */
    bool at_end;          /* the best value is at an end of the range */
};

const char *const sweep_scores[] = {"sharpness", "negativity", NULL};

bool sweep_parse(const char *text, struct sweep_range *out, char *why, size_t n)
{
    const char *equals = strchr(text, '=');
    double v[3];

    *out = (struct sweep_range){0};
    const size_t length = equals ? (size_t)(equals - text) : 0;
    bool found = length == strlen("center") && strncmp(text, "center", length) == 0;
    if (found)
        out->parameter = FBP_ADJUST_CENTRE;
    for (size_t i = 0; i < FBP_ADJUSTS && !found; i++) {
        found =
            length == strlen(fbp_adjust_name(i)) && strncmp(fbp_adjust_name(i), text, length) == 0;
        out->parameter = (enum fbp_adjust)i;
    }
    if (!found) {
        size_t len = (size_t)snprintf(why, n, "expected NAME=FROM:TO:STEP with a NAME of");
        for (size_t i = 0; i < FBP_ADJUSTS && len < n; i++)
            len += (size_t)snprintf(why + len, n - len, "%s %s", i ? "," : "", fbp_adjust_name(i));
        return false;
    }
    const char *at = equals + 1;
    for (int i = 0; i < 3; i++) { /* the numbers must be decimal: no "inf" */
        char *end = NULL;
        v[i] = *at && strchr("+-.0123456789", *at) ? strtod(at, &end) : NAN;
        if (!end || end == at || *end != (i < 2 ? ':' : '\0') || !isfinite(v[i])) {
            snprintf(why, n, "expected three numbers FROM:TO:STEP after %.*s",
                     (int)(equals - text + 1), text);
            return false;
        }
        at = end + 1;
    }
    if (!(v[2] > 0 && v[1] > v[0])) {
        snprintf(why, n, "expected FROM below TO and a positive STEP");
        return false;
    }
    const double count = floor((v[1] - v[0]) / v[2] + 1e-9) + 1;
    if (count < 2 || count > SWEEP_MOST) {
        snprintf(why, n, "the range contains %.6g values, expected 2 to %d; choose another STEP",
                 count, SWEEP_MOST);
        return false;
    }
    *out = (struct sweep_range){out->parameter, v[0], v[1], v[2], (size_t)count};
    return true;
}

double sweep_value(const struct sweep_range *r, size_t i)
{
    const double value = r->from + (double)i * r->step;
    return fabs(value) < 1e-9 * r->step ? 0 : value;
}

/* Greatest side of a picture in the sheet [pixels]; lines of text below it. */
enum { LONGEST = 384, LABEL_LINES = 2 };

/* Allowance for code and heap that reconstructions add to the peak memory [bytes]. */
static const size_t growth = (size_t)8 << 20;

/* Radius of the area that is scored, as a fraction of the least field of view. Near the rim of the
 * field of view, truncation changes the score more than an error of the geometry does. */
static const double part_of_view = 0.95;

/* Choose the slices: those of --slice, else the middle one; for a sweep of the tilt two, a quarter
 * of the height from either end, because an offset of the axis changes both equally. */
static void choose_slices(struct sweep *s, const struct fbp_grid *all)
{
    const bool two =
        s->range->parameter == FBP_ADJUST_TILT && !s->args->slice.given && all->n[2] >= 4;
    const struct opt_range *some = &s->args->slice;
    const size_t n = all->n[2], below = n / 4;
    const size_t first = some->given ? some->first : n / 2;
    const size_t end = !some->given ? first + 1 : some->end ? some->end : n;

    s->grid = *all;
    if (two) {
        s->slice = n - 1 - below;
        s->grid.n[2] = 2;
        s->grid.voxel_mm[2] *= (double)(s->slice - below);
        s->shown = 1;
        return;
    }
    s->grid.n[2] = end - first;
    s->grid.centre_mm[2] = fbp_grid_coordinate(all, 2, ((double)first + (double)end - 1) / 2);
    s->shown = (end - first) / 2;
    s->slice = first + s->shown;
}

static int failed_at(const struct sweep *s, double value)
{
    return cli_error("--sweep %s = %.7g: %s", fbp_adjust_name(s->range->parameter), value,
                     fbp_message());
}

/* Set *out to the scan with all options and a value of the parameter (NaN: the scan's). */
static fbp_status scan_with(const struct sweep *s, double value, struct fbp_scan *out)
{
    double values[FBP_ADJUSTS];

    memcpy(values, s->args->adjust, sizeof values);
    values[s->range->parameter] = value;
    memcpy(s->views, s->scan.views, s->scan.n_views * sizeof *s->views);
    *out = s->scan;
    out->views = s->views;
    const fbp_status st = fbp_adjust_all(out, values);
    return st == FBP_OK ? recon_reduce(s->args, out) : st;
}

/* Allocate buffers, after a check that the pictures and the sheet fit into --memory. */
static int allocate(struct sweep *s)
{
    const size_t *n = s->grid.n, longest = n[0] > n[1] ? n[0] : n[1];

    s->reduce = (longest + LONGEST - 1) / LONGEST;
    s->w = (n[0] + s->reduce - 1) / s->reduce;
    s->h = (n[1] + s->reduce - 1) / s->reduce;
    const size_t pictures = s->range->n * s->w * s->h * sizeof *s->pictures;
    const struct fbp_sheet_params p = {.n = {s->w, s->h}, .title = ""};
    const size_t all =
        cli_peak_bytes() + growth + pictures + fbp_sheet_bytes(s->range->n, LABEL_LINES, &p);
    char needs[24], limit[24];
    if (s->args->p.memory_bytes > 0 && all > s->args->p.memory_bytes)
        return cli_error("--sweep: %zu images and the contact sheet need %s, more than --memory "
                         "%s; sweep fewer values, give a smaller --size, or raise --memory",
                         s->range->n, fbp_bytes_text(needs, sizeof needs, all),
                         fbp_bytes_text(limit, sizeof limit, s->args->p.memory_bytes));
    s->slices = malloc(n[0] * n[1] * n[2] * sizeof *s->slices);
    s->pictures = malloc(pictures);
    s->scores = calloc(s->range->n, sizeof *s->scores);
    if (!s->scores || !s->slices || !s->pictures)
        return cli_error("out of memory for the sweep; close other programs");
    /* Make the buffers resident: equal plans need equal resident memory. */
    memset(s->slices, 0, n[0] * n[1] * n[2] * sizeof *s->slices);
    memset(s->pictures, 0, pictures);
    return 0;
}

/* Store picture i: the displayed slice, as means of s->reduce x s->reduce voxels. */
static void keep_picture(struct sweep *s, size_t i)
{
    const size_t nx = s->grid.n[0], ny = s->grid.n[1], k = s->reduce;
    const float *slice = s->slices + s->shown * nx * ny;
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

static int reconstruct_value(struct sweep *s, double value)
{
    struct fbp_scan scan = {.struct_size = sizeof scan};
    fbp_plan *plan = NULL;
    fbp_sink *sink = NULL;
    fbp_status st = scan_with(s, value, &scan);

    /* size of the object in the slice, divided by its size if the parameter is s->present */
    const double magnification = s->range->parameter == FBP_ADJUST_SOD   ? value / s->present
                                 : s->range->parameter == FBP_ADJUST_SDD ? s->present / value
                                                                         : 1;
    scan.volume = s->grid;
    /* Scale voxels by this factor, so that an edge is equally many voxels wide for all values. */
    for (int i = 0; i < 2; i++)
        scan.volume.voxel_mm[i] *= magnification;
    if (st == FBP_OK)
        st = fbp_plan_create(&plan, &scan, &s->args->p);
    s->args->p.callbacks.log = NULL; /* print the notes of the plan for the first value only */
    if (st == FBP_OK)
        st = fbp_sink_memory(&sink, s->slices, FBP_F32, s->grid.n);
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
    const size_t *n = s->grid.n;
    const double *mm = s->grid.voxel_mm;
    const double cx = -fbp_grid_coordinate(&s->grid, 0, 0) / mm[0];
    const double cy = -fbp_grid_coordinate(&s->grid, 1, 0) / mm[1];
    const double start = fbp_seconds();
    char bar[80];
    int rc = 0;

    for (size_t i = 0; i < s->range->n && rc == 0; i++) {
        snprintf(bar, sizeof bar, "%s %.7g, %zu/%zu", fbp_adjust_name(s->range->parameter),
                 sweep_value(s->range, i), i + 1, s->range->n);
        if (visible)
            say_bar(bar);
        rc = reconstruct_value(s, sweep_value(s->range, i));
        if (rc == 0) {
            keep_picture(s, i);
            for (size_t z = 0; z < n[2]; z++) /* fbp_slice_score() changes the slices */
                s->scores[i] += fbp_slice_score((enum fbp_score)s->args->score,
                                                s->slices + z * n[0] * n[1], n[0], n[1], cx, cy,
                                                part_of_view * s->radius_mm / fmax(mm[0], mm[1])) /
                                (double)n[2];
        }
    }
    if (visible)
        say_bar("");
    s->seconds = fbp_seconds() - start;
    return rc;
}

/* A range of columns around 0 is relative to the axis in the scan file: add its column. */
static int place_range(struct sweep *s)
{
    double now;

    if (s->range->parameter != FBP_ADJUST_CENTRE || s->range->from >= 0 || s->range->to <= 0)
        return 0;
    if (fbp_adjust_get(&s->scan, FBP_ADJUST_CENTRE, &now) != FBP_OK)
        return cli_fail();
    say_note(s->args->quiet,
             "note: the range of centre, %.7g to %.7g, is relative to column %.7g, the axis "
             "position in the scan file",
             s->range->from, s->range->to, now);
    s->range->from += now;
    s->range->to += now;
    return 0;
}

/* Load the scan, check the range, choose the volume (without the sweep), allocate buffers. */
static int prepare(struct sweep *s)
{
    struct fbp_scan scan = {.struct_size = sizeof scan};
    struct fbp_geometry_facts facts = {.struct_size = sizeof facts};
    struct fbp_grid all;

    if (recon_load(s->args, &s->scan) != 0 || centre_find(s->args, &s->scan) != 0 ||
        place_range(s) != 0)
        return 1;
    if (s->scan.filtered)
        return cli_error(
            "--sweep needs unfiltered views; name the scan file of the unfiltered projections");
    for (int i = 0; i < FBP_ADJUSTS; i++)
        if (i != (int)s->range->parameter && !isnan(s->args->adjust[i]) &&
            adjust_check_value("--", &s->scan, (enum fbp_adjust)i, s->args->adjust[i]) != 0)
            return 1;
    const double ends[] = {s->range->from, sweep_value(s->range, s->range->n - 1)};
    for (int i = 0; i < 2; i++)
        if (adjust_check_value("--sweep ", &s->scan, s->range->parameter, ends[i]) != 0)
            return 1;
    s->views = malloc(s->scan.n_views * sizeof *s->views);
    if (!s->views)
        return cli_error("out of memory for the views; close other programs");
    if (scan_with(s, NAN, &scan) != FBP_OK ||
        fbp_adjust_get(&scan, s->range->parameter, &s->present) != FBP_OK)
        return cli_fail();
    if (recon_grid(s->args, &scan, &all) != 0)
        return 1;
    choose_slices(s, &all);
    s->args->p.volume = (struct fbp_grid){0};
    s->radius_mm = INFINITY;
    for (size_t i = 0; i < s->range->n; i++) {
        const double value = sweep_value(s->range, i);
        if (scan_with(s, value, &scan) != FBP_OK ||
            fbp_views_facts(fbp_scan_views(&scan), &s->grid, &facts) != FBP_OK)
            return failed_at(s, value);
        s->radius_mm = fmin(s->radius_mm, facts.fov_radius_mm);
    }
    if (fbp_scan_open_views(&s->source, &s->scan) != FBP_OK)
        return cli_fail();
    s->args->p.input.source = s->source;
    return allocate(s);
}

static size_t nearest(const struct sweep *s)
{
    return (size_t)lrint((s->best - s->range->from) / s->range->step);
}

static int write_sheet(const struct sweep *s)
{
    const char *name = fbp_adjust_name(s->range->parameter);
    const struct fbp_grid *g = &s->grid;
    struct fbp_tile *tiles = calloc(s->range->n, sizeof *tiles);
    char(*labels)[64] = calloc(s->range->n, sizeof *labels), title[200];
    struct fbp_sheet_params p = {.n = {s->w, s->h}, .title = title};
    int rc = tiles && labels
                 ? 0
                 : cli_error("out of memory for the contact sheet; close other programs");

    for (size_t i = 0; rc == 0 && i < s->range->n; i++) {
        snprintf(labels[i], sizeof labels[i], "%s %.7g\n%.5g", name, sweep_value(s->range, i),
                 s->scores[i]);
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): rc 0: tiles exists */
        tiles[i] = (struct fbp_tile){s->pictures + i * s->w * s->h, labels[i], i == nearest(s)};
    }
    snprintf(title, sizeof title, "%s by %s, best %.7g, slice %zu, z = %.5g mm", name,
             sweep_scores[s->args->score], s->best, s->slice,
             fbp_grid_coordinate(g, 2, (double)s->shown));
    if (rc == 0 && fbp_sheet_write(s->args->output, tiles, s->range->n, &p) != FBP_OK)
        rc = cli_fail();
    free(tiles);
    free(labels);
    return rc;
}

/* Print the best value and the other geometry options for fbp recon and geometry convert. */
static void print_options(const struct sweep *s)
{
    const struct recon_args *a = s->args;

    printf("%s%s%s", a->flip_u ? " --flip-u" : "", a->flip_v ? " --flip-v" : "",
           a->reverse ? " --reverse" : "");
    for (int i = 0; i < FBP_ADJUSTS; i++)
        if (i == (int)s->range->parameter || !isnan(a->adjust[i]))
            printf(" --%s %.7g", fbp_adjust_name((size_t)i),
                   i == (int)s->range->parameter ? s->best : a->adjust[i]);
}

/* Difference between the best and the mean score of a sweep, as a fraction of the best score. */
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
    const char *name = fbp_adjust_name(s->range->parameter);
    char head[40], t[24];

    snprintf(head, sizeof head, "%s [%s]", name, fbp_adjust_unit(s->range->parameter));
    printf("%-16s %s\n", head, sweep_scores[s->args->score]);
    for (size_t i = 0; i < s->range->n; i++)
        printf("%-16.7g %.6g%s\n", sweep_value(s->range, i), s->scores[i],
               i == nearest(s) ? "  *" : "");
    printf("best %s: %.7g %s, in slice %zu; %zu slices in %s\n", name, s->best,
           fbp_adjust_unit(s->range->parameter), s->slice, s->range->n * s->grid.n[2],
           cli_seconds(t, sizeof t, s->seconds));
    if (spread_of(s) < 0.002)
        printf("the scores differ by only %.2g %%, so the best value is uncertain; sweep another "
               "slice\n",
               100 * spread_of(s));
    if (s->at_end)
        printf("the best value is at the end of the range; extend the range, because the true "
               "value may lie beyond it\n");
    const size_t rival = fbp_score_rival(s->scores, s->range->n);
    if (rival < s->range->n)
        printf("the score has a second maximum at %.7g, nearly as high; compare the images before "
               "you use the best value\n",
               sweep_value(s->range, rival));
    printf("use it:");
    print_options(s);
    printf("\nto store it: fbp geometry convert %s", say_name(s->args->scan));
    print_options(s);
    puts(" -o FILE.json");
}

static int print_json(const struct sweep *s, const double *x)
{
    cJSON *root = cJSON_CreateObject();

    cJSON_AddStringToObject(root, "parameter", fbp_adjust_name(s->range->parameter));
    cJSON_AddStringToObject(root, "unit", fbp_adjust_unit(s->range->parameter));
    cJSON_AddStringToObject(root, "score", sweep_scores[s->args->score]);
    cli_json_numbers(root, "values", x, s->range->n);
    cli_json_numbers(root, "scores", s->scores, s->range->n);
    cJSON_AddNumberToObject(root, "best", s->best);
    cJSON_AddBoolToObject(root, "at_end", s->at_end);
    cJSON_AddNumberToObject(root, "spread", spread_of(s));
    const size_t rival = fbp_score_rival(s->scores, s->range->n);
    if (rival < s->range->n)
        cJSON_AddNumberToObject(root, "rival", sweep_value(s->range, rival));
    cli_json_add(root, {"slice", (double)s->slice},
                 {"z_mm", fbp_grid_coordinate(&s->grid, 2, (double)s->shown)},
                 {"seconds", s->seconds});
    cJSON_AddStringToObject(root, "output", s->args->output);
    return cli_json(root, false);
}

static int sweep_finish(struct sweep *s)
{
    double *x = calloc(s->range->n, sizeof *x);
    int rc = x ? 0 : cli_error("out of memory for the sweep; close other programs");

    for (size_t i = 0; x && i < s->range->n; i++)
        x[i] = sweep_value(s->range, i);
    s->best = s->range->from + s->range->step * fbp_score_peak(s->scores, s->range->n, &s->at_end);
    if (rc == 0 && !isfinite(s->best))
        rc =
            cli_error("--sweep: the slices of all values are empty; sweep another slice (--slice)");
    free(s->slices);
    s->slices = NULL;
    if (rc == 0)
        rc = write_sheet(s);
    char title[200], x_name[60];
    const struct fbp_curve curve = {.title = title,
                                    .x_name = x_name,
                                    .y_name = sweep_scores[s->args->score],
                                    .x = x,
                                    .y = s->scores,
                                    .n = s->range->n,
                                    .best = s->best};
    snprintf(x_name, sizeof x_name, "%s [%s]", fbp_adjust_name(s->range->parameter),
             fbp_adjust_unit(s->range->parameter));
    snprintf(title, sizeof title, "%s by %s", fbp_adjust_name(s->range->parameter), curve.y_name);
    if (rc == 0 && s->args->curve && fbp_curve_svg(&curve, s->args->curve) != FBP_OK)
        rc = cli_fail();
    if (rc == 0 && s->args->json)
        rc = print_json(s, x);
    else if (rc == 0 && !s->args->quiet)
        print_table(s);
    else if (rc == 0)
        printf("%.7g\n", s->best);
    free(x);
    return rc;
}

int sweep_run(struct recon_args *args, struct sweep_range *range)
{
    struct sweep s = {.args = args, .range = range, .scan = {.struct_size = sizeof s.scan}};
    int rc = prepare(&s);

    if (rc == 0)
        rc = reconstruct_all(&s);
    if (rc == 0)
        rc = sweep_finish(&s);
    fbp_source_close(&s.source);
    free(s.scores);
    free(s.pictures);
    free(s.slices);
    free(s.views);
    fbp_scan_clear(&s.scan);
    return rc;
}
