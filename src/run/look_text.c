/* What was seen, judged and put into words. */
#include "run/look_parts.h"

#include <math.h>
#include <stdio.h>

/* A row whose ends reach this part of its greatest value is cut off: an ellipse loses half a
 * hundredth of its width there. */
static const float CUT_OFF = 0.08f;
static const float IN_AIR = 0.1f; /* ends that reach this part of the greatest value may be air */
static const float EMPTY = 0.1f;  /* rows that reach only this part of it say nothing */
static const float SIGMAS = 4;    /* of thousands of rows none is beyond that by chance */

/* Of all rows: greatest value; what air was measured as, the least that any end shows, if that is
 * little; and the mean noise at both ends: of one row's few columns it comes out far too small at
 * times. */
struct scan_look {
    float peak, air, noise[2];
};

static struct scan_look look_at_scan(const fbp_look *look)
{
    struct scan_look s = {0};
    double noise[2] = {0, 0};
    float least = INFINITY;
    size_t n = 0;

    for (size_t i = 0; i < look->job->n_views * LOOK_ROWS; i++) {
        const struct look_row *r = &look->seen[i];
        if (!r->seen || look->views[i / LOOK_ROWS].odd)
            continue;
        s.peak = look_most(s.peak, r->peak);
        least = look_least(least, look_least(r->end[0], r->end[1]));
        noise[0] += (double)r->noise[0];
        noise[1] += (double)r->noise[1];
        n++;
    }
    s.air = least > 0 && least < IN_AIR * s.peak ? least : 0;
    for (int end = 0; end < 2 && n > 0; end++)
        s.noise[end] = (float)(noise[end] / (double)n);
    return s;
}

/* Which part of its greatest value a row has at an end, 0 where it is not cut off there. */
static double cut_off(const struct look_row *r, int end, const struct scan_look *scan)
{
    const float at_end = r->end[end] - scan->air,
                peak = look_most(r->peak, r->end[end]) - scan->air;
    const float noise = look_most(r->noise[end], scan->noise[end]);

    return at_end - SIGMAS * noise > CUT_OFF * peak ? (double)(at_end / peak) : 0;
}

/* Of a view at an end: the greatest part of the rows that are cut off, if two are. */
static double cut_off_view(const fbp_look *look, size_t view, int end, const struct scan_look *s)
{
    const size_t enough = look->n_rows < 2 ? 1 : 2;
    double most = 0;
    size_t n = 0;

    for (size_t i = 0; i < look->n_rows; i++) {
        const struct look_row *r = &look->seen[view * LOOK_ROWS + i];
        const double part = r->seen && r->peak > EMPTY * s->peak ? cut_off(r, end, s) : 0;
        n += part > 0;
        most = part > most ? part : most;
    }
    return n >= enough ? most : 0;
}

void look_for_truncation(const fbp_look *look, struct fbp_report *report)
{
    const struct scan_look scan = look_at_scan(look);

    for (size_t k = 0; k < look->job->n_views; k++) {
        bool cut = false;
        if (look->views[k].odd)
            continue;
        for (int end = 0; end < 2; end++) {
            const double part =
                look_is_axis_side(look, k, end) ? 0 : cut_off_view(look, k, end, &scan);
            report->truncated[end] = fmax(report->truncated[end], part);
            cut |= part > 0;
        }
        if (!cut)
            continue;
        if (report->truncated_views++ == 0)
            report->truncated_first = k;
        report->truncated_last = k;
    }
}

void fbp_look_truncated(const struct fbp_report *r, size_t n_views, bool padded, char *line,
                        size_t n)
{
    char range[64] = "", where[120];
    const double *part = r->truncated;

    line[0] = '\0';
    if (r->truncated_views == 0)
        return;
    if (r->truncated_views < n_views)
        snprintf(range, sizeof range, " (%zu to %zu)", r->truncated_first, r->truncated_last);
    if (part[0] > 0 && part[1] > 0)
        snprintf(where, sizeof where,
                 "%.0f %% of a row's greatest value at its first column, %.0f %% at its last",
                 100 * part[0], 100 * part[1]);
    else
        snprintf(where, sizeof where, "%.0f %% of a row's greatest value at its %s column",
                 100 * fmax(part[0], part[1]), part[0] > 0 ? "first" : "last");
    snprintf(line, n, "the object is wider than the panel in %zu of %zu views%s: up to %s: %s",
             r->truncated_views, n_views, range, where,
             padded ? "rows were carried on beyond it (--pad)"
                    : "values rise towards the edge of the field of view; --pad ellipse carries "
                      "rows on");
}

void fbp_look_air(const fbp_look *look, char *line, size_t n)
{
    const bool one = fabs(look->air - 1) < 0.02;

    line[0] = '\0';
    if (look->air > 0)
        snprintf(line, n,
                 "the samples are intensities and were taken as line integrals: rows have their "
                 "greatest values, about %.3g, at their ends, as air has: the object is inverted: "
                 "give \"i0\": %.4g in the scan file, or a flat",
                 look->air, one ? 1 : look->air);
}

/* "7, 12 to 15, ..." */
static void list_views(const fbp_look *look, char *text, size_t n)
{
    const size_t n_views = look->job->n_views;
    size_t used = 0, runs = 0;

    for (size_t k = 0, end; k < n_views && used + 64 < n; k = end) {
        end = k + 1;
        if (!look->views[k].dead)
            continue;
        while (end < n_views && look->views[end].dead)
            end++;
        if (runs++ == 8) {
            snprintf(text + used, n - used, ", ...");
            return;
        }
        used += (size_t)snprintf(text + used, n - used, end - k > 1 ? "%s%zu to %zu" : "%s%zu",
                                 runs > 1 ? ", " : "", k, end - 1);
    }
}

void fbp_look_dead(const fbp_look *look, const struct fbp_report *report, char *line, size_t n)
{
    char views[400] = "";

    line[0] = '\0';
    if (report->dead_views == 0)
        return;
    list_views(look, views, sizeof views);
    snprintf(line, n,
             "nothing was measured in %zu of %zu views (%s): all samples of a view are the same, "
             "clipped, or no numbers: leave such views out of the scan, or measure them again",
             report->dead_views, look->job->n_views, views);
}

fbp_status look_refuse(const fbp_look *look, const char *name)
{
    const size_t n = look->job->n_views;
    struct look_view all = LOOK_AT_NOTHING;

    for (size_t k = 0; k < n; k++) {
        all.lo = look_least(all.lo, look->views[k].lo);
        all.hi = look_most(all.hi, look->views[k].hi);
        all.unclipped |= look->views[k].unclipped;
    }
    if (all.lo > all.hi)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: no sample of %zu views is a number: is it the right file, of the type "
                        "and byte order that the scan says?",
                        name, n);
    if (all.lo == all.hi)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: all samples of %zu views are %.7g: nothing was measured: is it the "
                        "right file, or data set, of the type that the scan says?",
                        name, n, (double)all.lo);
    if (!all.unclipped)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: all intensities of %zu views, %.7g to %.7g, are nothing above the "
                        "dark: are these projections and not darks, and are \"dark\" and \"i0\" "
                        "or \"flat\" theirs?",
                        name, n, (double)all.lo, (double)all.hi);
    return fbp_fail(FBP_ERR_INVALID,
                    "%s: in each of %zu views all samples are the same, clipped, or no numbers "
                    "(%.7g to %.7g): is it the right file, or data set?",
                    name, n, (double)all.lo, (double)all.hi);
}
