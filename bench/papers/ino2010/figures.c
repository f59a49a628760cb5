/* Figures 3 and 4 of the paper: two charts over the number of devices. */
#include "bench/papers/ino2010/s2.h"

#include "base/base.h"
#include "picture/draw.h"

#include <math.h>
#include <stdio.h>

enum { WIDTH = 1180, HEIGHT = 470, LEFT = 76, CHART = 480, GAP = 130, TOP = 84, BOTTOM = 360 };
enum { POINTS = 3, KEY = 20 };

static const char *const colours[] = {"#2b6cb0", "#c53030", "#276749", "#b7791f", "#4a5568"};

/* One chart, and where it is. */
struct chart {
    const struct fbp_s2_chart *c;
    double left, lo, hi; /* of the page; range of the axis, of its logarithm if that is drawn */
};

struct page {
    const char *title;
    struct chart charts[2];
};

static double x_of(const struct chart *d, size_t i)
{
    return d->left + CHART * (0.12 + 0.38 * (double)i);
}

static double axis_of(const struct chart *d, double v)
{
    return d->c->logarithmic ? log10(v) : v;
}

static double y_of(const struct chart *d, double v)
{
    return BOTTOM - (BOTTOM - TOP) * (axis_of(d, v) - d->lo) / (d->hi - d->lo);
}

static bool is_drawn(const struct chart *d, double v)
{
    return isfinite(v) && (v > 0 || !d->c->logarithmic);
}

/* From 0 to above the greatest, or from a power of ten to another. */
static void find_range(struct chart *d)
{
    double least = INFINITY, most = 0;

    for (size_t s = 0; s < d->c->n; s++)
        for (size_t i = 0; i < POINTS; i++) {
            const double v = d->c->series[s].value[i];
            if (is_drawn(d, v)) {
                least = fmin(least, v);
                most = fmax(most, v);
            }
        }
    if (!(most > 0))
        least = 1, most = 10;
    d->lo = d->c->logarithmic ? floor(log10(least)) : 0;
    d->hi = d->c->logarithmic ? ceil(log10(most) + 0.05) : 1.12 * most;
}

static void draw_tick(FILE *f, const struct chart *d, double v)
{
    char words[40];
    const double y = y_of(d, v);

    fprintf(f, "<path d=\"M %.1f %.1f h%d\" stroke=\"#e2e8f0\"/>\n", d->left, y, CHART);
    snprintf(words, sizeof words, "%.6g", v);
    fbp_svg_text(f, d->left - 8, y + 4, "class=\"small\" text-anchor=\"end\"", words);
}

static void draw_axes(FILE *f, const struct chart *d)
{
    static const char *const counts[POINTS] = {"C = 1", "C = 2", "C = 4"};

    if (d->c->logarithmic) {
        for (double e = d->lo; e <= d->hi; e++)
            draw_tick(f, d, pow(10, e));
    } else {
        const double want = d->hi / 5, ten = pow(10, floor(log10(want)));
        const double step = want / ten > 5 ? 10 * ten : want / ten > 2 ? 5 * ten : 2 * ten;
        for (double v = 0; v <= d->hi; v += step)
            draw_tick(f, d, v);
    }
    for (size_t i = 0; i < POINTS; i++)
        fbp_svg_text(f, x_of(d, i), BOTTOM + 20, "class=\"name\" text-anchor=\"middle\"",
                     counts[i]);
    fbp_svg_text(f, d->left, TOP - 16, "class=\"name\"", d->c->title);
}

static void draw_points(FILE *f, const struct chart *d, size_t at)
{
    const struct fbp_s2_series *s = &d->c->series[at];
    const char *colour = colours[at % (sizeof colours / sizeof *colours)];
    char words[40];

    for (size_t i = 0; i < POINTS; i++) {
        const double v = s->value[i];
        if (!is_drawn(d, v))
            continue;
        fprintf(f,
                "<circle class=\"point\" cx=\"%.2f\" cy=\"%.2f\" r=\"4\" fill=\"%s\" "
                "stroke=\"%s\"><title>%s: %.6g</title></circle>\n",
                x_of(d, i), y_of(d, v), s->published ? "#ffffff" : colour, colour, s->name, v);
        snprintf(words, sizeof words, "%.3g", v);
        if (v >= 999.5)
            snprintf(words, sizeof words, "%.0f", v);
        fbp_svg_text(f, x_of(d, i) + 8, y_of(d, v) + (at % 2 ? 14 : -7), "class=\"small\"", words);
    }
}

static void draw_series(FILE *f, const struct chart *d, size_t at)
{
    const struct fbp_s2_series *s = &d->c->series[at];
    char pen = 'M';

    fprintf(f, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.6\"%s d=\"",
            colours[at % (sizeof colours / sizeof *colours)],
            s->published ? " stroke-dasharray=\"5 4\"" : "");
    for (size_t i = 0; i < POINTS; i++) {
        if (is_drawn(d, s->value[i]))
            fprintf(f, "%c %.2f %.2f ", pen, x_of(d, i), y_of(d, s->value[i]));
        pen = is_drawn(d, s->value[i]) ? 'L' : 'M';
    }
    fprintf(f, "\"/>\n");
    draw_points(f, d, at);
}

/* Which line is which, below the first chart and the second. */
static void draw_key(FILE *f, const struct chart *d, size_t at)
{
    const struct fbp_s2_series *s = &d->c->series[at];
    const double x = d->left + (at % 2 ? CHART / 2.0 : 0);
    const size_t line = at / 2;
    const double y = BOTTOM + 52 + KEY * (double)line;

    fprintf(f, "<path d=\"M %.1f %.1f h26\" stroke=\"%s\" stroke-width=\"1.6\"%s/>\n", x, y - 4,
            colours[at % (sizeof colours / sizeof *colours)],
            s->published ? " stroke-dasharray=\"5 4\"" : "");
    fbp_svg_text(f, x + 34, y, "class=\"small\"", s->name);
}

static void draw(FILE *f, const void *user)
{
    const struct page *p = user;

    fbp_svg_text(f, 20, 34, "class=\"head\"", p->title);
    for (size_t c = 0; c < 2; c++) {
        const struct chart *d = &p->charts[c];
        draw_axes(f, d);
        for (size_t i = 0; i < d->c->n; i++) {
            draw_series(f, d, i);
            draw_key(f, d, i);
        }
    }
}

fbp_status fbp_s2_draw(const char *path, const char *title, const struct fbp_s2_chart charts[2])
{
    struct page p = {.title = title};

    fbp_message_clear();
    for (size_t i = 0; i < 2; i++) {
        p.charts[i] = (struct chart){.c = &charts[i], .left = LEFT + (double)i * (CHART + GAP)};
        find_range(&p.charts[i]);
    }
    return fbp_svg_page(path, WIDTH, HEIGHT, draw, &p);
}
