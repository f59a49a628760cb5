/** @file memory_scan.h  A small cone-beam scan whose views are in memory, for tests of plans. */
#ifndef FBP_TESTS_MEMORY_SCAN_H
#define FBP_TESTS_MEMORY_SCAN_H

#include "base/math.h"
#include "geometry/view.h"
#include "test.h"

enum { N_VIEWS = 36, COLUMNS = 64, ROWS = 48 };

static struct fbp_view views[N_VIEWS];
static float samples[N_VIEWS * ROWS * COLUMNS];

/* A full circle about a volume. */
static inline struct fbp_scan scan_of(const struct fbp_grid *volume)
{
    double angles[N_VIEWS];
    const struct fbp_circle c =
        circle_of(N_VIEWS, angles, 500, 800, .kind = FBP_CONE, .pitch_mm = {1, 1});

    for (int k = 0; k < N_VIEWS; k++)
        angles[k] = 2 * FBP_PI * k / N_VIEWS;
    OK(fbp_circle_views(&c, views));
    return (struct fbp_scan){.struct_size = sizeof(struct fbp_scan),
                             .kind = FBP_CONE,
                             .n_views = N_VIEWS,
                             .panel = {COLUMNS, ROWS},
                             .views = views,
                             .volume = *volume};
}

static inline fbp_source *a_source(void)
{
    const struct fbp_array_info info = {
        .struct_size = sizeof info, .n = {COLUMNS, ROWS, N_VIEWS}, .type = FBP_F32};

    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        samples[i] = (float)(i % 7);
    return memory_source(samples, &info);
}

#endif /* FBP_TESTS_MEMORY_SCAN_H */
