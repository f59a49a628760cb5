#include "geometry/arc.h"

#include "base/mem.h"
#include "base/sort.h"
#include "geometry/frame.h"

static const double TURN = 2 * FBP_PI, DEGREE = FBP_PI / 180;
enum { FEWEST = 3 }; /* angles of a turn */
/* Views closer than this [rad] stand at one angle: the second turn of a scan, 0 and 360 degrees. */
static const double SAME = 1e-7;

struct item {
    double angle; /* [0, 2 pi], then from the first view of the arc */
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
    size_t n, m;
};

static int by_angle(const void *a, const void *b)
{
    const struct item *p = a, *q = b;
    if (p->angle != q->angle)
        return p->angle < q->angle ? -1 : 1;
    return (p->view > q->view) - (p->view < q->view);
}

static double wrapped(double angle)
{
    return angle - TURN * floor(angle / TURN);
}

/* Index of the item that follows the largest gap. */
static size_t after_largest_gap(const struct item *items, size_t n)
{
    double largest = items[0].angle + TURN - items[n - 1].angle;
    size_t best = 0;

    for (size_t i = 1; i < n; i++)
        if (items[i].angle - items[i - 1].angle > largest + SAME) {
            largest = items[i].angle - items[i - 1].angle;
            best = i;
        }
    return best;
}

/* Sort, begin behind the largest gap, and put views of one angle together. */
static void group_items(struct work *w, double *start)
{
    qsort(w->items, w->n, sizeof *w->items, by_angle);
    *start = w->items[after_largest_gap(w->items, w->n)].angle;
    for (size_t i = 0; i < w->n; i++)
        if ((w->items[i].angle -= *start) < 0)
            w->items[i].angle += TURN;
    qsort(w->items, w->n, sizeof *w->items, by_angle);
    w->m = 0;
    for (size_t i = 0; i < w->n; i++) {
        if (w->m == 0 || w->items[i].angle - w->groups[w->m - 1].angle > SAME)
            w->groups[w->m++] = (struct group){w->items[i].angle, i, i};
        w->groups[w->m - 1].end = i + 1;
    }
    for (size_t g = 0; g < w->m; g++) {
        const double next = g + 1 < w->m ? w->groups[g + 1].angle : TURN;
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

/* Missing views leave a gap of a few steps, of a quarter turn at most; a half turn in coarse steps
 * leaves more, and two angles are no turn. */
static bool is_full(const struct work *w, double median)
{
    const double largest = w->gaps[w->m - 1];
    const bool few_missing = largest <= fmax(10 * DEGREE, fmin(4 * median, 90 * DEGREE));

    return w->m >= FEWEST && (few_missing || largest <= 1.5 * median);
}

static void measure(struct work *w, struct fbp_arc *out)
{
    double all[3];

    gap_range(w, w->m, all);
    out->n_angles = w->m;
    out->full = is_full(w, all[1]);
    out->gap_rad = w->gaps[w->m - 1] - all[1];
    gap_range(w, out->full || w->m == 1 ? w->m : w->m - 1, out->step_rad);
    out->arc_rad = TURN;
    if (!out->full && w->m > 1)
        out->arc_rad = fmin(TURN, w->groups[w->m - 1].angle + (w->gaps[0] + w->gaps[w->m - 2]) / 2);
}

/* A view's step reaches half way to both neighbours, at an end as far out as in. */
static void share(const struct work *w, struct fbp_arc *out)
{
    const double lead = out->full ? 0 : w->gaps[0] / 2;
    double sum = 0;

    for (size_t g = 0; g < w->m; g++) {
        double before = w->gaps[g ? g - 1 : w->m - 1], after = w->gaps[g];
        if (!out->full && g == 0)
            before = after;
        if (!out->full && g == w->m - 1)
            after = before;
        const struct group *group = &w->groups[g];
        for (size_t i = group->first; i < group->end; i++) {
            out->step[w->items[i].view] =
                (before + after) / 2 / (double)(group->end - group->first);
            out->position[w->items[i].view] = lead + group->angle;
        }
        sum += (before + after) / 2;
    }
    for (size_t k = 0; k < w->n; k++)
        out->step[k] *= out->arc_rad / sum;
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
    FBP_TRY(fbp_calloc(&mem, n, sizeof *w->sorted, "angles of the views"));
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

fbp_status fbp_arc_create(struct fbp_arc *out, const struct fbp_view *views, size_t n_views,
                          const double axis[3])
{
    struct work w = {0};
    void *mem = NULL;
    fbp_status st;

    *out = (struct fbp_arc){.n = n_views};
    FBP_TRY_GOTO(work_create(&w, n_views));
    FBP_TRY_GOTO(fbp_calloc(&mem, n_views, sizeof *out->step, "angular steps"));
    out->step = mem;
    FBP_TRY_GOTO(fbp_calloc(&mem, n_views, sizeof *out->position, "angular positions"));
    out->position = mem;
    for (size_t k = 0; k < n_views; k++)
        w.items[k] = (struct item){wrapped(fbp_view_angle(&views[k], axis)), k};
    group_items(&w, &out->start_rad);
    measure(&w, out);
    share(&w, out);
    out->start_rad = wrapped(out->full ? fbp_view_angle(&views[0], axis) : out->start_rad);
    out->direction = direction(views, n_views, axis);
    work_clear(&w);
    return FBP_OK;
fail:
    work_clear(&w);
    fbp_arc_clear(out);
    return st;
}

void fbp_arc_clear(struct fbp_arc *arc)
{
    free(arc->step);
    free(arc->position);
    *arc = (struct fbp_arc){0};
}
