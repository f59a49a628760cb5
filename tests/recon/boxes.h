/** @file boxes.h  A case for each kernel, and random boxes of its volume, for test_roi.c and
 * test_region.c. */
#ifndef FBP_TESTS_BOXES_H
#define FBP_TESTS_BOXES_H

#include "recon/fixture.h"

#include "devices/mock/mock.h"
#include "geometry/kind.h"
#include "geometry/view.h"

/** On grids and detectors of odd and even sizes.  kernel: the one asked for; boxes: it computes
 *  them alone. */
static const struct scan_case {
    const char *device, *kernel;
    bool boxes;
    enum fbp_precision precision;
    size_t views, columns, rows;
    struct fbp_grid grid;
} cases[] = {
#define EXACT FBP_PRECISION_EXACT
#define FAST  FBP_PRECISION_FAST
#define HALF  FBP_PRECISION_HALF
    {"cpu", "rot90", false, EXACT, 52, 48, 40, {{40, 40, 36}, {4, 4, 4}, {0, 0, 0}}},
    {"cpu", "rot90", false, EXACT, 36, 51, 41, {{41, 41, 37}, {4, 4, 4}, {0, 0, 0}}},
    {"cpu", "rot180", false, EXACT, 52, 47, 40, {{36, 41, 35}, {4, 4, 4}, {0, 0, 0}}},
    {"cpu", "rot90", false, EXACT, 52, 48, 40, {{39, 39, 36}, {4, 4, 4}, {0, 0, 3}}},
    {"cpu", "rot180", false, EXACT, 52, 48, 40, {{41, 40, 35}, {4, 4, 4}, {0, 0, 1}}},
    {"cpu", "column", true, EXACT, 53, 48, 48, {{41, 37, 45}, {4.1, 3.9, 4.3}, {3, -2, 5}}},
    {"cpu", "matrix", true, EXACT, 53, 48, 48, {{41, 37, 45}, {4.1, 3.9, 4.3}, {3, -2, 5}}},
    {"ref", "matrix", true, EXACT, 24, 32, 32, {{21, 17, 25}, {8, 8, 8}, {3, -2, 5}}},
    {"mock:0,1", "rot90", false, EXACT, 36, 51, 41, {{41, 41, 37}, {4, 4, 4}, {0, 0, 0}}},
    {"mock", "column", true, EXACT, 53, 48, 48, {{41, 37, 45}, {4.1, 3.9, 4.3}, {3, -2, 5}}},
    {"mock:0,1,2", "matrix", true, EXACT, 53, 48, 48, {{41, 37, 45}, {4.1, 3.9, 4.3}, {3, -2, 5}}},
    {"cuda", "rot90", false, EXACT, 52, 48, 40, {{39, 39, 36}, {4, 4, 4}, {0, 0, 3}}},
    {"cuda", "rot180", false, EXACT, 52, 47, 40, {{36, 41, 35}, {4, 4, 4}, {0, 0, 0}}},
    {"cuda", "column", true, EXACT, 53, 48, 48, {{41, 37, 45}, {4.1, 3.9, 4.3}, {3, -2, 5}}},
    {"cuda", "column", true, HALF, 53, 150, 120, {{41, 37, 45}, {4.1, 3.9, 4.3}, {3, -2, 5}}},
    {"cuda:0,0", "matrix", true, EXACT, 53, 48, 48, {{41, 37, 45}, {4.1, 3.9, 4.3}, {3, -2, 5}}},
    {"cuda", "matrix", true, EXACT, 70, 90, 90, {{141, 137, 45}, {1.3, 1.2, 4.3}, {3, -2, 5}}},
    {"cuda", "matrix", true, FAST, 53, 48, 48, {{41, 37, 45}, {4.1, 3.9, 4.3}, {3, -2, 5}}},
    {"cuda", "matrix", true, FAST, 53, 300, 48, {{61, 57, 45}, {4.1, 3.9, 4.3}, {3, -2, 5}}},
    {"cuda", "matrix", true, HALF, 53, 48, 48, {{41, 37, 45}, {4.1, 3.9, 4.3}, {3, -2, 5}}},
    {"gl", "rot90", false, HALF, 28, 48, 40, {{39, 39, 26}, {4, 4, 5}, {0, 0, 3}}},
    {"gl", "rot180", false, HALF, 26, 47, 40, {{36, 41, 25}, {4, 4, 6}, {0, 0, 0}}},
    {"gl", "rot180", false, FAST, 26, 48, 40, {{41, 40, 25}, {4, 4, 6}, {0, 0, 1}}},
    {"gl:0,0", "column", true, EXACT, 53, 48, 48, {{41, 37, 45}, {4.1, 3.9, 4.3}, {3, -2, 5}}},
    {"gl", "matrix-plain", true, EXACT, 27, 90, 90, {{61, 57, 25}, {2.6, 2.4, 5.1}, {3, -2, 5}}},
    {"gl", "matrix", true, FAST, 27, 48, 48, {{41, 37, 45}, {4.1, 3.9, 4.3}, {3, -2, 5}}},
    {"gl", "matrix", true, HALF, 27, 48, 48, {{41, 37, 45}, {4.1, 3.9, 4.3}, {3, -2, 5}}},
    {"cpu", "planes", true, EXACT, 53, 48, 1, {{41, 37, 45}, {4.1, 3.9, 4.3}, {3, -2, 5}}},
    {"cpu", "planes", true, EXACT, 53, 90, 1, {{39, 43, 30}, {7, 4.9, 4.3}, {-3, 2, 0}}},
};

enum { N_CASES = sizeof cases / sizeof *cases };

static inline bool can_compute(const struct scan_case *c)
{
    return usable(c->device);
}

/** Directions all over the half sphere, samples of 4 mm. */
static inline void add_planes(struct fbp_scan *scan)
{
    const size_t n = scan->n_views, S = scan->panel.n_columns;
    const struct fbp_directions d = {.struct_size = sizeof d, .set = FBP_SET_FIBONACCI, .n = {n}};
    double(*direction)[3] = calloc(n, sizeof *direction);

    scan->kind = FBP_PLANES;
    scan->views = calloc(n, sizeof *scan->views);
    OK(fbp_directions_make(&d, direction, NULL));
    for (size_t k = 0; k < n; k++)
        fbp_plane_view(direction[k], 4, -2 * ((double)S - 1) + 0.3, S, &scan->views[k]);
    free(direction);
}

static inline struct fbp_scan make_scan(const struct scan_case *c)
{
    struct fbp_scan scan = {.struct_size = sizeof scan,
                            .n_views = c->views,
                            .panel = {c->columns, c->rows},
                            .volume = c->grid};

    if (c->kernel && strcmp(c->kernel, "planes") == 0)
        add_planes(&scan);
    else
        add_views(&scan, &(struct orbit){.start_deg = 11, .pitch_mm = {8, 300. / (double)c->rows}});
    simulate_head(&scan, 90);
    return scan;
}

static inline struct fbp_recon_params params_of(const struct scan_case *c)
{
    return (struct fbp_recon_params){.struct_size = sizeof(struct fbp_recon_params),
                                     .device = c->device,
                                     .tuning.kernel = c->kernel,
                                     .precision = c->precision,
                                     .n_threads = 2};
}

static inline unsigned draw(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

static inline int watch(void *user, const struct fbp_progress *p)
{
    *(struct fbp_progress *)user = *p;
    return 0;
}

/** Slabs and batches of any size, or the plan's. */
static inline void draw_division(unsigned *state, struct fbp_recon_params *p)
{
    p->tuning.slab_slices = draw(state) % 3 ? 0 : 1 + draw(state) % 9;
    p->tuning.batch_views = draw(state) % 2 ? 0 : 8 * (1 + draw(state) % 3);
}

/** What a plan gives, into a file or into the caller's memory; free() it. */
static inline float *run_plan(fbp_plan *plan, bool memory, struct fbp_report *report)
{
    AUTO_REMOVE char *path = temporary("part.mha");

    if (memory)
        return run_to_memory(plan, NULL, report);
    OK(fbp_plan_run(plan, path, report));
    return read_array(path);
}

/** Compares parts of a case's volume with the whole, which params gave. */
typedef void parts_fn(const struct scan_case *c, const struct fbp_scan *scan,
                      struct fbp_recon_params params, const float *whole, unsigned *seed);

/** With all cases of devices that are here; every third in HU, and some
 *  with a mask, if it may. */
static inline void compare_parts(parts_fn *compare, bool masks, unsigned seed)
{
    fbp_mock_faults = (struct fbp_mock_faults){.delay_us = 20};
    for (size_t i = 0; i < N_CASES; i++) {
        const struct scan_case *c = &cases[i];
        if (!can_compute(c))
            continue;
        AUTO_DROP struct fbp_scan scan = make_scan(c);
        struct fbp_recon_params p = params_of(c);
        p.mu_water = i % 3 == 0 && fbp_kind_has_lines(scan.kind) ? 0.02 : 0;
        p.output.fill = masks && i % 4 == 1;
        p.output.fill_value = masks ? -7 : 0;
        AUTO_FREE float *whole = reconstruct(&scan, &p);
        compare(c, &scan, p, whole, &seed);
    }
    fbp_mock_faults = (struct fbp_mock_faults){0};
}

/** Any box; now and then up to an edge, which is said by 0, or of one voxel. */
static inline void draw_box(unsigned *state, const size_t n[3], size_t roi[3][2])
{
    for (int i = 0; i < 3; i++) {
        const size_t a = draw(state) % n[i], b = a + 1 + draw(state) % (n[i] - a);
        const unsigned sort = draw(state) % 4;
        roi[i][0] = a;
        roi[i][1] = sort == 0 ? 0 : sort == 1 ? a + 1 : b;
    }
}

#endif /* FBP_TESTS_BOXES_H */
