/* Implementation of choices.h: lists of permitted option values, from the library's names. */
#include "choices.h"
#include "formats.h"

#include "fbp/fbp.h"

#include "array/file/bytes.h"
#include "geometry/directions.h"
#include "geometry/kind.h"

const char *choices_kind(size_t i)
{
    return fbp_kind_listed(i);
}

const char *choices_kind_or_none(size_t i)
{
    const char *name = i > 0 ? fbp_kind_listed(i - 1) : "";

    return i == 0 || !name || fbp_kind_has_lines((enum fbp_kind)(i - 1)) ? name : "";
}

const char *choices_weights(size_t i)
{
    static const char *const names[] = {
        [FBP_ANGULAR_DEFAULT] = "", [FBP_ANGULAR_AUTO] = "auto", [FBP_ANGULAR_EQUAL] = "equal"};

    return i < sizeof names / sizeof *names ? names[i] : NULL;
}

const char *choices_quadrature(size_t i)
{
    return i == 0 || i == FBP_QUADRATURE_GIVEN + 1 ? "" : fbp_quadrature_name(i - 1);
}

const char *choices_precision(size_t i)
{
    static const char *const names[] = {[FBP_PRECISION_DEFAULT] = "",
                                        [FBP_PRECISION_EXACT] = "exact",
                                        [FBP_PRECISION_FAST] = "fast",
                                        [FBP_PRECISION_HALF] = "half",
                                        [FBP_PRECISION_DOUBLE] = "double"};

    return i < sizeof names / sizeof *names ? names[i] : NULL;
}

const char *choices_output_type(size_t i)
{
    const enum fbp_type type = (enum fbp_type)i;

    if (i > FBP_F64)
        return NULL;
    return type == FBP_U8 || type == FBP_U16 || type == FBP_F32 || type == FBP_F64
               ? fbp_type_name(type)
               : "";
}

const char *choices_sample_type(size_t i)
{
    if (i > FBP_F64)
        return NULL;
    return i == FBP_F32 || i == FBP_F64 ? fbp_type_name((enum fbp_type)i) : "";
}

/* Name of format i; "" if the format cannot be written (`written`) or read. */
static const char *geometry_format(size_t i, bool written)
{
    size_t n;
    const struct fbp_geometry_format_info *formats = cli_geometry_formats(&n);

    if (i >= n)
        return NULL;
    return (written ? formats[i].writes : formats[i].reads) ? formats[i].name : "";
}

const char *choices_geometry_read(size_t i)
{
    return geometry_format(i, false);
}

const char *choices_geometry_written(size_t i)
{
    return geometry_format(i, true);
}
