/* What a fragment costs, counted in its shader's text (bench/papers/ino2009/s3.h says how). */
#include "bench/gl/s3_plan.h"

#include <stdlib.h>
#include <string.h>

enum { FETCH = 11, DOT = 7 };

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Of one line: operators stand between blanks, and count once a component of the line's type. */
static double count_line(const char *line, const char *end)
{
    while (*line == ' ')
        line++;
    const double width = begins(line, "vec4 ") ? 4 : 1;
    double n = 0;
    for (const char *p = line; p + 2 < end; p++) {
        if (p[0] == ' ' && p[2] == ' ' && strchr("+-*/", p[1]))
            n += width;
        if (begins(p, "dot("))
            n += DOT;
    }
    return n;
}

/* Of the body of a function. */
static double count_body(const char *text, const char *head)
{
    const char *at = strstr(text, head);
    double n = 0;

    at = at ? strstr(at, "{\n") : NULL;
    while (at && *at != '}') {
        const char *line = strchr(at, '\n') + 1, *end = strchr(line, '\n');
        n += count_line(line, end);
        at = line;
    }
    return n;
}

void gl_s3_cost(const struct fbp_s3_way *way, struct fbp_s3_cost *out)
{
    const struct fbp_s3_variant *v = gl_s3_variant(way->variant);
    const double texel = gl_s3_texel(v) * (way->half ? 2.0 : sizeof(float));
    char *text = malloc(GL_S3_TEXT);

    *out = (struct fbp_s3_cost){0};
    if (!text) /* then nothing is known */
        return;
    gl_s3_fragment_text(way, text);
    out->updates = v->views * v->slices;
    out->processing = count_body(text, "void main()");
    if (way->sum == FBP_S3_BLEND)
        out->processing += v->slices;
    if (way->exact)
        out->processing += out->updates * count_body(text, "float bilinear(");
    out->texture = way->exact ? 0 : FETCH * (double)out->updates;
    out->bytes = texel * out->updates + 2.0 * sizeof(float) * v->slices;
    free(text);
}
