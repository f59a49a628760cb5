/* fbp recon --sweep: reconstructs slices for each value of a geometry parameter and computes their
 * scores. Called by cmd_recon.c; sweep_result.c writes the results. */
#include "say.h"
#include "sweep_state.h"

#include "analysis/score.h"
#include "base/system.h"
#include "base/text.h"
#include "geometry/kind.h"
#include "picture/draw.h"
#include "scan/adjust.h"
#include "scan/file/scan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* LONGEST: greatest side of a stored picture [pixels], the size in the contact sheet. */
enum { LONGEST = 384, LABEL_LINES = 2 };

/* Upper bound of the growth of code and heap during the reconstructions [bytes]. */
static const size_t growth = (size_t)8 << 20;

/* Radius of the scored area, as a fraction of the least field of view. At the rim, truncation has a
 * stronger effect than any error of the geometry. */
static const double part_of_view = 0.95;

/* Choose the slices: those of --slice, otherwise the middle one. A sweep of the tilt uses two
 * slices, a quarter of the height from each end, because an axis offset changes both of them
 * equally. */
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

/* The scan with the parameter set to `value` (NaN: the scan's value) and all other options applied.
 */
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

/* Compute the least field of view over all values. Fails for a value that is invalid for the scan.
 */
static int find_radius(struct sweep *s)
{
    struct fbp_geometry_facts facts = {.struct_size = sizeof facts};
    struct fbp_scan scan = {.struct_size = sizeof scan};

    s->radius_mm = INFINITY;
    for (size_t i = 0; i < s->range->n; i++) {
        const double value = sweep_value(s->range, i);
        if (scan_with(s, value, &scan) != FBP_OK ||
            fbp_views_facts(fbp_scan_views(&scan), &s->grid, &facts) != FBP_OK)
            return failed_at(s, value);
        s->radius_mm = fmin(s->radius_mm, facts.fov_radius_mm);
    }
    return 0;
}

/* Check that the pictures of all values and the sheet fit into --memory, before the
 * reconstructions. */
static int check_memory(const struct sweep *s)
{
    const struct fbp_sheet_params p = {.n = {s->w, s->h}, .title = ""};
    const size_t pictures = s->range->n * s->w * s->h * sizeof *s->pictures;
    const size_t sheet = fbp_sheet_bytes(s->range->n, LABEL_LINES, &p);
    char needs[24], limit[24];
    struct rusage now;

    if (s->args->p.memory_bytes == 0 || getrusage(RUSAGE_SELF, &now) != 0)
        return 0;
    const size_t all = (size_t)now.ru_maxrss * 1024 + growth + pictures + sheet;
    if (all <= s->args->p.memory_bytes)
        return 0;
    return cli_error("--sweep: %zu images and the contact sheet need %s, more than --memory %s; "
                     "sweep fewer values, give a smaller --size, or raise --memory",
                     s->range->n, fbp_bytes_text(needs, sizeof needs, all),
                     fbp_bytes_text(limit, sizeof limit, s->args->p.memory_bytes));
}

static int allocate(struct sweep *s)
{
    const size_t *n = s->grid.n, longest = n[0] > n[1] ? n[0] : n[1];

    s->reduce = (longest + LONGEST - 1) / LONGEST;
    s->w = (n[0] + s->reduce - 1) / s->reduce;
    s->h = (n[1] + s->reduce - 1) / s->reduce;
    if (check_memory(s) != 0)
        return 1;
    s->slices = malloc(n[0] * n[1] * n[2] * sizeof *s->slices);
    s->pictures = malloc(s->range->n * s->w * s->h * sizeof *s->pictures);
    s->scores = calloc(s->range->n, sizeof *s->scores);
    if (!s->scores || !s->slices || !s->pictures)
        return cli_error("out of memory for the sweep; close other programs");
    /* Touch all pages: plans count resident memory, and the first plan must count the same as the
     * last. */
    memset(s->slices, 0, n[0] * n[1] * n[2] * sizeof *s->slices);
    memset(s->pictures, 0, s->range->n * s->w * s->h * sizeof *s->pictures);
    return 0;
}

/* Store picture i: means of blocks of reduce x reduce voxels of the displayed slice. */
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

/* Score i: mean of the scores of the slices. fbp_slice_score() changes the slices. */
static void take_score(struct sweep *s, size_t i)
{
    const size_t *n = s->grid.n;
    const double *mm = s->grid.voxel_mm;
    const double cx = -fbp_grid_coordinate(&s->grid, 0, 0) / mm[0];
    const double cy = -fbp_grid_coordinate(&s->grid, 1, 0) / mm[1];

    for (size_t z = 0; z < n[2]; z++)
        s->scores[i] +=
            fbp_slice_score((enum fbp_score)s->args->score, s->slices + z * n[0] * n[1], n[0], n[1],
                            cx, cy, part_of_view * s->radius_mm / fmax(mm[0], mm[1])) /
            (double)n[2];
}

/* Size of objects in the slice with this value, relative to the scan's value. */
static double magnified(const struct sweep *s, double value)
{
    return s->range->parameter == FBP_ADJUST_SOD   ? value / s->present
           : s->range->parameter == FBP_ADJUST_SDD ? s->present / value
                                                   : 1;
}

/* Reconstruct the slices for one value. */
static int reconstruct(struct sweep *s, double value)
{
    struct fbp_scan scan = {.struct_size = sizeof scan};
    fbp_plan *plan = NULL;
    fbp_sink *sink = NULL;
    fbp_status st = scan_with(s, value, &scan);

    scan.volume = s->grid;
    for (int i = 0; i < 2; i++) /* constant width of edges in voxels for all magnifications */
        scan.volume.voxel_mm[i] *= magnified(s, value);
    if (st == FBP_OK)
        st = fbp_plan_create(&plan, &scan, &s->args->p);
    s->args->p.callbacks.log = NULL; /* print notes of the plan only for the first value */
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
    const double start = fbp_seconds();
    char bar[80];
    int rc = 0;

    for (size_t i = 0; i < s->range->n && rc == 0; i++) {
        snprintf(bar, sizeof bar, "%s %.7g, %zu/%zu", fbp_adjust_name(s->range->parameter),
                 sweep_value(s->range, i), i + 1, s->range->n);
        if (visible)
            say_bar(bar);
        rc = reconstruct(s, sweep_value(s->range, i));
        if (rc == 0) {
            keep_picture(s, i);
            take_score(s, i);
        }
    }
    if (visible)
        say_bar("");
    s->seconds = fbp_seconds() - start;
    return rc;
}

/* A range of columns from a negative to a positive number is relative to the scan's axis, because
 * no column is negative: add the column of the axis. */
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

static int check_scan(const struct sweep *s)
{
    const double ends[] = {s->range->from, sweep_value(s->range, s->range->n - 1)};

    if (s->scan.filtered)
        return cli_error("--sweep needs unfiltered views; give the scan before filtering");
    for (int i = 0; i < FBP_ADJUSTS; i++)
        if (i != (int)s->range->parameter && !isnan(s->args->adjust[i]) &&
            adjust_check_value("--", &s->scan, (enum fbp_adjust)i, s->args->adjust[i]) != 0)
            return 1;
    for (int i = 0; i < 2; i++)
        if (adjust_check_value("--sweep ", &s->scan, s->range->parameter, ends[i]) != 0)
            return 1;
    return 0;
}

/* Choose the volume: that of the scan without the sweep. Also allocates s->views. */
static int choose_volume(struct sweep *s, struct fbp_grid *all)
{
    struct fbp_scan scan = {.struct_size = sizeof scan};

    *all = s->scan.volume;
    s->views = malloc(s->scan.n_views * sizeof *s->views);
    if (!s->views)
        return cli_error("out of memory for the views; close other programs");
    if (scan_with(s, NAN, &scan) != FBP_OK ||
        fbp_adjust_get(&scan, s->range->parameter, &s->present) != FBP_OK)
        return cli_fail();
    return recon_grid(s->args, &scan, all);
}

static int prepare(struct sweep *s)
{
    struct fbp_grid all;
    int rc = recon_load(s->args, &s->scan);

    if (rc == 0)
        rc = centre_find(s->args, &s->scan);
    if (rc == 0)
        rc = place_range(s);
    if (rc == 0)
        rc = check_scan(s);
    if (rc == 0)
        rc = choose_volume(s, &all);
    if (rc != 0)
        return rc;
    choose_slices(s, &all);
    s->args->p.volume = (struct fbp_grid){0};
    rc = find_radius(s);
    if (rc == 0 && fbp_source_open(&s->source, s->scan.projections, &s->scan.raw) != FBP_OK)
        rc = cli_fail();
    s->args->p.input.source = s->source;
    return rc == 0 ? allocate(s) : rc;
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
