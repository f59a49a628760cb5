#include "picture/bars.h"

#include "picture/svg_page.h"

#include <math.h>
#include <stdlib.h>

enum { LEFT = 110, RIGHT = 25, TOP = 60, BOTTOM = 40, WIDTH = 1400, LANE = 36, BAR = 26 };

struct chart {
    const char *title;
    const char *const *lanes;
    size_t n_lanes;
    const struct fbp_bar *bars;
    size_t n_bars;
    double seconds; /* the axis' end */
};

static bool has_bars(const struct chart *c, size_t lane)
{
    for (size_t i = 0; i < c->n_bars; i++)
        if (c->bars[i].lane == lane)
            return true;
    return false;
}

/* Lanes with bars before this one. */
static size_t place_of(const struct chart *c, size_t lane)
{
    size_t n = 0;

    for (size_t i = 0; i < lane; i++)
        n += has_bars(c, i);
    return n;
}

static double x_of(const struct chart *c, double seconds)
{
    return LEFT + (WIDTH - LEFT - RIGHT) * seconds / c->seconds;
}

static double y_of(const struct chart *c, size_t lane)
{
    return TOP + LANE * (double)place_of(c, lane);
}

/* A round step of 1, 2 or 5 times a power of ten, about ten of them an axis. */
static double step_of(double seconds)
{
    const double want = seconds / 10, ten = pow(10, floor(log10(want)));
    return want / ten >= 5 ? 10 * ten : want / ten >= 2 ? 5 * ten : want / ten > 1 ? 2 * ten : ten;
}

static void draw_axis(FILE *f, const struct chart *c)
{
    const double step = step_of(c->seconds), bottom = y_of(c, c->n_lanes);
    char words[40];

    for (size_t i = 0; (double)i * step <= c->seconds; i++) {
        const double x = x_of(c, (double)i * step);
        fprintf(f, "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#e2e8f0\"/>\n", x,
                TOP - 8, x, bottom);
        snprintf(words, sizeof words, "%g ms", 1e3 * (double)i * step);
        fbp_svg_text(f, x, bottom + 16, "class=\"small\" text-anchor=\"middle\"", words);
    }
}

static void draw_bar(FILE *f, const struct chart *c, const struct fbp_bar *b)
{
    static const char *const colours[][2] = {{"#718096", "#a0aec0"}, {"#b7791f", "#d69e2e"},
                                             {"#2b6cb0", "#4299e1"}, {"#6b46c1", "#9f7aea"},
                                             {"#276749", "#48bb78"}, {"#c53030", "#f56565"},
                                             {"#2c7a7b", "#38b2ac"}};
    enum { N = sizeof colours / sizeof *colours };
    const double x = x_of(c, b->begin), width = fmax(x_of(c, b->end) - x, 0.3);

    fprintf(f,
            "<rect class=\"bar\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%d\" "
            "fill=\"%s\"><title>%s: %s, %.3f to %.3f ms</title></rect>\n",
            x, y_of(c, b->lane) + (LANE - BAR) / 2.0, width, BAR,
            colours[b->lane % N][b->shade % 2], c->lanes[b->lane], b->words, 1e3 * b->begin,
            1e3 * b->end);
}

static void draw(FILE *f, const void *user)
{
    const struct chart *c = user;

    fbp_svg_text(f, 20, 30, "class=\"head\"", c->title);
    draw_axis(f, c);
    for (size_t lane = 0; lane < c->n_lanes; lane++)
        if (has_bars(c, lane))
            fbp_svg_text(f, 20, y_of(c, lane) + LANE / 2.0 + 4, "class=\"name\"", c->lanes[lane]);
    for (size_t i = 0; i < c->n_bars; i++)
        draw_bar(f, c, &c->bars[i]);
}

fbp_status fbp_bars_svg(const char *path, const char *title, const char *const *lanes,
                        size_t n_lanes, const struct fbp_bar *bars, size_t n_bars)
{
    struct chart c = {title, lanes, n_lanes, bars, n_bars, 1e-6};

    for (size_t i = 0; i < n_bars; i++)
        c.seconds = fmax(c.seconds, bars[i].end);
    const int height = (int)y_of(&c, n_lanes) + BOTTOM;
    return fbp_svg_page(path, WIDTH, height, draw, &c);
}
