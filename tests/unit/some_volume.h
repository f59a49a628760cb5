/* The small volume that the tests of sinks write. */
#ifndef FBP_TESTS_SOME_VOLUME_H
#define FBP_TESTS_SOME_VOLUME_H

#include "unit/io_util.h"

enum { NX = 7, NY = 5, NZ = 6, SLICE = NX * NY, N = SLICE * NZ };

static float volume[N];

static inline int fill(void **state)
{
    for (size_t i = 0; i < N; i++)
        volume[i] = sinf((float)i) * 1e-2f;
    return 0;
}

static inline struct fbp_array_info some_info(void)
{
    return (struct fbp_array_info){.struct_size = sizeof(struct fbp_array_info),
                                   .n = {NX, NY, NZ},
                                   .spacing_mm = {0.1, 1. / 3, 2},
                                   .origin_mm = {-1e-3, 5, 1e5 / 3},
                                   .unit = "1/mm"};
}

#endif
