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

/* A sink for the volume of some_info(). */
static inline fbp_status open_sink_with(fbp_sink **s, const char *path,
                                        const struct fbp_sink_params *p)
{
    const struct fbp_array_info info = some_info();

    return fbp_sink_open(s, path, &info, p);
}

/* nz slices of the volume from z0 on. */
static inline void put(fbp_sink *s, size_t z0, size_t nz)
{
    OK(fbp_sink_write(s, z0, nz, FBP_F32, volume + z0 * SLICE));
}

static inline void finish(fbp_sink **s)
{
    OK(fbp_sink_finish(*s));
    fbp_sink_close(s);
    assert_null(*s);
}

#endif
