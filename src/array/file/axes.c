#include "array/file/axes.h"

#include <math.h>

/* Of 1; files write six digits or more. */
static const double skew = 1e-3;

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

fbp_status fbp_axes_take(struct fbp_source *src, size_t n, const double (*step)[3],
                         const double origin[3])
{
    struct fbp_array_info *info = &src->info;

    for (size_t i = 0; i < 3; i++) {
        const double length = i < n ? sqrt(dot(step[i], step[i])) : 1;
        if (!(length > 0) || !isfinite(length))
            return fbp_fail(FBP_ERR_INVALID,
                            "%s: the spacing along axis %zu, %g mm, cannot be: correct the header",
                            src->path, i, length);
        info->spacing_mm[i] = length;
        info->origin_mm[i] = i < n ? dot(origin, step[i]) / length : 0;
        if (i < n && fabs(step[i][i]) == length) /* the common ones, without rounding */
            info->origin_mm[i] = step[i][i] > 0 ? origin[i] : 0 - origin[i];
        if (!isfinite(info->origin_mm[i]))
            return fbp_fail(FBP_ERR_INVALID,
                            "%s: the origin along axis %zu is not finite: correct the header",
                            src->path, i);
    }
    for (size_t i = 1; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (fabs(dot(step[i], step[j])) > skew * info->spacing_mm[i] * info->spacing_mm[j])
                return fbp_fail(
                    FBP_ERR_UNSUPPORTED,
                    "%s: axes %zu and %zu are not orthogonal: resample it on a grid that "
                    "is",
                    src->path, j, i);
    info->has_spacing = true;
    return FBP_OK;
}
