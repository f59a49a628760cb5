#include "choices.h"

#include "fbp/fbp.h"

const char *choices_filter(size_t i)
{
    return fbp_filter_name((enum fbp_filter)i);
}

const char *choices_pad(size_t i)
{
    return fbp_pad_name((enum fbp_pad_kind)i);
}

const char *choices_weights(size_t i)
{
    static const char *const names[] = {
        [FBP_ANGULAR_DEFAULT] = "", [FBP_ANGULAR_AUTO] = "auto", [FBP_ANGULAR_EQUAL] = "equal"};

    return i < sizeof names / sizeof *names ? names[i] : NULL;
}

const char *choices_precision(size_t i)
{
    static const char *const names[] = {[FBP_PRECISION_DEFAULT] = "",
                                        [FBP_PRECISION_EXACT] = "exact",
                                        [FBP_PRECISION_FAST] = "fast",
                                        [FBP_PRECISION_HALF] = "half"};

    return i < sizeof names / sizeof *names ? names[i] : NULL;
}

const char *choices_output_type(size_t i)
{
    const enum fbp_type type = (enum fbp_type)i;

    if (i > FBP_F64)
        return NULL;
    return type == FBP_U8 || type == FBP_U16 || type == FBP_F32 ? fbp_type_name(type) : "";
}

enum { MOST_FORMATS = 64 };

/* Format i, if it does what is asked. */
static const char *geometry_format(size_t i, bool written)
{
    static struct fbp_geometry_format_info formats[MOST_FORMATS];
    static size_t n;

    if (n == 0) {
        formats[0].struct_size = sizeof *formats;
        n = fbp_geometry_formats(formats, MOST_FORMATS);
        n = n < MOST_FORMATS ? n : MOST_FORMATS;
    }
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
