/* fbp_take_params(): checks the parameters of a reconstruction (struct fbp_recon_params) for ranges
 * and contradictions, before any file is read. Checks that need the scan are in job.c.
 * Used by: bench/host/, bench/kernels/, bench/papers/zinsser2013/, bench/rabbitct/, analysis/,
 * pipeline/. */
#include "array/file/bytes.h"
#include "pipeline/job.h"

#include "base/base.h"
#include "geometry/ranges.h"

#include <math.h>

static bool is_integer(enum fbp_type type)
{
    return type == FBP_U8 || type == FBP_U16 || type == FBP_I16;
}

/* Check the type of the output, and the range of values that integers represent. */
static fbp_status check_output(const struct fbp_recon_params *p)
{
    const bool integers = is_integer(p->output.type);
    const bool ranged = p->output.range[0] != 0 || p->output.range[1] != 0;

    FBP_TRY(fbp_check_choice("output_type", (long)p->output.type, FBP_F64));
    if (p->output.type == FBP_F64 && p->precision != FBP_PRECISION_DOUBLE)
        return FBP_UNSUPPORTED(
            "output: float64 needs a computation in double precision; choose precision "
            "double, or output type float32");
    FBP_TRY(fbp_check_range(&fbp_range_value, "output_range[0]", p->output.range[0]));
    FBP_TRY(fbp_check_range(&fbp_range_value, "output_range[1]", p->output.range[1]));
    if (!integers && ranged)
        return FBP_INVALID("output: a range of values applies to uint8, uint16 and "
                           "int16 only; choose one of these types, or omit the range");
    if (p->output.auto_range && (ranged || !integers))
        return FBP_INVALID(
            "output: a range of values that is found automatically %s",
            ranged
                ? "cannot be combined with a given range; omit one of them"
                : "applies to uint8, uint16 and int16 only; choose one of these types, or omit it");
    if (integers && !ranged && !p->output.auto_range && !(p->mu_water > 0))
        return FBP_INVALID("output: %s needs a range of values; %s", fbp_type_name(p->output.type),
                           p->cluster.n_parts
                               ? "give the range, such as 0,0.05 (--output-range)"
                               : "give the range, such as 0,0.05 (--output-range), or "
                                 "auto for the range of the volume");
    if (ranged && !(p->output.range[0] < p->output.range[1]))
        return FBP_INVALID("output: the range %g to %g is empty; give the least value first",
                           p->output.range[0], p->output.range[1]);
    return FBP_OK;
}

/* Check the value that voxels outside the field of view or the region get: outputs of integers
 * cannot store NaN or values outside the output range. */
static fbp_status check_mask(const struct fbp_recon_params *p)
{
    const bool integers = is_integer(p->output.type);
    const double *const usual = fbp_usual_hu_range(p->output.type);
    const bool given = p->output.range[0] != 0 || p->output.range[1] != 0;
    const double lo = given ? p->output.range[0] : usual[0];
    const double hi = given ? p->output.range[1] : usual[1];

    const bool region = p->region.shape || p->region.mask;
    const double value = fbp_outside_value(p);

    if (!p->output.fill && !region)
        return FBP_OK;
    if (isnan(value) && integers)
        return FBP_INVALID(
            "output: %s cannot store NaN, the value outside the %s; give another value "
            "(--mask), or write float32",
            fbp_type_name(p->output.type), region ? "region" : "field of view");
    if (isnan(value))
        return FBP_OK;
    FBP_TRY(fbp_check_range(&fbp_range_value, "mask_value", value));
    if (!integers || p->output.auto_range || (value >= lo && value <= hi))
        return FBP_OK;
    return FBP_INVALID("output: %g, the value outside the %s, is not in the range %g to %g; choose "
                       "another value (--mask), or another range",
                       value, region ? "region" : "field of view", lo, hi);
}

fbp_status fbp_take_params(struct fbp_recon_params *p, const struct fbp_recon_params *given)
{
    static const struct fbp_range twofold = {1, 2, true, "1 or 2"};
    static const struct fbp_range columns = {1, 4, true, "a whole number from 1 to 4"};
    const struct fbp_recon_params defaults = {.struct_size = sizeof defaults};

    FBP_TRY(FBP_COPY_IN(recon_params, p, given ? given : &defaults));
    const bool has_part = p->cluster.part > 0 || p->cluster.n_parts > 0;

    FBP_TRY(fbp_check_choice("filter", (long)p->filter, FBP_FILTER_LAST));
    FBP_TRY(fbp_check_optional(&fbp_range_cutoff, "cutoff", p->cutoff));
    FBP_TRY(fbp_check_optional(&fbp_range_cutoff, "cutoff_v", p->filtering.cutoff_v));
    FBP_TRY(fbp_check_optional(&fbp_range_side, "half_width", (double)p->filtering.half_width));
    if ((p->filtering.n_window > 0) != (p->filtering.window != NULL) || p->filtering.n_window == 1)
        return FBP_INVALID(
            "window: found %zu factors%s, expected 2 or more, from frequency 0 to the "
            "Nyquist frequency",
            p->filtering.n_window, p->filtering.window ? "" : " and no array");
    for (size_t i = 0; i < p->filtering.n_window; i++)
        if (!isfinite(p->filtering.window[i]))
            return FBP_INVALID("window: factor %zu is %g; give finite factors of the ramp", i,
                               p->filtering.window[i]);
    FBP_TRY(fbp_check_optional(&fbp_range_wiener, "wiener", p->epr.wiener));
    FBP_TRY(fbp_check_optional(&twofold, "oversampling", (double)p->epr.oversampling));
    FBP_TRY(fbp_check_choice("interpolation", (long)p->epr.interpolation, FBP_INTERPOLATION_LAST));
    FBP_TRY(fbp_check_optional(&twofold, "stages", p->epr.stages));
    FBP_TRY(
        fbp_check_choice("ring_interpolation", (long)p->epr.ring_interpolation, FBP_RINGS_LINEAR));
    FBP_TRY(fbp_check_optional(&fbp_range_views, "angles", (double)p->epr.angles));
    FBP_TRY(
        fbp_check_optional(&columns, "picture_oversampling", (double)p->epr.image_oversampling));
    FBP_TRY(fbp_check_choice("pad", (long)p->pad, FBP_PAD_ELLIPSE));
    FBP_TRY(fbp_check_choice("refine", (long)p->filtering.refine, FBP_REFINE_AUTO));
    FBP_TRY(
        fbp_check_choice("angular_weights", (long)p->filtering.angular_weights, FBP_ANGULAR_EQUAL));
    FBP_TRY(fbp_check_choice("unit", (long)p->output.unit, FBP_UNIT_CM));
    FBP_TRY(fbp_check_optional(&fbp_range_mu, "mu_water", p->mu_water));
    if (p->mu_water > 0 && p->output.unit != FBP_UNIT_MM)
        return FBP_INVALID("unit: Hounsfield units have no length unit; omit unit, or mu_water");

    FBP_TRY(fbp_check_range(&fbp_range_threads, "n_threads", p->n_threads));
    FBP_TRY(fbp_check_optional(&fbp_range_bytes, "memory_bytes", (double)p->memory_bytes));
    FBP_TRY(fbp_check_optional(&fbp_range_bytes, "device_memory_bytes",
                               (double)p->device_memory_bytes));
    FBP_TRY(fbp_check_choice("precision", (long)p->precision, FBP_PRECISION_LAST));
    FBP_TRY(fbp_check_optional(&fbp_range_views, "batch_views", (double)p->tuning.batch_views));
    FBP_TRY(fbp_check_optional(&fbp_range_side, "slab_slices", (double)p->tuning.slab_slices));
    FBP_TRY(fbp_check_range(&fbp_range_seconds, "follow_timeout_s", p->input.follow_timeout_s));

    /* Check --part, and reject options that need communication between the parts' processes. */
    if (has_part && (p->cluster.part < 1 || p->cluster.part > p->cluster.n_parts))
        return FBP_INVALID("part %zu of %zu does not exist; parts count from 1 to %zu",
                           p->cluster.part, p->cluster.n_parts, p->cluster.n_parts);
    if (has_part && p->cluster.team)
        return FBP_INVALID("part: processes that were started by mpirun or srun divide the volume "
                           "themselves; omit the part, or start each process separately");
    if (has_part && (p->input.follow || p->input.source))
        return FBP_INVALID("part: all parts need the same complete files of views; %s",
                           p->input.follow ? "omit --follow" : "store the views first");
    if (has_part && p->output.auto_range)
        return FBP_INVALID(
            "part: the range of the whole volume is unknown to a single part; give the "
            "range (--output-range LO,HI), or write float32");

    FBP_TRY(check_output(p));
    FBP_TRY(check_mask(p));
    return fbp_check_wanted(&p->volume);
}
