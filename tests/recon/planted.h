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
