/* Draws Fig. 5 of Ino et al. (2009) as SVG: bars with the seconds of published and measured
 * systems. Called by pictures.c. */
#include "bench/papers/ino2009/s3.h"

#include "base/base.h"
#include "picture/draw.h"

#include <math.h>
#include <stdio.h>

enum { WIDTH = 860, LEFT = 170, RIGHT = 760, TOP = 72, STEP = 24, BAR = 16, BELOW = 56 };

struct page {
    const struct fbp_s3_bar *bars;
    size_t n;
    bool is_paper;
    double lo, hi; /* powers of ten */
};

static double x_of(const struct page *p, double seconds)
{
    return LEFT + (RIGHT - LEFT) * (log10(seconds) - p->lo) / (p->hi - p->lo);
}

static void find_range(struct page *p)
{
    double least = INFINITY, most = 0;

    for (size_t i = 0; i < p->n; i++) {
        least = fmin(least, p->bars[i].seconds);
        most = fmax(most, p->bars[i].seconds);
    }
    p->lo = ceil(log10(least)) - 1;
    p->hi = ceil(log10(most) + 0.02);
}

static double bottom_of(const struct page *p)
{
    return TOP + STEP * (double)p->n;
}

static void draw_axis(FILE *f, const struct page *p)
{
    for (double e = p->lo; e <= p->hi; e++) {
        char words[40];
        const double x = x_of(p, pow(10, e));
        fprintf(f, "<path d=\"M %.1f %d V %.1f\" stroke=\"#e2e8f0\"/>\n", x, TOP - 8, bottom_of(p));
        snprintf(words, sizeof words, "%g s", pow(10, e));
        fbp_svg_text(f, x, bottom_of(p) + 18, "class=\"small\" text-anchor=\"middle\"", words);
    }
}

static void draw_bar(FILE *f, const struct page *p, size_t i)
{
    const struct fbp_s3_bar *b = &p->bars[i];
    const double y = TOP + STEP * (double)i;
    char words[40];

    fbp_svg_text(f, LEFT - 10, y + 12, "class=\"name\" text-anchor=\"end\"", b->name);
    fprintf(f,
            "<rect class=\"bar\" x=\"%d\" y=\"%.1f\" width=\"%.2f\" height=\"%d\" fill=\"%s\" "
            "stroke=\"#2b6cb0\"><title>%s: %.4g s</title></rect>\n",
            LEFT, y, x_of(p, b->seconds) - LEFT, BAR, b->published ? "#ffffff" : "#2b6cb0", b->name,
            b->seconds);
    snprintf(words, sizeof words, "%.3g", b->seconds);
    fbp_svg_text(f, x_of(p, b->seconds) + 6, y + 12, "class=\"value\"", words);
}

static void draw(FILE *f, const void *user)
{
    const struct page *p = user;

    fbp_svg_text(f, 20, 34, "class=\"head\"",
                 "Fig. 5: seconds of the whole job, without synchronisation");
    if (!p->is_paper)
        fbp_svg_text(f, 20, 52, "class=\"small\"",
                     "Published bars: 512^3 voxels from 360 views. Bars named now: another job.");
    draw_axis(f, p);
    for (size_t i = 0; i < p->n; i++)
        draw_bar(f, p, i);
}

fbp_status fbp_s3_draw(const char *path, bool is_paper, const struct fbp_s3_bar *bars, size_t n)
{
    struct page p = {.bars = bars, .n = n, .is_paper = is_paper};

    fbp_message_clear();
    find_range(&p);
    return fbp_svg_page(path, WIDTH, (int)bottom_of(&p) + BELOW, draw, &p);
}
