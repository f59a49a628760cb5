/* Coverage of a circular scan: the arc of the views and its gaps (struct fbp_arc,
 * fbp_arc_create()), and the number of times that each ray is measured, with the weights that
 * follow (struct fbp_ray_coverage, fbp_coverage_create()).
 * Used by: facts.c, weight/weight.c. */
#include "geometry/coverage.h"

#include "geometry/view.h"

#include "base/math.h"

static const double TURN = 2 * FBP_PI, DEGREE = FBP_PI / 180;
enum {
    FEWEST = 3, /* fewest different angles of an arc that covers the whole period */
    COLUMNS = 5 /* fan angles, from 0 to the edge, for gaps between ray directions */
};
/* Greatest difference of the angles of two views that count as equal [rad]: a second turn repeats
 * angles, and 0 and 360 degrees are the same angle. */
static const double SAME = 1e-7;

struct item {
    /* angle of the view [rad] modulo the period; after sorting, from the first view of the arc */
    double angle;
    size_t view;
};

/* Views at one angle: items [first, end). */
struct group {
    double angle;
    size_t first, end;
};

struct work {
    struct item *items;
    struct group *groups;
    double *gaps, *sorted; /* gaps[i]: to the next group; the last one, to groups[0], is largest */
    double period;         /* angles are taken modulo this [rad]: pi or 2 pi */
    double reach[2];       /* extent of the arc beyond first and last view [rad]; 0: full period */
    size_t n, m;           /* number of items, of groups */
};

static int by_angle(const void *a, const void *b)
{
    const struct item *p = a, *q = b;
    if (p->angle != q->angle)
        return p->angle < q->angle ? -1 : 1;
    return (p->view > q->view) - (p->view < q->view);
}

static double wrapped(double angle, double period)
{
    return angle - period * floor(angle / period);
}

/* Get the least, median and greatest of the first n gaps between angles. */
static void gap_range(struct work *w, size_t n, double out[3])
{
    for (size_t g = 0; g < n; g++)
        w->sorted[g] = w->gaps[g];
    fbp_sort(w->sorted, n);
    out[0] = w->sorted[0];
    out[1] = w->sorted[(n - 1) / 2];
    out[2] = w->sorted[n - 1];
}

/* Estimate the greatest gap [rad], at most 45 degrees, that random angles would have, from the m
 * gaps between angles in ascending order: 1 to 4 of 100 sets of exponentially distributed gaps have
 * a gap above mean + deviation (ln m + 3). Mean and deviation exclude the greatest gap, and gaps
 * much larger than most; the factor 1.12 compensates for that. Even steps give the step. */
static double drawn_gap(const double *gaps, size_t m)
{
    const double most = 3 * gaps[9 * (m - 1) / 10];
    double sum = 0, squares = 0;
    size_t n = 0;

    for (; n < m - 1 && gaps[n] <= most; n++) {
        sum += gaps[n];
        squares += gaps[n] * gaps[n];
    }
    const double mean = n ? sum / (double)n : gaps[0];
    const double deviation = n ? sqrt(fmax(squares / (double)n - mean * mean, 0)) : 0;
    return fmin(45 * DEGREE, mean + 1.12 * deviation * (log((double)m) + 3));
}

/* Find the greatest gap [rad] that still counts as a step between neighbouring views, from m gaps
 * in ascending order: the greatest of 1.5 median steps, 2.5 median steps (at most 90 degrees), and
 * the largest gap expected of random angles. A single missing view is thus replaced by its
 * neighbours; a larger gap ends the arc, and its rays are taken from opposite views. */
static double largest_step(const double *gaps, size_t m)
{
    const double median = gaps[(m - 1) / 2];

    return fmax(fmax(drawn_gap(gaps, m), 1.5 * median), fmin(2.5 * median, 90 * DEGREE));
}

fbp_status fbp_arc_create(struct fbp_arc *out, const struct fbp_view *views, size_t n,
                          const double axis[3], double period_rad, double fan_rad, bool closed)
{
    static const char what[] = "angles of the views";
    struct work w = {.period = period_rad, .n = n};
    double all[3], sum = 0;
    size_t best = 0, up = 0, down = 0;
    fbp_status st;

    *out = (struct fbp_arc){0};
    FBP_TRY_GOTO(fbp_calloc((void **)&w.items, n, sizeof *w.items, what));
    FBP_TRY_GOTO(fbp_calloc((void **)&w.groups, n, sizeof *w.groups, what));
    FBP_TRY_GOTO(fbp_calloc((void **)&w.gaps, n, sizeof *w.gaps, what));
    FBP_TRY_GOTO(fbp_calloc((void **)&w.sorted, n, 2 * sizeof *w.sorted, what));
    FBP_TRY_GOTO(fbp_calloc((void **)&out->step, n, sizeof *out->step, "angular steps"));
    FBP_TRY_GOTO(
        fbp_calloc((void **)&out->position, n, sizeof *out->position, "angular positions"));
    FBP_TRY_GOTO(fbp_calloc((void **)&out->cell, n, 2 * sizeof *out->cell, "angular positions"));
    for (size_t k = 0; k < n; k++)
        w.items[k] = (struct item){wrapped(fbp_view_angle(&views[k], axis), period_rad), k};
    /* Sort the views by angle, starting after the largest gap, and group views of equal angle. */
    qsort(w.items, n, sizeof *w.items, by_angle);
    double largest = w.items[0].angle + w.period - w.items[n - 1].angle;
    for (size_t i = 1; i < n; i++)
        if (w.items[i].angle - w.items[i - 1].angle > largest + SAME) {
            largest = w.items[i].angle - w.items[i - 1].angle;
            best = i;
        }
    const double start = w.items[best].angle;
    for (size_t i = 0; i < n; i++)
        if ((w.items[i].angle -= start) < 0)
            w.items[i].angle += w.period;
    qsort(w.items, n, sizeof *w.items, by_angle);
    for (size_t i = 0; i < n; i++) {
        if (w.m == 0 || w.items[i].angle - w.groups[w.m - 1].angle > SAME)
            w.groups[w.m++] = (struct group){w.items[i].angle, i, i};
        w.groups[w.m - 1].end = i + 1;
    }
    for (size_t g = 0; g < w.m; g++) {
        const double next = g + 1 < w.m ? w.groups[g + 1].angle : w.period;
        w.gaps[g] = w.sorted[g] = next - w.groups[g].angle;
    }

    gap_range(&w, w.m, all);
    const double last_gap = w.gaps[w.m - 1], drawn = drawn_gap(w.sorted, w.m);
    const double most = largest_step(w.sorted, w.m);
    out->n_angles = w.m;
    out->usual_gap_rad =
        fmax(1.5 * all[1], fmin(45 * DEGREE, fmax(2 * DEGREE, fmax(4 * all[1], drawn))));
    out->full =
        closed || (w.m >= FEWEST && last_gap <= (w.period == TURN ? most : out->usual_gap_rad));
    for (size_t g = 0; g < w.m; g++)
        out->n_gaps += w.gaps[g] > most;
    out->gap_rad = last_gap - all[1];
    const bool ends = !out->full && w.m > 1;
    gap_range(&w, ends ? w.m - 1 : w.m, out->step_rad);
    /* Extend the arc at both ends by half the neighbouring step or, for period pi, half the gap of
     * random angles if larger, but not beyond the middle of the gap between the ends. */
    for (int i = 0; ends && i < 2; i++) {
        const double inwards = w.gaps[i ? w.m - 2 : 0] / 2;
        w.reach[i] = w.period == TURN ? inwards : fmax(inwards, fmin(last_gap, drawn) / 2);
    }
    out->arc_rad =
        ends ? fmin(w.period, w.groups[w.m - 1].angle + w.reach[0] + w.reach[1]) : w.period;
    /* The angular step of a view extends half way to each neighbour, or to the end of the arc. */
    for (size_t g = 0; g < w.m; g++) {
        const bool first = ends && g == 0, last = ends && g == w.m - 1;
        const double before = first ? 2 * w.reach[0] : w.gaps[g ? g - 1 : w.m - 1];
        const double after = last ? 2 * w.reach[1] : w.gaps[g];
        const struct group *group = &w.groups[g];
        for (size_t i = group->first; i < group->end; i++) {
            const size_t view = w.items[i].view;
            out->step[view] = (before + after) / 2 / (double)(group->end - group->first);
            out->position[view] = w.reach[0] + group->angle;
            out->cell[2 * view] = first ? 0 : out->position[view] - before / 2;
            out->cell[2 * view + 1] = last ? out->arc_rad : out->position[view] + after / 2;
        }
        sum += (before + after) / 2;
    }
    for (size_t k = 0; k < n; k++)
        out->step[k] *= out->arc_rad / sum;
    out->start_rad = wrapped(fbp_view_angle(&views[out->full ? 0 : w.items[0].view], axis), TURN);
    for (size_t k = 1; k < n; k++) {
        const double step =
            remainder(fbp_view_angle(&views[k], axis) - fbp_view_angle(&views[k - 1], axis), TURN);
        up += step > SAME;
        down += step < -SAME;
    }
    if (up + down > 0)
        out->direction = 10 * up >= 9 * (up + down) ? 1 : 10 * down >= 9 * (up + down) ? -1 : 0;
    for (int i = 0; i < (fan_rad > 0 ? COLUMNS : 1); i++) { /* rays at gamma and -gamma */
        const double gamma = fan_rad / 2 * i / (COLUMNS - 1);
        for (size_t g = 0; g < w.m; g++) {
            w.sorted[2 * g] = wrapped(w.groups[g].angle + gamma, TURN);
            w.sorted[2 * g + 1] = wrapped(w.groups[g].angle + FBP_PI - gamma, TURN);
        }
        fbp_sort(w.sorted, 2 * w.m);
        double widest = w.sorted[0] + TURN - w.sorted[2 * w.m - 1];
        for (size_t j = 1; j < 2 * w.m; j++)
            widest = fmax(widest, w.sorted[j] - w.sorted[j - 1]);
        out->direction_gap_rad = fmax(out->direction_gap_rad, widest);
    }
fail:
    free(w.items);
    free(w.groups);
    free(w.gaps);
    free(w.sorted);
    if (st != FBP_OK)
        fbp_arc_clear(out);
    return st;
}

void fbp_arc_clear(struct fbp_arc *arc)
{
    free(arc->step);
    free(arc->position);
    free(arc->cell);
    *arc = (struct fbp_arc){0};
}

enum {
    BINS = 1 << 14,      /* number of angular bins per turn, in tables of confidence and of gaps */
    MOST_GROUPS = 8,     /* greatest number of detector offsets; more count as scatter */
    FEWEST_IN_GROUP = 3, /* views of a group */
    PLACES = 17          /* detector positions at which, per angle in a gap, rays are searched */
};
static const double BIN = 2 * FBP_PI / BINS;

/* Least difference of the detector offsets of two groups of views, relative to the width. */
static const double APART = 0.05;
/* Angular distance from a gap [degrees] at which the confidence in its views reaches 1. */
static const double FEATHER = 15;
/* Fraction of the detector's width: least distance over which weights rise at a detector edge, and
 * width of a margin at each edge in which other views need not have measured the rays of a gap. */
static const double LEAST_FEATHER = 0.02;
/* Views of other groups, and opposite views, replace the missing views of a gap only if their own
 * gaps there are at most this fraction of its size. */
static const double MUCH_SMALLER = 0.25;
/* A gap larger than this [degrees] counts as the end of an arc: the confidence in the views beside
 * it is lowered even if no other view has measured its rays. */
static const double FILLED = 45;
/* Least confidence in views at a gap; above 0, because some rays may not be measured. */
static const double LEAST = 1e-4;
/* Width of the parts [degrees] of a view's angular step in the integral of its weight. */
static const double PART = 1;

struct gap {
    double begin, size; /* begin + size may exceed a turn */
    size_t group;
};

struct fbp_coverage_group {
    double lo, hi; /* range of x (fan angle or distance) of all its views */
    /* distances from lo and hi over which the confidence rises from 0 to 1; 0: a step */
    double feather[2];
    float *confidence; /* [BINS + 1], along beta */
    float *gap;        /* [BINS] gap between views that contains each angle [rad]; 0: none */
};

struct fbp_coverage_view {
    /* index of the view's group; number of its views at this angle, which share the cell */
    size_t group, sharers;
    /* Cell of the view [rad]: up to half way to the neighbouring views of its group. */
    double angle, cell[2];
};

struct keyed {
    double key;
    size_t view;
};

static double smooth(double x)
{
    x = fmin(fmax(x, 0), 1);
    return x * x * (3 - 2 * x);
}

/* Group the views by detector offset; returns the number of groups.  All views form one group if
 * there would be more than MOST_GROUPS groups, or a group of fewer than FEWEST_IN_GROUP views. */
static size_t find_groups(struct fbp_ray_coverage *c, struct keyed *items, const double (*edge)[2])
{
    size_t first = 0, n = 0;
    double width = 0;
    bool usable = true;

    for (size_t k = 0; k < c->n_views; k++) {
        items[k] = (struct keyed){(edge[k][0] + edge[k][1]) / 2, k};
        width += (edge[k][1] - edge[k][0]) / (double)c->n_views;
    }
    qsort(items, c->n_views, sizeof *items, fbp_by_value);
    for (size_t i = 0; i < c->n_views; i++) {
        if (i > 0 && items[i].key - items[i - 1].key > APART * width) {
            usable = usable && i - first >= FEWEST_IN_GROUP;
            first = i;
            n++;
        }
        c->view[items[i].view].group = n;
    }
    if (usable && c->n_views - first >= FEWEST_IN_GROUP && n < MOST_GROUPS)
        return n + 1;
    for (size_t k = 0; k < c->n_views; k++)
        c->view[k].group = 0;
    return 1;
}

/* True if ray (beta, x) was measured by a group other than `except`, or by any group from the
 * opposite side. A ray in a gap of at most `largest` [rad] counts as measured. */
static bool measured_by_others(const struct fbp_ray_coverage *c, size_t except, double beta,
                               double x, double largest)
{
    const double opposite = beta + FBP_PI - (c->source ? 2 * x : 0);
    const size_t here = (size_t)(wrapped(beta, TURN) / BIN) % BINS;
    const size_t there = (size_t)(wrapped(opposite, TURN) / BIN) % BINS;

    for (size_t j = 0; j < c->n_groups; j++) {
        const struct fbp_coverage_group *g = &c->group[j];
        if ((j != except && x >= g->lo && x <= g->hi && (double)g->gap[here] <= largest) ||
            (-x >= g->lo && -x <= g->hi && (double)g->gap[there] <= largest))
            return true;
    }
    return false;
}

/* Lower the confidence in a group's views in and near a gap, if other views have measured the rays
 * of the gap, or if the gap is larger than FILLED. */
static void leave_to_others(struct fbp_ray_coverage *c, const struct gap *gap)
{
    struct fbp_coverage_group *g = &c->group[gap->group];
    const double width = (1 - 2 * LEAST_FEATHER) * (g->hi - g->lo);
    const double reach = FEATHER * DEGREE, end = gap->begin + gap->size;

    for (double beta = gap->begin + BIN / 2;
         beta < gap->begin + gap->size && !(gap->size > FILLED * DEGREE); beta += BIN)
        for (int i = 0; i < PLACES; i++) {
            const double x = (g->lo + g->hi) / 2 + width * ((double)i / (PLACES - 1) - 0.5);
            if (!measured_by_others(c, gap->group, beta, x, MUCH_SMALLER * gap->size))
                return;
        }
    for (double at = ceil((gap->begin - reach) / BIN); at * BIN < end + reach; at++) {
        const double outside = fmax(gap->begin - at * BIN, at * BIN - end);
        float *value = &g->confidence[(size_t)(at + BINS) % BINS];
        *value = fminf(*value, (float)fmax(LEAST, smooth(outside / reach)));
    }
    g->confidence[BINS] = g->confidence[0];
}

fbp_status fbp_coverage_create(struct fbp_ray_coverage *out, bool source, size_t n_views,
                               const double *angle, const double (*edge)[2])
{
    struct keyed *items = NULL;
    struct gap *gaps = NULL;
    double *start = NULL; /* angles of a group */
    size_t n_gaps = 0;
    fbp_status st;

    *out = (struct fbp_ray_coverage){.source = source, .n_views = n_views};
    FBP_TRY_GOTO(fbp_calloc((void **)&items, n_views, sizeof *items, "coverage"));
    FBP_TRY_GOTO(fbp_calloc((void **)&gaps, n_views, sizeof *gaps, "coverage"));
    FBP_TRY_GOTO(fbp_calloc((void **)&start, n_views, 3 * sizeof *start, "coverage"));
    FBP_TRY_GOTO(fbp_calloc((void **)&out->view, n_views, sizeof *out->view, "coverage"));
    for (size_t k = 0; k < n_views; k++)
        out->view[k].angle = wrapped(angle[k], TURN);
    out->n_groups = find_groups(out, items, edge);
    FBP_TRY_GOTO(fbp_calloc((void **)&out->group, out->n_groups, sizeof *out->group, "coverage"));
    double *const gap = start + n_views, *const sorted = gap + n_views;
    for (size_t index = 0; index < out->n_groups; index++) {
        struct fbp_coverage_group *g = &out->group[index];
        size_t n = 0, m = 0;
        FBP_TRY_GOTO(
            fbp_calloc((void **)&g->confidence, BINS + 1, sizeof *g->confidence, "coverage"));
        FBP_TRY_GOTO(fbp_calloc((void **)&g->gap, BINS, sizeof *g->gap, "coverage"));
        g->lo = -INFINITY;
        g->hi = INFINITY;
        for (size_t b = 0; b <= BINS; b++)
            g->confidence[b] = 1;
        for (size_t k = 0; k < n_views; k++) {
            if (out->view[k].group != index)
                continue;
            items[n++] = (struct keyed){out->view[k].angle, k};
            g->lo = fmax(g->lo, edge[k][0]);
            g->hi = fmin(g->hi, edge[k][1]);
        }
        qsort(items, n, sizeof *items, fbp_by_value);
        for (size_t i = 0; i < n; i++)
            if (m == 0 || items[i].key - start[m - 1] > SAME)
                start[m++] = items[i].key;
        for (size_t i = 0; i < m; i++)
            gap[i] = sorted[i] = i + 1 < m ? start[i + 1] - start[i] : start[0] + TURN - start[i];
        fbp_sort(sorted, m);
        for (size_t i = 0, at = 0, end; i < n; i = end, at++) { /* one cell per angle */
            for (end = i + 1; end < n && items[end].key - start[at] <= SAME; end++) {
            }
            for (size_t j = i; j < end; j++) {
                struct fbp_coverage_view *v = &out->view[items[j].view];
                v->cell[0] = start[at] - gap[at ? at - 1 : m - 1] / 2;
                v->cell[1] = start[at] + gap[at] / 2;
                v->sharers = end - i;
            }
        }
        /* A stored gap is half a median step from the views beside it, which cover these steps. */
        const double usual = sorted[(m - 1) / 2], largest = largest_step(sorted, m);
        for (size_t i = 0; i < m; i++) {
            const struct gap found = {start[i] + usual / 2, gap[i] - usual, index};
            if (gap[i] <= largest)
                continue;
            gaps[n_gaps++] = found;
            for (double at = ceil(found.begin / BIN); at * BIN < found.begin + found.size; at++)
                g->gap[(size_t)at % BINS] = (float)found.size;
        }
    }
    /* If another group, or opposite rays of any group, extend beyond an edge of a group's detector,
     * the confidence in the group is 0 at this edge, and rises to 1 where the overlap with them
     * ends.  If all views have one offset, the weights are Wang's. */
    for (size_t i = 0; i < out->n_groups; i++) {
        struct fbp_coverage_group *g = &out->group[i];
        const double slack = LEAST_FEATHER * (g->hi - g->lo);
        for (size_t j = 0; j < 2 * out->n_groups; j++) {
            const struct fbp_coverage_group *o = &out->group[j / 2];
            const double lo = j % 2 ? -o->hi : o->lo, hi = j % 2 ? -o->lo : o->hi;
            if (lo < g->lo - slack && hi > g->lo - slack)
                g->feather[0] = fmax(g->feather[0], fmax(slack, hi - g->lo));
            if (hi > g->hi + slack && lo < g->hi + slack)
                g->feather[1] = fmax(g->feather[1], fmax(slack, g->hi - lo));
        }
    }
    for (size_t i = 0; i < n_gaps; i++)
        leave_to_others(out, &gaps[i]);
fail:
    free(items);
    free(gaps);
    free(start);
    if (st != FBP_OK)
        fbp_coverage_clear(out);
    return st;
}

void fbp_coverage_clear(struct fbp_ray_coverage *c)
{
    for (size_t i = 0; c->group && i < c->n_groups; i++) {
        free(c->group[i].confidence);
        free(c->group[i].gap);
    }
    free(c->group);
    free(c->view);
    *c = (struct fbp_ray_coverage){0};
}

double fbp_coverage_gap(const struct fbp_ray_coverage *c, double x)
{
    size_t run = 0, most = 0;

    for (size_t b = 0; b < 2 * BINS && run < BINS; b++) { /* a gap may lie across the first bin */
        const double beta = BIN * ((double)b + 0.5) + (c->source ? x : 0);
        run = measured_by_others(c, c->n_groups, beta, x, 0) ? 0 : run + 1;
        most = run > most ? run : most;
    }
    return BIN * (double)most;
}

static double confidence_across(const struct fbp_coverage_group *g, double x)
{
    const double inside[2] = {x - g->lo, g->hi - x};
    double value = 1;

    for (int i = 0; i < 2; i++)
        value *= g->feather[i] > 0 ? smooth(inside[i] / g->feather[i]) : inside[i] >= 0;
    return value;
}

static double confidence_along(const struct fbp_coverage_group *g, double beta)
{
    const double at = wrapped(beta, TURN) / BIN, part = at - floor(at);
    const float *value = g->confidence + (size_t)at % BINS;

    return (double)value[0] + part * ((double)value[1] - (double)value[0]);
}

double fbp_coverage_weight(const struct fbp_ray_coverage *c, size_t view, double x)
{
    const struct fbp_coverage_view *v = &c->view[view];
    const double width = v->cell[1] - v->cell[0], gamma = c->source ? x : 0;
    const size_t parts = (size_t)fmax(1, ceil(width / (PART * DEGREE)));
    double here[MOST_GROUPS], there[MOST_GROUPS], sum = 0;

    for (size_t j = 0; j < c->n_groups; j++) {
        here[j] = confidence_across(&c->group[j], x);
        there[j] = confidence_across(&c->group[j], -x);
    }
    for (size_t i = 0; i < parts; i++) {
        const double beta = v->cell[0] + width * ((double)i + 0.5) / (double)parts;
        const double own = here[v->group] * confidence_along(&c->group[v->group], beta);
        double all = 0;
        for (size_t j = 0; j < c->n_groups; j++) {
            all += here[j] > 0 ? here[j] * confidence_along(&c->group[j], beta) : 0;
            all += there[j] > 0
                       ? there[j] * confidence_along(&c->group[j], beta + FBP_PI - 2 * gamma)
                       : 0;
        }
        sum += all > 0 ? own / all : 1;
    }
    return 2 * width * sum / (double)parts / (double)v->sharers;
}

double fbp_coverage_step(const struct fbp_ray_coverage *c, size_t view)
{
    return (c->view[view].cell[1] - c->view[view].cell[0]) / (double)c->view[view].sharers;
}
