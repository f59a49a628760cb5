/* A temporary file of float values (fbp_spool_open(), fbp_spool_copy()) for an integer output
 * whose range is that of the values (`--output-range auto`). plan_output.c opens this sink in
 * place of the output; plan_run.c gets the range when all slices are stored, and copies the values
 * to the output. array.h declares the functions.
 * Used by: pipeline/plan_output.c, pipeline/plan_run.c. */
#include "array/sink.h"
#include "base/base.h"

#include <math.h>
#include <string.h>

fbp_status fbp_spool_open(fbp_sink **values, const char *output, const struct fbp_array_info *info,
                          const struct fbp_sink_params *params)
{
    struct fbp_sink_params trial = *params, own = *params;
    struct fbp_array_info plain = *info;
    fbp_sink *tried = NULL;
    char *name = NULL;
    fbp_status st;

    *values = NULL;
    trial.resume = false;
    trial.range[0] = 0;
    trial.range[1] = 1;
    FBP_TRY(fbp_sink_open(&tried, output, info, &trial));

    /* The temporary file of the floats is beside the output or, of a stack, beside its folder. */
    struct fbp_output *o = tried->files;
    if (!o)
        FBP_TRY_GOTO(fbp_print_path(&name, "%s", output)); /* null: */
    else
        FBP_TRY_GOTO(
            fbp_print_path(&name, "%s.values.raw",
                           o->folder && strcmp(o->folder, ".") != 0 ? o->folder : o->path));
    plain.time_points = 0; /* no NAME.json is needed: no other program reads the floats */
    own.type = FBP_F32;
    own.compress = false;
    FBP_TRY_GOTO(fbp_sink_open(values, name, &plain, &own));
    if ((*values)->files)
        (*values)->files->passing = true;
fail:
    /* The integer output, which was opened for a test and reserves its space, is closed only now:
     * the disk must have space for it and for the floats. */
    fbp_sink_close(&tried);
    free(name);
    return st;
}

static fbp_status read_slices(const fbp_sink *values, size_t z0, size_t nz, float *out)
{
    struct fbp_output *o = values->files;

    return o->store->get(o, o->part_offset + (uint64_t)z0 * values->slice_bytes, out,
                         nz * values->slice_bytes);
}

fbp_status fbp_spool_range(const fbp_sink *values, double range[2])
{
    const size_t n = values->info.n[0] * values->info.n[1];
    fbp_status st = FBP_OK;
    float *slice = NULL;

    if (values->files) {
        range[0] = INFINITY;
        range[1] = -INFINITY;
        FBP_TRY(fbp_alloc((void **)&slice, values->slice_bytes, "a slice"));
        for (size_t z = 0; z < values->info.n[2] && st == FBP_OK; z++) {
            float lo = INFINITY, hi = -INFINITY;

            st = read_slices(values, z, 1, slice);
            for (size_t i = 0; st == FBP_OK && i < n; i++) {
                if (!isfinite(slice[i]))
                    continue;
                lo = slice[i] < lo ? slice[i] : lo;
                hi = slice[i] > hi ? slice[i] : hi;
            }
            range[0] = fmin(range[0], (double)lo);
            range[1] = fmax(range[1], (double)hi);
        }
        fbp_free(slice);
    }
    if (st == FBP_OK && !(range[0] <= range[1]))
        st = FBP_INVALID("output: no value of the volume is finite, so no output "
                         "range can be chosen; check the projections");
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

    if (!values->files) {
        fbp_sink_mark(to, 0, nz);
        return FBP_OK;
    }
    FBP_TRY(fbp_alloc((void **)&slices, at_once * values->slice_bytes, "slices"));
    for (size_t z = 0; z < nz && st == FBP_OK; z += at_once) {
        const size_t n = nz - z < at_once ? nz - z : at_once;

        st = stops(user) ? fbp_fail(FBP_ERR_CANCELLED, "cancelled")
                         : read_slices(values, z, n, slices);
        if (st == FBP_OK)
            st = fbp_sink_write(to, z, n, FBP_F32, slices);
    }
    fbp_free(slices);
    return st;
}

void fbp_spool_discard(fbp_sink **values)
{
    if (*values && (*values)->files) { /* like a sink that cannot be resumed */
        (*values)->fingerprint = 0;
        (*values)->files->owned = true; /* closing removes its files */
    }
    fbp_sink_close(values);
}
