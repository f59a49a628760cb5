/** @file look_parts.h  What look.c sees, row by row, and look_text.c judges (internal). */
#ifndef FBP_SRC_LOOK_PARTS_H
#define FBP_SRC_LOOK_PARTS_H

#include "run/look.h"

#include <math.h>
#include <pthread.h>

/** Rows of a view that are looked at; columns at either end; places in a row, two columns each, for
 *  its greatest value. */
enum { LOOK_ROWS = 8, LOOK_COLUMNS = 16, LOOK_PLACES = 32, LOOK_ENDS = 2 * LOOK_PLACES };

/** Line integrals of a row. */
struct look_row {
    float peak, end[2], noise[2]; /**< greatest; at both ends, and its standard deviation */
    float low, slope[2];          /**< least; inner minus outer half of an end; of integrals */
    bool seen;
};

/** Samples of a view that are numbers, as they were measured. */
struct look_view {
    float lo, hi;
    bool unclipped, dead;
    bool odd;     /**< of another exposure than the rest */
    double shift; /**< by which all its ends differ from those of most views; 0: they do not */
};

#define LOOK_AT_NOTHING ((struct look_view){.lo = INFINITY, .hi = -INFINITY})

/** Columns of a row that are looked at: LOOK_PLACES, their right neighbours, and from LOOK_ENDS on
 *  `ends` at either end, the outermost first. */
struct look_columns {
    size_t n, ends;
    size_t at[LOOK_ENDS + 2 * LOOK_COLUMNS];
};

struct fbp_look {
    const struct fbp_job *job;
    pthread_mutex_t lock; /**< all below */
    bool chosen;          /**< rows and columns are, and stay */
    struct look_columns columns;
    size_t rows[LOOK_ROWS], n_rows;
    struct look_view *views;
    struct look_row *seen; /**< [view][LOOK_ROWS] */
    double reach;          /**< Greatest distance of a detector edge from the axis, in columns. */
    double air;            /**< of transmissions in place of line integrals: that of air; 0 */
};

/** Row r of a view in memory, counts or floats as job->raw says. */
struct look_line {
    const struct fbp_job *job;
    const void *samples;
    size_t r;
};

void look_choose_columns(struct look_columns *out, size_t n_columns);

/** The row is looked at next: its samples may be in no cache yet. */
void look_ahead(const struct look_line *line, const struct look_columns *columns);

/** What the row shows in these columns. */
void look_at_line(const struct look_line *line, const struct look_columns *columns,
                  struct look_row *out);

/** Every step-th sample, until the view is seen to be alive. */
void look_for_life(const struct look_line *line, size_t step, struct look_view *v);

/** Samples of it differ, and not all are clipped. */
static inline bool look_is_live(const struct look_view *v)
{
    return v->hi > v->lo && v->unclipped;
}

/** Of two that are numbers; calls of fminf() take longer than what is looked at. */
static inline float look_least(float a, float b)
{
    return b < a ? b : a;
}

static inline float look_most(float a, float b)
{
    return b > a ? b : a;
}

/** Are the samples transmissions in place of line integrals?  Then both ends of the rows are their
 *  greatest values, flat, the same in most views, and about 1 or far above any line integral: into
 *  look->air. */
void look_for_air(fbp_look *look);

/** Every view is dead: say so. */
fbp_status look_refuse(const fbp_look *look, const char *name);

/** Which views are cut off, and by how much. */
void look_for_truncation(const fbp_look *look, struct fbp_report *report);

/** Which views are darker or brighter as a whole; they are not looked at for truncation. */
void look_for_exposure(fbp_look *look, struct fbp_report *report);

/** Distance of a view's first or last edge from the projection of the axis, in columns. */
static inline double look_reach(const struct fbp_job *job, size_t view, int end)
{
    const double *m = job->matrices[view];
    const double axis = m[3] / m[11] - (double)job->pad_left;

    return end == 0 ? axis + 0.5 : (double)job->panel.n_columns - 0.5 - axis;
}

/** The end of an offset detector that lies near the axis: the object always reaches beyond it.  A
 *  detector counts as offset from 2 % of its width on, which is 4 % of its longer side. */
static inline bool look_is_axis_side(const fbp_look *look, size_t view, int end)
{
    return look->job->facts.offset && look_reach(look->job, view, end) < 0.97 * look->reach;
}

#endif /* FBP_SRC_LOOK_PARTS_H */
