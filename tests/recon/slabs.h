/** @file slabs.h  Scan and device rates for the tests of several devices (test_far, test_lost,
 * test_scratch, test_slabs). */
#ifndef FBP_TESTS_SLABS_H
#define FBP_TESTS_SLABS_H

#include "recon/fixture.h"

#include "devices/mock/mock.h"

enum { SLABS = 15 }; /* of three slices */

/* Of devices that keep no filtered views, of those that do, each for itself, and of those that
 * copy them from one another. */
static const struct fbp_rates none = {0}, card = {1e-12, 1e-10, 1e-12, 1e-10, .share = 1},
                              linked = {1e-9, 1e-10, 1e-12, 1e-10, .share = 1e-12};
enum { WAYS = 3 };
static const struct fbp_rates *const ways[WAYS] = {&none, &card, &linked};

/* Nothing that was measured for another program decides here: a setup of a group. */
static inline int without_cache(void **state)
{
    return setenv("XDG_CACHE_HOME", "/dev/null", 1);
}

static inline struct fbp_scan make_scan(void)
{
    struct fbp_scan scan = circle_scan(40, 40, 11);

    scan.volume = (struct fbp_grid){{41, 37, 3 * SLABS}, {4.1, 3.9, 4.3}, {3, -2, 5}};
    simulate_head(&scan, 90);
    return scan;
}

/* user: an int, the devices that were named as failed. */
static inline void count_lines(void *user, enum fbp_log_level level, const char *line)
{
    int *n = user;

    *n += level == FBP_LOG_WARNING &&
          strstr(line, "is no longer used, and the other devices do its work");
}

#endif /* FBP_TESTS_SLABS_H */
