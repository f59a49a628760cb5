/** @file planted.h  What tests of OpenGL plant in its module (gl/egl.h), and files left open. */
#ifndef FBP_TESTS_PLANTED_H
#define FBP_TESTS_PLANTED_H

#include "recon/fixture.h"

#include "backend/backend.h"
#include "backend/gl/egl.h"
#include "bench/common/modules.h"

#include <dirent.h>

static struct gl_fault_injection *plant;

static inline void find_plant(void)
{
    plant = bench_device_of(fbp_backend_find("gl"))->plant;
    assert_non_null(plant);
}

/** Nothing planted, and what was found with it is forgotten. */
static inline int lift(void **state)
{
    void (*apply)(void) = plant->apply;

    *plant = (struct gl_fault_injection){.apply = apply};
    apply();
    return 0;
}

/** A head, seen by a full circle of views of 45 columns, in a volume of almost equal sides. */
static inline struct fbp_scan make_head(size_t n_views, size_t n_rows, size_t side, double voxel_mm)
{
    return head_scan(
        n_views, 45, n_rows, &(struct orbit){.start_deg = 11, .pitch_mm = {6, 6}},
        (struct fbp_grid){{side, side - 2, side - 4}, {voxel_mm, voxel_mm, voxel_mm}, {1, -2, 3}},
        90);
}

/** Descriptors of this process. */
static inline size_t open_files(void)
{
    DIR *folder = not_null(opendir("/proc/self/fd"));
    size_t n = 0;

    while (readdir(folder))
        n++;
    closedir(folder);
    return n;
}

#endif /* FBP_TESTS_PLANTED_H */
