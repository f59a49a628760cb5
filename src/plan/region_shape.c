#include "plan/region_shape.h"

#include "array/file/bytes.h"
#include "base/range.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

static fbp_status read_cylinder(const char *text, const char *at, struct fbp_region_shape *out);
static fbp_status read_ball(const char *text, const char *at, struct fbp_region_shape *out);
static fbp_status read_box(const char *text, const char *at, struct fbp_region_shape *out);

static const struct word {
    const char *name;
    fbp_status (*read)(const char *text, const char *at, struct fbp_region_shape *out);
    const char *expected;
} words[] = {
    {"cylinder:", read_cylinder,
     "cylinder:R or cylinder:X,Y,R, along z, in mm, such as cylinder:100"},
    {"ball:", read_ball, "ball:X,Y,Z,R in mm, such as ball:0,0,10,25"},
    {"box:", read_box,
     "box:X0:X1,Y0:Y1,Z0:Z1 in mm, such as box:-20:20,-20:20,0:30 (an end that is left out is the "
     "edge of the volume)"},
};

static const struct word *word_of(const char *text)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncmp(text, words[i].name, strlen(words[i].name)) == 0)
            return &words[i];
    return NULL;
}

bool fbp_region_is_shape(const char *text)
{
    return word_of(text) != NULL;
}

static fbp_status not_a_shape(const char *text, const char *why)
{
    return fbp_fail(FBP_ERR_INVALID, "region: \"%.200s\" %s: expected %s", text, why,
                    word_of(text)->expected);
}

/* A number of mm as people write it: no "nan", "inf" or hexadecimal. */
static bool read_number(const char **at, double *out)
{
    const char *p = *at + (**at == '-' || **at == '+');
    char *end;

    if ((!isdigit((unsigned char)*p) && *p != '.') ||
        (p[0] == '0' && tolower((unsigned char)p[1]) == 'x'))
        return false;
    *out = fbp_number(*at, &end);
    const bool read = end > *at && fbp_in_range(&fbp_range_place, *out);
    *at = end;
    return read;
}

/* Up to `most` numbers with commas between them, and nothing behind; 0: it is something else. */
static size_t read_numbers(const char *at, size_t most, double *out)
{
    for (size_t n = 0; n < most; at++) {
        if (!read_number(&at, &out[n++]))
            return 0;
        if (*at != ',')
            return *at ? 0 : n;
    }
    return 0;
}

static fbp_status set_round(const char *text, const double *centre, size_t axes, double radius,
                            struct fbp_region_shape *out)
{
    if (!(radius > 0))
        return not_a_shape(text, "is empty, its radius is not above 0");
    for (size_t i = 0; i < axes; i++) {
        out->along[i] = true;
        out->centre[i] = centre[i];
    }
    out->radius = radius;
    return FBP_OK;
}

static fbp_status read_cylinder(const char *text, const char *at, struct fbp_region_shape *out)
{
    const double axis[2] = {0, 0};
    double x[3];
    const size_t n = read_numbers(at, 3, x);

    if (n != 1 && n != 3)
        return not_a_shape(text, "is not one or three numbers");
    return set_round(text, n == 1 ? axis : x, 2, x[n - 1], out);
}

static fbp_status read_ball(const char *text, const char *at, struct fbp_region_shape *out)
{
    double x[4];

    if (read_numbers(at, 4, x) != 4)
        return not_a_shape(text, "is not four numbers");
    return set_round(text, x, 3, x[3], out);
}

static fbp_status read_box(const char *text, const char *at, struct fbp_region_shape *out)
{
    for (int i = 0; i < 3; i++) {
        if (*at != ':' && !read_number(&at, &out->lo[i]))
            return not_a_shape(text, "is not three pairs of numbers");
        if (*at++ != ':')
            return not_a_shape(text, "is not three pairs of numbers");
        if (*at && *at != ',' && !read_number(&at, &out->hi[i]))
            return not_a_shape(text, "is not three pairs of numbers");
        if (*at != (i < 2 ? ',' : '\0'))
            return not_a_shape(text, "is not three pairs of numbers");
        at++;
        if (!(out->lo[i] <= out->hi[i]))
            return not_a_shape(text, "is empty, an end lies below its beginning");
    }
    return FBP_OK;
}

fbp_status fbp_region_read_shape(const char *text, struct fbp_region_shape *out)
{
    const struct word *word = word_of(text);

    *out = (struct fbp_region_shape){.lo = {-INFINITY, -INFINITY, -INFINITY},
                                     .hi = {INFINITY, INFINITY, INFINITY}};
    return word->read(text, text + strlen(word->name), out);
}

/* Is the point in the shape?  This decides; all else only looks for where it changes. */
static bool is_inside(const struct fbp_region_shape *s, const double p[3])
{
    double square = 0;

    for (int i = 0; i < 3; i++) {
        const double d = s->along[i] ? p[i] - s->centre[i] : 0;
        square += d * d;
        if (!(p[i] >= s->lo[i] && p[i] <= s->hi[i]))
            return false;
    }
    return square <= s->radius * s->radius;
}

/* The ends of a row's part, nearly: NaN or lo > hi if there is none. */
static void ends_of(const struct fbp_region_shape *s, const double p[3], double *lo, double *hi)
{
    double square = s->radius * s->radius;

    *lo = s->lo[0];
    *hi = s->hi[0];
    for (int i = 1; i < 3; i++)
        square -= s->along[i] ? (p[i] - s->centre[i]) * (p[i] - s->centre[i]) : 0;
    if (!s->along[0])
        return;
    /* A row that just touches the shape is looked at, too. */
    const double half = sqrt(fmax(square, 0));
    *lo = s->centre[0] - half;
    *hi = s->centre[0] + half;
}

/* The voxel at a place, within the row and a few beside it. */
static ptrdiff_t voxel_at(const struct fbp_grid *g, double mm, ptrdiff_t beside)
{
    const double at = (mm - fbp_grid_coordinate(g, 0, 0)) / g->voxel_mm[0] + (double)beside;
    const double last = (double)g->n[0] - 1;

    return (ptrdiff_t)floor(fmin(fmax(at, 0), last));
}

bool fbp_region_shape_row(const struct fbp_region_shape *s, const struct fbp_grid *g, size_t y,
                          size_t z, struct fbp_interval *out)
{
    double p[3] = {0, fbp_grid_coordinate(g, 1, (double)y), fbp_grid_coordinate(g, 2, (double)z)};
    double lo, hi;

    ends_of(s, p, &lo, &hi);
    ptrdiff_t first = voxel_at(g, lo, -2), last = voxel_at(g, hi, 2);
    for (; first <= last; first++) {
        p[0] = fbp_grid_coordinate(g, 0, (double)first);
        if (is_inside(s, p))
            break;
    }
    for (; last >= first; last--) {
        p[0] = fbp_grid_coordinate(g, 0, (double)last);
        if (is_inside(s, p))
            break;
    }
    *out = (struct fbp_interval){(uint32_t)first, (uint32_t)(last + 1)};
    return first <= last;
}
