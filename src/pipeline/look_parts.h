/** @file look_parts.h  What look.c sees and look_text.c judges (internal). */
#ifndef FBP_SRC_LOOK_PARTS_H
#define FBP_SRC_LOOK_PARTS_H

#include "pipeline/look.h"

#include <math.h>
#include <pthread.h>

/** Rows of a view that are looked at; columns at either end. */
enum { LOOK_ROWS = 8, LOOK_COLUMNS = 16 };

/** Line integrals of a row. */
struct look_row {
    float peak, end[2], noise[2]; /**< greatest; at both ends, and its standard deviation */
    bool seen;
};

/** Samples of a view that are numbers, as they were measured. */
struct look_view {
    float lo, hi;
    bool unclipped, dead;
};

#define LOOK_AT_NOTHING ((struct look_view){.lo = INFINITY, .hi = -INFINITY})

struct fbp_look {
    const struct fbp_job *job;
    pthread_mutex_t lock; /**< all below */
    size_t rows[LOOK_ROWS], n_rows;
    struct look_view *views;
    struct look_row *seen; /**< [view][LOOK_ROWS] */
};

/** Every view is dead: say so. */
fbp_status look_refuse(const fbp_look *look, const char *name);

/** Which views are cut off, and by how much. */
void look_for_truncation(const fbp_look *look, struct fbp_report *report);

#endif /* FBP_SRC_LOOK_PARTS_H */
