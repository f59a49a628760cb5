/** @file rivals.h  The device that `auto` takes (internal). */
#ifndef FBP_SRC_RIVALS_H
#define FBP_SRC_RIVALS_H

#include "backend/backend.h"

/** What was taken, and what is known of a device that has a rival (backend/rival.h). */
struct fbp_choice {
    const struct fbp_backend *backend; /**< NULL: there is no device at all */
    int index;
    char rival[200], other[200]; /**< devices that were compared, for people; "": none were */
    double times;                /**< the rival's speed beside the other's; 0: it failed */
    bool taken;                  /**< the rival is */
    bool now;                    /**< measured by this process, and not by one before */
    char why[300];               /**< it failed */
};

/**
 * The first backend of a list (ended by NULL) that has a device.  One with a rival must be faster
 * than the next by a measurement of less than a second, which is kept for later runs; with
 * FBP_TUNE=0 it is not taken.
 */
void fbp_choose_device(const struct fbp_backend *const *list, struct fbp_choice *out);

/**
 * What was chosen has no way to compute this job: the next of the list that has, and a device,
 * takes its place.  Not one with a rival, whose speed nobody knows for such a job.  If there is
 * none, the choice stays, and fails.
 *
 * line  gets a sentence of both, "" where the choice stays
 */
void fbp_choose_capable(const struct fbp_backend *const *list, const struct fbp_job *job,
                        struct fbp_choice *choice, char *line, size_t n);

/** One line of how it came about; "" where nothing was compared. */
void fbp_choice_remark(const struct fbp_choice *choice, char *line, size_t n);

#endif /* FBP_SRC_RIVALS_H */
