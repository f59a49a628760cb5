#include "array/spool.h"
#include "array/file/bytes.h"
#include "array/sink.h"

#include "base/base.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

/* malloc'ed name of the floats' sink: beside the file or the folder that the output is. */
static char *name_beside(const struct fbp_sink *output)
{
    const bool in_folder = output->kind == FBP_SINK_STACK && strcmp(output->folder, ".") != 0;

    if (output->kind == FBP_SINK_NULL)
        return fbp_strdup("null:");
    return fbp_format("%s.values.raw", in_folder ? output->folder : output->path);
}

fbp_status fbp_spool_open(fbp_sink **values, const char *output, const struct fbp_array_info *info,
                          const struct fbp_sink_params *params)
{
    struct fbp_sink_params trial = *params, own = *params;
    struct fbp_array_info plain = *info;
    fbp_sink *tried = NULL;

    *values = NULL;
    trial.resume = false;
    trial.range[0] = 0;
    trial.range[1] = 1;
    FBP_TRY(fbp_sink_open(&tried, output, info, &trial));
    plain.frames = 0; /* nobody else reads it */
    char *name = name_beside(tried);
    own.type = FBP_F32;
    own.compress = false;
    const fbp_status st =
        name ? fbp_sink_open(values, name, &plain, &own) : fbp_fail_nomem(strlen(output), "a path");
    if (st == FBP_OK)
        (*values)->passing = true;
    fbp_sink_close(&tried); /* until here, so that there is room for both */
    free(name);
    return st;
}

static fbp_status read_slices(const fbp_sink *values, size_t z0, size_t nz, float *out)
{
    return fbp_read_at(values->fd, values->part,
                       values->part_offset + (uint64_t)z0 * values->slice_bytes, out,
                       nz * values->slice_bytes);
}

/* By the values of v[n] that are finite. */
static void extend(double range[2], const float *v, size_t n)
{
    float lo = INFINITY, hi = -INFINITY;

    for (size_t i = 0; i < n; i++) {
        if (!isfinite(v[i]))
            continue;
        lo = v[i] < lo ? v[i] : lo;
        hi = v[i] > hi ? v[i] : hi;
    }
    range[0] = fmin(range[0], (double)lo);
    range[1] = fmax(range[1], (double)hi);
}

fbp_status fbp_spool_range(const fbp_sink *values, double range[2])
{
    fbp_status st = FBP_OK;
    float *slice = NULL;

    if (values->kind == FBP_SINK_FILE) {
        range[0] = INFINITY;
        range[1] = -INFINITY;
        FBP_TRY(fbp_alloc((void **)&slice, values->slice_bytes, "a slice"));
        for (size_t z = 0; z < values->info.n[2] && st == FBP_OK; z++) {
            st = read_slices(values, z, 1, slice);
            if (st == FBP_OK)
                extend(range, slice, values->info.n[0] * values->info.n[1]);
        }
        fbp_free(slice);
    }
    if (st == FBP_OK && !(range[0] <= range[1]))
        st = fbp_fail(
            FBP_ERR_INVALID,
            "output: no value of the volume is finite, so that no range can be found: look "
            "at the projections");
    if (range[0] == range[1])
        range[1] += fmax(1, fabs(range[1]));
    return st;
}

fbp_status fbp_spool_copy(const fbp_sink *values, fbp_sink *to, size_t at_once,
                          int (*stops)(void *user), void *user)
{
    const size_t nz = values->info.n[2];
    fbp_status st = FBP_OK;
    float *slices = NULL;

    if (values->kind != FBP_SINK_FILE) {
        fbp_sink_mark(to, 0, nz);
        return FBP_OK;
    }
    FBP_TRY(fbp_alloc((void **)&slices, at_once * values->slice_bytes, "slices"));
    for (size_t z = 0; z < nz && st == FBP_OK; z += at_once) {
        const size_t n = nz - z < at_once ? nz - z : at_once;
        st = stops(user) ? fbp_fail(FBP_ERR_CANCELLED, "cancelled")
                         : read_slices(values, z, n, slices);
        if (st == FBP_OK)
            st = fbp_sink_write(to, z, n, slices);
    }
    fbp_free(slices);
    return st;
}

void fbp_spool_discard(fbp_sink **values)
{
    if (*values) { /* as one that cannot be resumed */
        (*values)->fingerprint = 0;
        (*values)->owned = true;
    }
    fbp_sink_close(values);
}
