/* Reads and writes whole arrays for tests.  Until the real ones are linked, sink and source are
 * weak stand-ins that keep the last array in memory. */
#ifndef FBP_TESTS_ONE_ARRAY_H
#define FBP_TESTS_ONE_ARRAY_H

#include "fbp/fbp.h"

#include <stdlib.h>
#include <string.h>

static struct {
    struct fbp_array_info info;
    float *data;
} stub;

__attribute__((weak)) fbp_status fbp_sink_open(fbp_sink **out, const char *path,
                                               const struct fbp_array_info *info,
                                               const struct fbp_sink_params *params)
{
    free(stub.data);
    stub.info = *info;
    stub.data = calloc(info->n[0] * info->n[1] * info->n[2], sizeof *stub.data);
    *out = (fbp_sink *)&stub;
    return FBP_OK;
}

__attribute__((weak)) fbp_status fbp_sink_write(fbp_sink *sink, size_t z0, size_t nz,
                                                enum fbp_type type, const void *data)
{
    const size_t n = stub.info.n[0] * stub.info.n[1];
    memcpy(stub.data + z0 * n, data, nz * n * sizeof *stub.data);
    return FBP_OK;
}

__attribute__((weak)) fbp_status fbp_sink_finish(fbp_sink *sink)
{
    return FBP_OK;
}

__attribute__((weak)) void fbp_sink_close(fbp_sink **sink)
{
    *sink = NULL;
}

__attribute__((weak)) fbp_status fbp_source_open(fbp_source **out, const char *path,
                                                 const struct fbp_raw *raw)
{
    *out = (fbp_source *)&stub;
    return strstr(path, "missing") ? FBP_ERR_IO : FBP_OK;
}

__attribute__((weak)) const struct fbp_array_info *fbp_source_info(const fbp_source *src)
{
    return &stub.info;
}

__attribute__((weak)) fbp_status fbp_source_read(fbp_source *src, size_t slice0, size_t n_slices,
                                                 size_t row0, size_t n_rows, enum fbp_type type,
                                                 void *out)
{
    const size_t *n = stub.info.n;
    float *to = out;
    for (size_t z = 0; z < n_slices; z++)
        memcpy(to + z * n_rows * n[0], stub.data + ((slice0 + z) * n[1] + row0) * n[0],
               n_rows * n[0] * sizeof *to);
    return FBP_OK;
}

__attribute__((weak)) void fbp_source_close(fbp_source **src)
{
    *src = NULL;
}

/* The whole array and its header; false on any failure. */
static inline bool array_read(const char *path, struct fbp_array_info *info, float *data)
{
    fbp_source *src = NULL;
    if (fbp_source_open(&src, path, NULL) != FBP_OK)
        return false;
    *info = *fbp_source_info(src);
    const fbp_status st = fbp_source_read(src, 0, info->n[2], 0, info->n[1], FBP_F32, data);
    fbp_source_close(&src);
    return st == FBP_OK;
}

static inline bool array_write(const char *path, const struct fbp_array_info *info,
                               const float *data)
{
    fbp_sink *sink = NULL;
    const struct fbp_sink_params params = {.struct_size = sizeof params};
    fbp_status st = fbp_sink_open(&sink, path, info, &params);
    if (st == FBP_OK)
        st = fbp_sink_write(sink, 0, info->n[2], FBP_F32, data);
    if (st == FBP_OK)
        st = fbp_sink_finish(sink);
    fbp_sink_close(&sink);
    return st == FBP_OK;
}

/* A volume of floats whose rows run upwards. */
static inline bool volume_write(const char *path, const size_t n[3], const double mm[3],
                                const float *data)
{
    struct fbp_array_info info = {.struct_size = sizeof info,
                                  .type = FBP_F32,
                                  .has_spacing = true,
                                  .row_order = FBP_ROWS_BOTTOM_UP};

    for (int a = 0; a < 3; a++) {
        info.n[a] = n[a];
        info.spacing_mm[a] = mm[a];
    }
    return array_write(path, &info, data);
}

#endif /* FBP_TESTS_ONE_ARRAY_H */
