/* A curve through points, as SVG. */
#include "fbp/picture.h"

#include "picture/svg_page.h"

#include "base/sizes.h"

#include <math.h>
#include <stdio.h>

enum { WIDTH = 720, HEIGHT = 420, LEFT = 90, RIGHT = 30, TOP = 56, BOTTOM = 60 };

struct chart {
    const struct fbp_curve *c;
    double x[2], y[2]; /* ranges of the axes */
};

static double x_of(const struct chart *d, double x)
{
    return LEFT + (WIDTH - LEFT - RIGHT) * (x - d->x[0]) / (d->x[1] - d->x[0]);
}

static double y_of(const struct chart *d, double y)
{
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (y - d->y[0]) / (d->y[1] - d->y[0]);
}

/* A round step of 1, 2 or 5 times a power of ten, about six of them an axis. */
static double round_step(const double range[2])
{
    const double want = (range[1] - range[0]) / 6, ten = pow(10, floor(log10(want)));
    return want / ten > 5 ? 10 * ten : want / ten > 2 ? 5 * ten : want / ten > 1 ? 2 * ten : ten;
}

/* Lines and numbers across the page (axis 0) or up it. */
static void draw_axis(FILE *f, const struct chart *d, int axis)
{
    const double *range = axis ? d->y : d->x, step = round_step(range);
    char words[40];

    for (double i = ceil(range[0] / step); i * step <= range[1] * (1 + 1e-12); i++) {
        const double v = i * step, x = axis ? LEFT : x_of(d, v), y = axis ? y_of(d, v) : TOP;
        fprintf(f, "<path d=\"M %.1f %.1f %s%d\" stroke=\"#e2e8f0\"/>\n", x, y, axis ? "h" : "v",
                axis ? WIDTH - LEFT - RIGHT : HEIGHT - TOP - BOTTOM);
        snprintf(words, sizeof words, "%.6g", fabs(v) < 1e-9 * step ? 0 : v);
        if (axis)
            fbp_svg_text(f, LEFT - 8, y + 4, "class=\"small\" text-anchor=\"end\"", words);
        else
            fbp_svg_text(f, x, HEIGHT - BOTTOM + 18, "class=\"small\" text-anchor=\"middle\"",
                         words);
    }
}

static void draw_best(FILE *f, const struct chart *d)
{
    char words[60];

    if (!(d->c->best >= d->x[0] && d->c->best <= d->x[1]))
        return;
    const double x = x_of(d, d->c->best);
    fprintf(f,
            "<path class=\"best\" d=\"M %.2f %d V %d\" stroke=\"#c53030\" "
            "stroke-dasharray=\"4 3\"/>\n",
            x, TOP, HEIGHT - BOTTOM);
    snprintf(words, sizeof words, "%.7g", d->c->best);
    fbp_svg_text(f, x, TOP - 6, "class=\"value\" text-anchor=\"middle\"", words);
}

static void draw(FILE *f, const void *user)
{
    const struct chart *d = user;
    const struct fbp_curve *c = d->c;
    char pen = 'M';

    fbp_svg_text(f, 20, 26, "class=\"head\"", c->title);
    draw_axis(f, d, 0);
    draw_axis(f, d, 1);
    fprintf(f, "<path fill=\"none\" stroke=\"#2b6cb0\" stroke-width=\"1.6\" d=\"");
    for (size_t i = 0; i < c->n; i++) {
        if (isfinite(c->y[i]))
            fprintf(f, "%c %.2f %.2f ", pen, x_of(d, c->x[i]), y_of(d, c->y[i]));
        pen = isfinite(c->y[i]) ? 'L' : 'M';
    }
    fprintf(f, "\"/>\n");
    for (size_t i = 0; i < c->n; i++)
        if (isfinite(c->y[i]))
            fprintf(f,
                    "<circle class=\"point\" cx=\"%.2f\" cy=\"%.2f\" r=\"2.6\" fill=\"#2b6cb0\">"
                    "<title>%.7g: %.7g</title></circle>\n",
                    x_of(d, c->x[i]), y_of(d, c->y[i]), c->x[i], c->y[i]);
    draw_best(f, d);
    fbp_svg_text(f, (WIDTH + LEFT - RIGHT) / 2.0, HEIGHT - 16,
                 "class=\"name\" text-anchor=\"middle\"", c->x_name);
    fbp_svg_text(f, 20, TOP - 10, "class=\"name\"", c->y_name);
}

static void widen(double range[2], double margin)
{
    const double length = range[1] - range[0];
    const double more = length > 0 ? margin * length : fmax(1e-3 * fabs(range[0]), 1e-6);

    range[0] -= more;
    range[1] += more;
}

fbp_status fbp_curve_svg(const struct fbp_curve *curve, const char *path)
{
    FBP_GIVEN(path);
    struct fbp_curve whole, *const c = &whole;
    struct chart d = {c, {INFINITY, -INFINITY}, {INFINITY, -INFINITY}};

    fbp_message_clear();
    FBP_TRY(FBP_TAKE(curve, c, curve));
    for (size_t i = 0; i < c->n; i++)
        if (isfinite(c->x[i]) && isfinite(c->y[i])) {
            d.x[0] = fmin(d.x[0], c->x[i]);
            d.x[1] = fmax(d.x[1], c->x[i]);
            d.y[0] = fmin(d.y[0], c->y[i]);
            d.y[1] = fmax(d.y[1], c->y[i]);
        }
    if (!(d.x[0] <= d.x[1]))
        return fbp_fail(FBP_ERR_INVALID, "%s: there are no points to draw", path);
    widen(d.x, 0.02);
    widen(d.y, 0.06);
    return fbp_svg_page(path, WIDTH, HEIGHT, draw, &d);
}
