#include "array/format/tiff/imagej.h"
#include "array/file/bytes.h"
#include "array/file/describe.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char first[] = "ImageJ=";

/* "key=x\n" in as few digits as give x again. */
static void append(char *buf, size_t n, const char *key, double x)
{
    const size_t at = strlen(buf);
    char text[32];

    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, x);
        if (strtod(text, NULL) == x)
            break;
    }
    for (char *p = text; *p; p++)
        if (*p == ',')
            *p = '.';
    snprintf(buf + at, n - at, "%s=%s\n", key, text);
}

/* ImageJ's origin is the place of (0, 0, 0), in voxels. */
static void append_place(char *buf, size_t n, const struct fbp_array_info *i)
{
    static const char *const keys[] = {"xorigin", "yorigin", "zorigin"};

    if (!(i->spacing_mm[0] > 0))
        return;
    snprintf(buf, n, "unit=mm\n");
    append(buf, n, "spacing", i->spacing_mm[2]);
    for (int k = 0; k < 3; k++)
        append(buf, n, keys[k], 0 - i->origin_mm[k] / i->spacing_mm[k]);
}

char *fbp_imagej_describe(const struct fbp_array_info *i)
{
    char place[200] = "", scale[120] = "", unit[32] = "", *line = fbp_describe(i), *out;

    append_place(place, sizeof place, i);
    if (i->scale != 0) { /* function 0 is a straight line */
        snprintf(scale, sizeof scale, "cf=0\n");
        append(scale, sizeof scale, "c0", i->offset);
        append(scale, sizeof scale, "c1", i->scale);
    }
    if (i->unit[0])
        snprintf(unit, sizeof unit, "vunit=%.15s\n", i->unit);
    out = line ? fbp_format("%s1.53t\nimages=%zu\nslices=%zu\nloop=false\n%s%s%sfbp=%s\n", first,
                            i->n[2], i->n[2], place, scale, unit, line)
               : NULL;
    free(line);
    return out;
}

bool fbp_imagej_is(const char *text, size_t n)
{
    return n >= sizeof first && strncmp(text, first, sizeof first - 1) == 0;
}

/* What stands behind "\nkey=", *length bytes; NULL: nothing. */
static const char *value_of(const char *text, size_t n, const char *key, size_t *length)
{
    char line[16];
    const int size = snprintf(line, sizeof line, "\n%s=", key);
    const char *p = memmem(text, n, line, (size_t)size);

    if (!p)
        return NULL;
    p += size;
    const char *end = memchr(p, '\n', n - (size_t)(p - text));
    *length = (size_t)((end ? end : text + n) - p);
    return p;
}

static bool number_of(const char *text, size_t n, const char *key, double *out)
{
    char digits[40];
    size_t length = 0;
    const char *p = value_of(text, n, key, &length);
    char *end = NULL;

    if (!p || length == 0 || length >= sizeof digits)
        return false;
    memcpy(digits, p, length);
    digits[length] = '\0';
    const double x = fbp_number(digits, &end);
    if (end == digits || !isfinite(x))
        return false;
    *out = x;
    return true;
}

size_t fbp_imagej_slices(const char *text, size_t n)
{
    double slices = 1;

    if (!fbp_imagej_is(text, n) || !number_of(text, n, "images", &slices))
        return 1;
    return slices > 1 && slices < UINT32_MAX ? (size_t)slices : 1;
}

/* Millimetres of its unit; 0: none of length, or not known. */
static double unit_mm(const char *text, size_t n)
{
    static const struct {
        const char *name;
        double mm;
    } table[] = {
        {"mm", 1},           {"cm", 10},        {"m", 1e3},         {"um", 1e-3},
        {"micron", 1e-3},    {"microns", 1e-3}, {"\\u00B5m", 1e-3}, {"\xc2\xb5m", 1e-3},
        {"\xce\xbcm", 1e-3}, {"\xb5m", 1e-3},   {"nm", 1e-6},       {"inch", 25.4},
    };
    size_t length = 0;
    const char *unit = value_of(text, n, "unit", &length);

    for (size_t i = 0; unit && i < sizeof table / sizeof *table; i++)
        if (length == strlen(table[i].name) && memcmp(unit, table[i].name, length) == 0)
            return table[i].mm;
    return 0;
}

static void take_place(const char *text, size_t n, const double per_unit[2],
                       struct fbp_array_info *info)
{
    static const char *const keys[] = {"xorigin", "yorigin", "zorigin"};
    const double mm = unit_mm(text, n);
    double depth = 1, at;

    (void)number_of(text, n, "spacing", &depth);
    const double spacing[3] = {mm / per_unit[0], mm / per_unit[1], mm * fabs(depth)};
    for (int k = 0; k < 3; k++)
        if (!(spacing[k] > 0) || !isfinite(spacing[k]))
            return;
    for (int k = 0; k < 3; k++) {
        info->spacing_mm[k] = spacing[k];
        info->origin_mm[k] = number_of(text, n, keys[k], &at) ? 0 - at * spacing[k] : 0;
    }
    info->has_spacing = true;
}

/* Integers that stand for values by a straight line. */
static void take_scale(const char *text, size_t n, struct fbp_array_info *info)
{
    double function = -1, c0 = 0, c1 = 0;
    size_t length = 0;
    const char *unit = value_of(text, n, "vunit", &length);

    if (info->type != FBP_F32 && info->type != FBP_F64 && number_of(text, n, "cf", &function) &&
        function == 0 && number_of(text, n, "c0", &c0) && number_of(text, n, "c1", &c1) &&
        c1 != 0) {
        info->scale = c1;
        info->offset = c0;
    }
    if (unit && length < sizeof info->unit)
        snprintf(info->unit, sizeof info->unit, "%.*s", (int)length, unit);
}

fbp_status fbp_imagej_described(const char *text, size_t n, const double per_unit[2],
                                struct fbp_array_info *info, bool *is_one)
{
    size_t length = 0;
    bool ours = false;

    *is_one = fbp_imagej_is(text, n);
    if (!*is_one)
        return FBP_OK;
    const char *line = value_of(text, n, "fbp", &length);
    if (line)
        FBP_TRY(fbp_described(line, length, false, info, &ours));
    if (!ours) {
        take_place(text, n, per_unit, info);
        take_scale(text, n, info);
    }
    return FBP_OK;
}
