/* Charts side by side as SVG: lines over linear or logarithmic axes.  Called by
 * bench/papers/ino2010/pictures.c and bench/papers/qiao2015/pictures.c.
 * Used by: bench/papers/ino2010/pictures.c, bench/papers/qiao2015/pictures.c. */
#include "bench/common/chart.h"

#include "base/base.h"
#include "picture/draw.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LEFT = 76, CHART = 470, GAP = 110, TOP = 84, BOTTOM = 400, KEY = 18, COLOURS = 6 };

static const char *const colours[COLOURS] = {"#2b6cb0", "#c53030", "#276749",
                                             "#b7791f", "#6b46c1", "#718096"};

/* Range of an axis; of the logarithms if `log`. */
struct axis {
    bool log;
    double lo, hi;
};

/* A chart, its left edge on the page, and its axes. */
struct chart {
    const struct bench_chart *c;
    double left;
    struct axis x, y;
};

struct page {
    const char *title;
    struct chart *charts;
    size_t n;
};

static double on(const struct axis *a, double v)
{
    return ((a->log ? log10(v) : v) - a->lo) / (a->hi - a->lo);
}

static double x_of(const struct chart *d, double v)
{
    return d->left + CHART * on(&d->x, v);
}

static double y_of(const struct chart *d, double v)
{
    return BOTTOM - (BOTTOM - TOP) * on(&d->y, v);
}

static bool is_on(const struct axis *a, double v)
{
    return isfinite(v) && (v > 0 || !a->log);
}

static bool is_drawn(const struct chart *d, const struct bench_series *s, size_t i)
{
    return is_on(&d->x, s->x[i]) && is_on(&d->y, s->y[i]);
}

static void take_in(struct axis *a, double v)
{
    a->lo = fmin(a->lo, a->log ? log10(v) : v);
    a->hi = fmax(a->hi, a->log ? log10(v) : v);
}

/* Widen an axis by a margin; a logarithmic y axis to whole powers of ten. */
static void finish_axis(struct axis *a, bool up)
{
    if (!(a->lo <= a->hi)) {
        a->lo = 0;
        a->hi = 1;
    }
    const double margin = a->hi > a->lo ? 0.05 * (a->hi - a->lo) : 0.5;
    a->lo -= margin;
    a->hi += margin;
    if (a->log && up) {
        a->lo = floor(a->lo);
        a->hi = ceil(a->hi);
    }
}

static void find_ranges(struct chart *d)
{
    d->x = (struct axis){d->c->log_x, INFINITY, -INFINITY};
    d->y = (struct axis){d->c->log_y, INFINITY, -INFINITY};
    for (size_t k = 0; k < d->c->n; k++)
        for (size_t i = 0; i < d->c->series[k].n; i++)
            if (is_drawn(d, &d->c->series[k], i)) {
                take_in(&d->x, d->c->series[k].x[i]);
                take_in(&d->y, d->c->series[k].y[i]);
            }
    finish_axis(&d->x, false);
    finish_axis(&d->y, true);
}

/* Draw a grid line and its number, below the chart (x) or on its left (y). */
static void draw_tick(FILE *f, const struct chart *d, bool up, double v)
{
    const double x = up ? d->left : x_of(d, v), y = up ? y_of(d, v) : TOP;
    char words[40];

    fprintf(f, "<path d=\"M %.1f %.1f %s%d\" stroke=\"#e2e8f0\"/>\n", x, y, up ? "h" : "v",
            up ? CHART : BOTTOM - TOP);
    snprintf(words, sizeof words, "%.6g", v == 0 ? 0 : v); /* no -0 */
    if (up)
        fbp_svg_text(f, x - 8, y + 4, "class=\"small\" text-anchor=\"end\"", words);
    else
        fbp_svg_text(f, x, BOTTOM + 18, "class=\"small\" text-anchor=\"middle\"", words);
}

/* Draw the ticks of an axis: at the points; at powers of ten (times 1, 2 and 5 if the range is
 * short); or in round steps. */
static void draw_axis(FILE *f, const struct chart *d, bool up)
{
    static const double steps[] = {1, 2, 5};
    const struct axis *a = up ? &d->y : &d->x;
    const bool own = d->c->ticks_at_points && !up;
    const bool wide = floor(a->hi) - ceil(a->lo) >= 2;

    for (double e = floor(a->lo); a->log && !own && e <= a->hi; e++)
        for (size_t k = 0; k < (wide ? 1 : 3); k++) {
            const double v = steps[k] * pow(10, e);
            if (log10(v) >= a->lo - 1e-9 && log10(v) <= a->hi + 1e-9)
                draw_tick(f, d, up, v);
        }
    for (size_t i = 0; own && d->c->n && i < d->c->series->n; i++)
        draw_tick(f, d, up, d->c->series->x[i]);
    if (a->log || own)
        return;
    const double want = (a->hi - a->lo) / 6, ten = pow(10, floor(log10(want)));
    const double step = want / ten > 5   ? 10 * ten
                        : want / ten > 2 ? 5 * ten
                        : want / ten > 1 ? 2 * ten
                                         : ten;
    for (double i = ceil(a->lo / step); i * step <= a->hi; i++)
        draw_tick(f, d, up, i * step);
}

static void draw_points(FILE *f, const struct chart *d, const struct bench_series *s,
                        const char *colour)
{
    char value[40];

    for (size_t i = 0; i < s->n && !s->bare; i++) {
        if (!is_drawn(d, s, i))
            continue;
        fprintf(f,
                "<circle class=\"point\" cx=\"%.2f\" cy=\"%.2f\" r=\"3.4\" fill=\"%s\" "
                "stroke=\"%s\"><title>%s: %.6g at %.6g</title></circle>\n",
                x_of(d, s->x[i]), y_of(d, s->y[i]), s->published ? "#ffffff" : colour, colour,
                s->name, s->y[i], s->x[i]);
        snprintf(value, sizeof value, s->y[i] >= 999.5 ? "%.0f" : "%.3g", s->y[i]);
        if (d->c->values)
            fbp_svg_text(f, x_of(d, s->x[i]) + 8, y_of(d, s->y[i]) + (s->colour % 2 ? 14 : -7),
                         "class=\"small\"", value);
    }
}

static void draw_series(FILE *f, const struct chart *d, const struct bench_series *s)
{
    const char *colour = colours[s->colour % COLOURS];
    char pen = 'M';

    fprintf(f, "<path class=\"line\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\"%s d=\"",
            colour, s->published ? " stroke-dasharray=\"5 4\"" : "");
    for (size_t i = 0; i < s->n; i++) {
        if (is_drawn(d, s, i))
            fprintf(f, "%c %.2f %.2f ", pen, x_of(d, s->x[i]), y_of(d, s->y[i]));
        pen = is_drawn(d, s, i) ? 'L' : 'M';
    }
    fprintf(f, "\"/>\n");
    draw_points(f, d, s, colour);
}

static void draw_key(FILE *f, const struct chart *d, size_t at)
{
    const struct bench_series *s = &d->c->series[at];
    const double x = d->left + (at % 2 ? CHART / 2.0 : 0);
    const size_t line = at / 2; /* two a line */
    const double y = BOTTOM + 58 + KEY * (double)line;

    fprintf(f, "<path d=\"M %.1f %.1f h26\" stroke=\"%s\" stroke-width=\"1.6\"%s/>\n", x, y - 4,
            colours[s->colour % COLOURS], s->published ? " stroke-dasharray=\"5 4\"" : "");
    fbp_svg_text(f, x + 34, y, "class=\"small\"", s->name);
}

static void draw(FILE *f, const void *user)
{
    const struct page *p = user;

    fbp_svg_text(f, 20, 34, "class=\"head\"", p->title);
    for (size_t k = 0; k < p->n; k++) {
        const struct chart *d = &p->charts[k];
        fbp_svg_text(f, d->left, TOP - 16, "class=\"name\"", d->c->title);
        fbp_svg_text(f, d->left + CHART / 2.0, BOTTOM + 36, "class=\"name\" text-anchor=\"middle\"",
                     d->c->x_name);
        draw_axis(f, d, false);
        draw_axis(f, d, true);
        for (size_t i = 0; i < d->c->n; i++) {
            draw_series(f, d, &d->c->series[i]);
            draw_key(f, d, i);
        }
    }
}

static int height_of(const struct page *p)
{
    size_t most = 0;

    for (size_t k = 0; k < p->n; k++)
        most = p->charts[k].c->n > most ? p->charts[k].c->n : most;
    return BOTTOM + 70 + KEY * (int)((most + 1) / 2);
}

fbp_status bench_chart_draw(const char *path, const char *title, const struct bench_chart *charts,
                            size_t n)
{
    struct page p = {.title = title, .n = n};

    fbp_message_clear();
    FBP_TRY(fbp_calloc((void **)&p.charts, n, sizeof *p.charts, "charts"));
    for (size_t i = 0; i < n; i++) {
        p.charts[i].c = &charts[i];
        p.charts[i].left = LEFT + (double)i * (CHART + GAP);
        find_ranges(&p.charts[i]);
    }
    const fbp_status st =
        fbp_svg_page(path, (int)(LEFT + n * CHART + (n - 1) * GAP + 40), height_of(&p), draw, &p);
    free(p.charts);
    return st;
}
