#include "geometry/arc.h"

#include "base/mem.h"
#include "base/sort.h"
#include "geometry/frame.h"

static const double TURN = 2 * FBP_PI, DEGREE = FBP_PI / 180;
enum {
    FEWEST = 3, /* angles of a turn */
    COLUMNS = 5
}; /* of a fan, from its middle to its edge, whose directions are looked at */
/* Views closer than this [rad] stand at one angle: the second turn of a scan, 0 and 360 degrees. */
static const double SAME = 1e-7;

struct item {
    double angle; /* [0, period], then from the first view of the arc */
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
    double *gaps, *sorted; /* gaps[i] follows groups[i]; the last one is the largest */
    double period;         /* angles count modulo this */
    bool closed;           /* no gap is an end */
    double reach[2];       /* of the first and of the last share beyond its angle; not if full */
    size_t n, m;
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

/* Index of the item that follows the largest gap. */
static size_t after_largest_gap(const struct item *items, size_t n, double period)
{
    double largest = items[0].angle + period - items[n - 1].angle;
    size_t best = 0;

    for (size_t i = 1; i < n; i++)
        if (items[i].angle - items[i - 1].angle > largest + SAME) {
            largest = items[i].angle - items[i - 1].angle;
            best = i;
        }
    return best;
}

/* Sort, begin behind the largest gap, and put views of one angle together. */
static void group_items(struct work *w)
{
    qsort(w->items, w->n, sizeof *w->items, by_angle);
    const double start = w->items[after_largest_gap(w->items, w->n, w->period)].angle;
    for (size_t i = 0; i < w->n; i++)
        if ((w->items[i].angle -= start) < 0)
            w->items[i].angle += w->period;
    qsort(w->items, w->n, sizeof *w->items, by_angle);
    w->m = 0;
    for (size_t i = 0; i < w->n; i++) {
        if (w->m == 0 || w->items[i].angle - w->groups[w->m - 1].angle > SAME)
            w->groups[w->m++] = (struct group){w->items[i].angle, i, i};
        w->groups[w->m - 1].end = i + 1;
    }
    for (size_t g = 0; g < w->m; g++) {
        const double next = g + 1 < w->m ? w->groups[g + 1].angle : w->period;
        w->gaps[g] = w->sorted[g] = next - w->groups[g].angle;
    }
}

/* Least, median and greatest of the first n gaps. */
static void gap_range(struct work *w, size_t n, double out[3])
{
    for (size_t g = 0; g < n; g++)
        w->sorted[g] = w->gaps[g];
    fbp_sort(w->sorted, n);
    out[0] = w->sorted[0];
    out[1] = w->sorted[(n - 1) / 2];
    out[2] = w->sorted[n - 1];
}

/*
 * The greatest of m gaps, least first, that angles drawn at random would have besides the others:
 * of gaps that are distributed exponentially it exceeds mean + deviation (ln m + 3) in 1 to 4 sets
 * of 100.  The greatest one does not count for mean and deviation, nor do others that stand out by
 * far; 1.12 makes up for that.  Of even steps it is the step.
 */
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

/* One missing view is filled by its neighbours, of coarse steps up to a quarter turn; where more
 * are missing, the turn is cut there, and their rays are taken from the other side. */
double fbp_arc_largest_step(const double *gaps, size_t m)
{
    const double median = gaps[(m - 1) / 2];

    return fmax(fmax(drawn_gap(gaps, m), 1.5 * median), fmin(2.5 * median, 90 * DEGREE));
}

/* Two angles are no turn. */
static bool is_full(const struct work *w, const struct fbp_arc *arc)
{
    const double most =
        w->period == TURN ? fbp_arc_largest_step(w->sorted, w->m) : arc->usual_gap_rad;

    return w->closed || (w->m >= FEWEST && w->gaps[w->m - 1] <= most);
}

/* How far the share of an end reaches out: as far as in; modulo pi half way to the neighbour
 * beyond, if that is no farther than chance would have it. */
static double reach_of(const struct work *w, double inwards, double drawn)
{
    return w->period == TURN ? inwards : fmax(inwards, fmin(w->gaps[w->m - 1], drawn) / 2);
}

static void measure(struct work *w, struct fbp_arc *out)
{
    double all[3];

    gap_range(w, w->m, all);
    const double drawn = drawn_gap(w->sorted, w->m);
    out->n_angles = w->m;
    out->usual_gap_rad =
        fmax(1.5 * all[1], fmin(45 * DEGREE, fmax(2 * DEGREE, fmax(4 * all[1], drawn))));
    out->full = is_full(w, out);
    for (size_t g = 0; g < w->m; g++)
        out->n_gaps += w->gaps[g] > fbp_arc_largest_step(w->sorted, w->m);
    out->gap_rad = w->gaps[w->m - 1] - all[1];
    gap_range(w, out->full || w->m == 1 ? w->m : w->m - 1, out->step_rad);
    out->arc_rad = w->period;
    if (out->full || w->m == 1)
        return;
    w->reach[0] = reach_of(w, w->gaps[0] / 2, drawn);
    w->reach[1] = reach_of(w, w->gaps[w->m - 2] / 2, drawn);
    out->arc_rad = fmin(w->period, w->groups[w->m - 1].angle + w->reach[0] + w->reach[1]);
}

/* A view's step reaches half way to both neighbours, at an end as far as reach says. */
static void share(const struct work *w, struct fbp_arc *out)
{
    const bool ends = !out->full && w->m > 1;
    double sum = 0;

    for (size_t g = 0; g < w->m; g++) {
        const bool first = ends && g == 0, last = ends && g == w->m - 1;
        const double before = first ? 2 * w->reach[0] : w->gaps[g ? g - 1 : w->m - 1];
        const double after = last ? 2 * w->reach[1] : w->gaps[g];
        const struct group *group = &w->groups[g];
        for (size_t i = group->first; i < group->end; i++) {
            const size_t view = w->items[i].view;
            out->step[view] = (before + after) / 2 / (double)(group->end - group->first);
            out->position[view] = w->reach[0] + group->angle;
            out->cell[2 * view] = first ? 0 : out->position[view] - before / 2;
            out->cell[2 * view + 1] = last ? out->arc_rad : out->position[view] + after / 2;
        }
        sum += (before + after) / 2;
    }
    for (size_t k = 0; k < w->n; k++)
        out->step[k] *= out->arc_rad / sum;
}

/* Directions of the rays of two conjugate columns, and the largest gap between them. */
static double direction_gap(struct work *w, double gamma)
{
    double largest;

    for (size_t g = 0; g < w->m; g++) {
        w->sorted[2 * g] = wrapped(w->groups[g].angle + gamma, TURN);
        w->sorted[2 * g + 1] = wrapped(w->groups[g].angle + FBP_PI - gamma, TURN);
    }
    fbp_sort(w->sorted, 2 * w->m);
    largest = w->sorted[0] + TURN - w->sorted[2 * w->m - 1];
    for (size_t i = 1; i < 2 * w->m; i++)
        largest = fmax(largest, w->sorted[i] - w->sorted[i - 1]);
    return largest;
}

static int direction(const struct fbp_view *views, size_t n, const double axis[3])
{
    size_t up = 0, down = 0;

    for (size_t k = 1; k < n; k++) {
        const double step =
            remainder(fbp_view_angle(&views[k], axis) - fbp_view_angle(&views[k - 1], axis), TURN);
        up += step > SAME;
        down += step < -SAME;
    }
    if (up + down == 0)
        return 0;
    return 10 * up >= 9 * (up + down) ? 1 : 10 * down >= 9 * (up + down) ? -1 : 0;
}

static fbp_status work_create(struct work *w, size_t n)
{
    void *mem = NULL;

    w->n = n;
    FBP_TRY(fbp_calloc(&mem, n, sizeof *w->items, "angles of the views"));
    w->items = mem;
    FBP_TRY(fbp_calloc(&mem, n, sizeof *w->groups, "angles of the views"));
    w->groups = mem;
    FBP_TRY(fbp_calloc(&mem, n, sizeof *w->gaps, "angles of the views"));
    w->gaps = mem;
    FBP_TRY(fbp_calloc(&mem, n, 2 * sizeof *w->sorted, "angles of the views"));
    w->sorted = mem;
    return FBP_OK;
}

static void work_clear(struct work *w)
{
    free(w->items);
    free(w->groups);
    free(w->gaps);
    free(w->sorted);
}

static fbp_status create(struct fbp_arc *out, const struct fbp_view *views, size_t n_views,
                         const double axis[3], double period_rad, double fan_rad, bool closed)
{
    struct work w = {.period = period_rad, .closed = closed};
    void *mem = NULL;
    fbp_status st;

    *out = (struct fbp_arc){.n = n_views};
    FBP_TRY_GOTO(work_create(&w, n_views));
    FBP_TRY_GOTO(fbp_calloc(&mem, n_views, sizeof *out->step, "angular steps"));
    out->step = mem;
    FBP_TRY_GOTO(fbp_calloc(&mem, n_views, sizeof *out->position, "angular positions"));
    out->position = mem;
    FBP_TRY_GOTO(fbp_calloc(&mem, n_views, 2 * sizeof *out->cell, "angular positions"));
    out->cell = mem;
    for (size_t k = 0; k < n_views; k++)
        w.items[k] = (struct item){wrapped(fbp_view_angle(&views[k], axis), period_rad), k};
    group_items(&w);
    measure(&w, out);
    share(&w, out);
    const size_t first = out->full ? 0 : w.items[0].view;
    out->start_rad = wrapped(fbp_view_angle(&views[first], axis), TURN);
    out->direction = direction(views, n_views, axis);
    for (int i = 0; i < (fan_rad > 0 ? COLUMNS : 1); i++)
        out->direction_gap_rad =
            fmax(out->direction_gap_rad, direction_gap(&w, fan_rad / 2 * i / (COLUMNS - 1)));
    work_clear(&w);
    return FBP_OK;
fail:
    work_clear(&w);
    fbp_arc_clear(out);
    return st;
}

fbp_status fbp_arc_create(struct fbp_arc *out, const struct fbp_view *views, size_t n_views,
                          const double axis[3], double period_rad, double fan_rad)
{
    return create(out, views, n_views, axis, period_rad, fan_rad, false);
}

fbp_status fbp_arc_create_closed(struct fbp_arc *out, const struct fbp_view *views, size_t n_views,
                                 const double axis[3], double period_rad)
{
    return create(out, views, n_views, axis, period_rad, 0, true);
}

void fbp_arc_clear(struct fbp_arc *arc)
{
    free(arc->step);
    free(arc->position);
    free(arc->cell);
    *arc = (struct fbp_arc){0};
}
