/** @file data_check.h  A look at some samples of the views as they pass (internal).
 *
 * Says what no filter would notice: an object that is wider than the panel, views without anything
 * measured in them.  Looked at are a few rows, the same ones of every view however the work is
 * divided, on the host: by the thread that has just read the view (run/load.h), or, of views
 * in the caller's memory, by the threads that would read, when all views are on their way to the
 * device; of views that lie on a device these rows are copied.  About 100 samples a row, so that it
 * takes a few us a view; needs nothing of a backend and does not depend on one.
 *
 * A row is cut off where the median of its outermost samples stays above a part of the row's
 * greatest value (of pairs of neighbours, the lesser: no hot pixel), three standard deviations of
 * the noise and the offset of air allowed for; a view, where two of its rows are.  The axis side of
 * an offset panel always is.
 *
 * A view is dead where none of its samples is a number, all are clipped, or all are the same.  One
 * that looks so in the rows that were read is read once more, whole, before that is said.
 */
#ifndef FBP_SRC_PIPELINE_DATA_CHECK_H
#define FBP_SRC_PIPELINE_DATA_CHECK_H

#include "backend/backend.h"

#include <math.h>
#include <pthread.h>

typedef struct fbp_look fbp_look;

/** job must outlive the look. */
fbp_status fbp_look_create(fbp_look **out, const struct fbp_job *job);
void fbp_look_destroy(fbp_look **look);

/** Bytes of a look. */
size_t fbp_look_bytes(const struct fbp_job *job);

/** Bytes of what a look at a job has seen, for another process that looks at the same job; put them
 *  there, and take those of another. */
size_t fbp_look_packed(const struct fbp_job *job);
void fbp_look_pack(const fbp_look *look, void *out);
void fbp_look_join(fbp_look *look, const void *other);

/**
 * Look at view k of a batch as it was read: raw [n_views][load_rows][n_columns], counts or floats
 * as job->raw says; `whole`: it is the scan instead, [view][row][column].  A second call with the
 * same view changes nothing.  Thread-safe.  Nothing of raw is kept.
 */
void fbp_look_at(fbp_look *look, const struct fbp_batch *batch, size_t k, const void *raw,
                 bool whole);

/**
 * Look at all views of a source whose samples a device has (array/far.h), by copies of the rows
 * that are looked at, of many views each.
 */
fbp_status fbp_look_at_far(fbp_look *look, const fbp_source *source);

/**
 * What all looks have seen, into `report`; views that look dead are read once more.
 *
 * @param name  of the projections, for the message
 * @return FBP_ERR_INVALID if all views are dead, of which nothing should be published.
 */
fbp_status fbp_look_sum_up(fbp_look *look, fbp_source *source, bool top_down, const char *name,
                           struct fbp_report *report);

/** Messages about truncated views, those of another exposure, transmissions in place of line
 * integrals, and dead views, or "".
 * padded: rows are extrapolated. */
void fbp_look_truncated(const struct fbp_report *report, size_t n_views, bool padded, char *line,
                        size_t n);
void fbp_look_exposure(const struct fbp_report *report, size_t n_views, char *line, size_t n);
void fbp_look_air(const fbp_look *look, char *line, size_t n);
void fbp_look_dead(const fbp_look *look, const struct fbp_report *report, char *line, size_t n);

/* What look.c sees, row by row, and look_text.c judges (internal). */

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

#endif /* FBP_SRC_PIPELINE_DATA_CHECK_H */
