/* Reads and writes whole arrays for tests that check whether it works. */
#ifndef FBP_TESTS_ONE_ARRAY_H
#define FBP_TESTS_ONE_ARRAY_H

#include "fbp/fbp.h"

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
