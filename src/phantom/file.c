/* Phantom files: which format, and the project's own one. */
#include "phantom/file.h"

#include "array/file/bytes.h"
#include "base/mem.h"
#include "base/vec.h"
#include "phantom/euler.h"

#include <string.h>

enum { LARGEST_TEXT = 16 << 20 };

#define A_LINE "a line is x y z a b c turn density, in mm and degrees"

/* A line has 8 numbers, or 10 with three turns; and one more, m. */
enum { SIMPLE = 8, TURNED = 10, MOST = 11 };

/* Numbers of a line into v[]; how many there were. */
static fbp_status numbers_of_line(struct fbp_phantom_text *text, double v[MOST], int *n)
{
    *n = 0;
    for (;;) {
        double x;
        text->at += strspn(text->at, " \t\r,");
        if (*text->at == '\0' || *text->at == '\n' || *text->at == '#')
            return FBP_OK;
        if (fbp_phantom_number(text, &x) != FBP_OK) {
            fbp_message_clear();
            return fbp_phantom_wrong(text, "not a number: " A_LINE ", # starts a comment");
        }
        if (*n < MOST)
            v[*n] = x;
        ++*n;
    }
}

/* What a plain ellipsoid does not have: turns about other axes, and a density that falls. */
static fbp_status add_turned(struct fbp_phantom_text *text, const double *v, const double turns[3],
                             double density, double m)
{
    struct fbp_shape s = {.kind = m > 0 ? FBP_SHAPE_SOFT : FBP_SHAPE_ELLIPSOID,
                          .centre_mm = {v[0], v[1], v[2]},
                          .half_mm = {v[3], v[4], v[5]},
                          .range = {m},
                          .density = density};

    if (!(m >= 0 && m <= FBP_PHANTOM_M_MAX && m == floor(m)))
        return fbp_phantom_wrong(text,
                                 "m = %g: the density falls as (1 - q)^m, m being a whole number "
                                 "from 0 to %d",
                                 m, FBP_PHANTOM_M_MAX);
    fbp_euler_axes(turns, s.axes);
    return fbp_phantom_add_shape(text, &s);
}

static fbp_status add_line(struct fbp_phantom_text *text, const double v[MOST], int n)
{
    const bool turned = n >= TURNED;
    const double rad = FBP_PI / 180;
    const double turns[3] = {v[6] * rad, turned ? v[7] * rad : 0, turned ? v[8] * rad : 0};
    const double density = v[turned ? 9 : 7], m = n > SIMPLE && n != TURNED ? v[n - 1] : 0;

    if (!(v[3] > 0 && v[4] > 0 && v[5] > 0))
        return fbp_phantom_wrong(text, "half axes %g %g %g mm: all three must be positive", v[3],
                                 v[4], v[5]);
    if (n != SIMPLE)
        return add_turned(text, v, turns, density, m);
    return fbp_phantom_add(
        text, &(struct fbp_ellipsoid){{v[0], v[1], v[2]}, {v[3], v[4], v[5]}, v[6], density});
}

static fbp_status read_lines(struct fbp_phantom_text *text)
{
    double v[MOST];
    int n;

    for (fbp_phantom_skip(text); *text->at; fbp_phantom_skip(text)) {
        FBP_TRY(numbers_of_line(text, v, &n));
        if (n < SIMPLE || n > MOST)
            return fbp_phantom_wrong(text,
                                     "%d numbers: " A_LINE ": 8; with turns about z, x and z: 10; "
                                     "with m behind the density, for (1 - q)^m: one more",
                                     n);
        FBP_TRY(add_line(text, v, n));
    }
    return FBP_OK;
}

static const struct fbp_phantom_format lines = {
    .read = read_lines,
    .nothing = "no ellipsoids: write a line x y z a b c turn density for each",
};

/* The format by the first line that begins with a mark. */
static const struct fbp_phantom_format *format_of(const char *text)
{
    static const struct fbp_phantom_format *const marked[] = {&fbp_phantom_rtk, &fbp_phantom_leap};

    for (const char *line = text; *line; line += *line == '\n') {
        line += strspn(line, " \t\r");
        for (size_t i = 0; i < sizeof marked / sizeof *marked; i++)
            if (*line == marked[i]->mark)
                return marked[i];
        line += strcspn(line, "\n");
    }
    return &lines;
}

fbp_status fbp_phantom_load(struct fbp_phantom *out, const char *path, double scale)
{
    char *content = NULL;
    size_t n = 0;

    FBP_TRY(fbp_read_text(path, LARGEST_TEXT, &content, &n));
    const struct fbp_phantom_format *format = format_of(content);
    struct fbp_phantom_text text = {
        .path = path, .at = content, .line = 1, .scale = scale, .out = out};
    fbp_status st = format->read(&text);
    if (st == FBP_OK && (size_t)(text.at - content) < n)
        st = fbp_phantom_wrong(&text, "a byte of value 0: this is no text file");
    if (st == FBP_OK && out->n + out->n_shapes == 0)
        st = fbp_fail(FBP_ERR_INVALID, "%s: %s", path, format->nothing);
    free(content);
    return st;
}
