/* Writes SVG drawings: the geometry of a scan (fbp_scan_draw(), public), the directions of plane
 * integrals on a sphere, curves (fbp_curve_svg()), and bars over time (fbp_bars_svg()); also text
 * and pages for other drawings.
 * Used by: bench/common/, bench/papers/ino2009/, cli/, pipeline/. */
#include "picture/draw.h"

#include "geometry/kind.h"
#include "scan/file/scan.h"
#include "scan/file/text.h"

#include "base/math.h"
#include "base/text.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void fbp_svg_text(FILE *f, double x, double y, const char *style, const char *words)
{
    fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" %s>%s</text>\n", x, y, style, words);
}

fbp_status fbp_svg_page(const char *path, int width, int height, fbp_svg_draw *draw,
                        const void *user)
{
    struct fbp_writer w;

    FBP_TRY(fbp_writer_open(&w, path));
    fprintf(w.f,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\" font-family=\"Helvetica, Arial, sans-serif\">\n"
            "<style>text{fill:#2d3748} .head{font-size:15px;font-weight:bold} "
            ".small{font-size:11px} .name{font-size:12px;fill:#718096} "
            ".value{font-size:12px}</style>\n"
            "<rect width=\"%d\" height=\"%d\" fill=\"#fcfcfa\"/>\n",
            width, height, width, height, width, height);
    draw(w.f, user);
    fprintf(w.f, "</svg>\n");
    return fbp_writer_close(&w, FBP_OK);
}

/* Legend of a drawing: lines with a name and a text; y: position of the next line [pixels]. */
struct legend {
    FILE *f;
    double y;
};

static void __attribute__((format(printf, 3, 4)))
legend_line(struct legend *l, const char *name, const char *fmt, ...)
{
    char words[200];

    FBP_PRINT_ARGUMENTS(words, sizeof words, fmt);
    fbp_svg_text(l->f, 540, l->y, "class=\"name\"", name);
    fbp_svg_text(l->f, 690, l->y, "class=\"value\"", words);
    l->y += 19;
}

static void legend_volume(struct legend *l, const struct fbp_grid *g, bool inside,
                          const char *warning)
{
    if (!g)
        return;
    legend_line(l, "volume", "%zu &#215; %zu &#215; %zu voxels of %.4g &#215; %.4g &#215; %.4g mm",
                g->n[0], g->n[1], g->n[2], g->voxel_mm[0], g->voxel_mm[1], g->voxel_mm[2]);
    if (!inside)
        legend_line(l, "", "%s", warning);
}

/* Drawing of a scan geometry: conversion of world [mm] to page [pixels]. */

enum { WIDTH = 1000, HEIGHT = 620, MOST_DOTS = 720 };

/* One of the two parts of the drawing (seen from above, seen from the side): two directions in the
 * world, to the right and up, and a position on the page. */
struct frame {
    double right[3], up[3];
    double lo[2], hi[2]; /* world range that is drawn, mm */
    double x0, y0;       /* page position of world (0, 0) */
};

struct drawing {
    FILE *f;
    struct fbp_views of;         /* views of the scan */
    const struct fbp_grid *grid; /* volume; NULL: none */
    const struct fbp_geometry_facts *facts;
    bool source; /* the beam has a source; false: parallel */
    double far;  /* parallel rays: distance from the iso-centre at which sources are drawn [mm] */
    double px;   /* pixels per millimetre */
};

/* Get the direction of length 1 from the iso-centre to the source of view k. */
static void towards_source(const struct drawing *d, size_t k, double out[3])
{
    memcpy(out, d->of.view[k].s, 3 * sizeof *out);
    fbp_normalise(out);
}

/* Get the source position of view k; for parallel rays, the point at distance d->far from the
 * iso-centre in the direction of the source. */
static void source_of(const struct drawing *d, size_t k, double out[3])
{
    double towards[3];

    towards_source(d, k, towards);
    for (int i = 0; i < 3; i++)
        out[i] = d->source ? d->of.view[k].s[i] : d->far * towards[i];
}

static void to_page(const struct drawing *d, const struct frame *fr, const double x[3],
                    double out[2])
{
    out[0] = fr->x0 + d->px * fbp_dot(x, fr->right);
    out[1] = fr->y0 - d->px * fbp_dot(x, fr->up);
}

static void include_point(struct frame *fr, const double x[3])
{
    const double p[2] = {fbp_dot(x, fr->right), fbp_dot(x, fr->up)};

    for (int i = 0; i < 2; i++) {
        fr->lo[i] = fmin(fr->lo[i], p[i]);
        fr->hi[i] = fmax(fr->hi[i], p[i]);
    }
}

static void include_volume(const struct drawing *d, struct frame *fr)
{
    const struct fbp_grid *g = d->grid;
    double x[3];

    for (int corner = 0; g && corner < 8; corner++) {
        for (int a = 0; a < 3; a++)
            x[a] =
                g->centre_mm[a] + ((corner >> a & 1) ? .5 : -.5) * (double)g->n[a] * g->voxel_mm[a];
        include_point(fr, x);
    }
}

/* Get a point of the first view's panel; c, r: from -1 to 1 between the panel's edges. With
 * parallel rays, the point is moved along the rays to behind the object, because the distance of
 * the panel is arbitrary. */
static void panel_point(const struct drawing *d, double c, double r, double out[3])
{
    const struct fbp_view *v = &d->of.view[0];
    double towards[3];

    fbp_axpy(v->d, c * (double)d->of.panel.n_columns / 2, v->u, out);
    fbp_axpy(out, r * (double)d->of.panel.n_rows / 2, v->v, out);
    towards_source(d, 0, towards);
    if (!d->source)
        fbp_axpy(out, -(fbp_dot(out, towards) + d->far), towards, out);
}

/* Get the start of the ray to a point `edge` of the first view's panel: the source or, with
 * parallel rays, a point on the source side of the object. */
static void ray_start(const struct drawing *d, const double edge[3], double out[3])
{
    double towards[3];

    towards_source(d, 0, towards);
    if (!d->source)
        fbp_axpy(edge, 2 * d->far, towards, out);
    else
        source_of(d, 0, out);
}

/* Set the drawn range fr->lo to fr->hi [mm] so that volume, field of view, and panel, rays and
 * source of the first view (every_source: the sources of all views) are visible. */
static void include_all(const struct drawing *d, struct frame *fr, bool every_source)
{
    double x[3];

    fr->lo[0] = fr->lo[1] = DBL_MAX;
    fr->hi[0] = fr->hi[1] = -DBL_MAX;
    for (size_t k = 0; k < (every_source ? d->of.n : 1); k++) {
        source_of(d, k, x);
        include_point(fr, x);
    }
    for (int i = 0; i < 4; i++) {
        panel_point(d, i & 1 ? 1 : -1, i & 2 ? 1 : -1, x);
        include_point(fr, x);
        ray_start(d, x, x);
        include_point(fr, x);
    }
    include_volume(d, fr);
    for (int i = 0; i < 2; i++) {
        const double r = i ? d->facts->fov_radius_mm : -d->facts->fov_radius_mm;
        const double corner[3] = {fr->right[0] * r, fr->right[1] * r,
                                  d->facts->fov_half_height_mm[i]};
        include_point(fr, corner);
    }
}

static void line(const struct drawing *d, const struct frame *fr, const double a[3],
                 const double b[3], const char *style)
{
    double p[2], q[2];
    to_page(d, fr, a, p);
    to_page(d, fr, b, q);
    fprintf(d->f, "<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" %s/>\n", p[0], p[1], q[0],
            q[1], style);
}

/* Write text at a distance of (dx, dy) pixels from a point in world coordinates. */
static void label(const struct drawing *d, const struct frame *fr, const double at[3], double dx,
                  double dy, const char *words)
{
    double p[2];
    to_page(d, fr, at, p);
    fbp_svg_text(d->f, p[0] + dx, p[1] + dy, "class=\"small\"", words);
}

/* Draw the outer rays and the panel of the first view, projected onto the plane of the drawing,
 * with an arrow along detector axis u or v beside the panel. */
static void draw_panel(const struct drawing *d, const struct frame *fr, bool along_u)
{
    static const char thin[] = "stroke=\"#b7791f\" stroke-width=\"0.8\" stroke-opacity=\"0.8\"";
    double away[3];
    double a[3], b[3], from[3], tip[3], p[2];

    panel_point(d, along_u ? -1 : 0, along_u ? 0 : -1, a);
    panel_point(d, along_u ? 1 : 0, along_u ? 0 : 1, b);
    ray_start(d, a, from);
    line(d, fr, from, a, thin);
    ray_start(d, b, from);
    line(d, fr, from, b, thin);
    line(d, fr, a, b, "stroke=\"#276749\" stroke-width=\"3\"");

    towards_source(d, 0, away);
    for (int i = 0; i < 3; i++) {
        from[i] = (a[i] + b[i]) / 2 - 9 / d->px * away[i];
        tip[i] = from[i] + .25 * (b[i] - a[i]);
    }
    line(d, fr, from, tip, "stroke=\"#276749\" stroke-width=\"1.4\" marker-end=\"url(#tip)\"");
    fbp_axpy(tip, -11 / d->px, away, tip);
    to_page(d, fr, tip, p);
    fbp_svg_text(d->f, p[0], p[1] + 4, "class=\"small\" text-anchor=\"middle\"",
                 along_u ? "u" : "v");
}

static void draw_box(const struct drawing *d, const struct frame *fr)
{
    struct frame box = *fr;

    if (!d->grid)
        return;
    box.lo[0] = box.lo[1] = DBL_MAX;
    box.hi[0] = box.hi[1] = -DBL_MAX;
    include_volume(d, &box);
    fprintf(d->f,
            "<rect class=\"volume\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" "
            "fill=\"#2b6cb0\" fill-opacity=\"0.14\" stroke=\"#2b6cb0\"/>\n",
            fr->x0 + d->px * box.lo[0], fr->y0 - d->px * box.hi[1], d->px * (box.hi[0] - box.lo[0]),
            d->px * (box.hi[1] - box.lo[1]));
}

static void draw_cross(const struct drawing *d, const struct frame *fr)
{
    fprintf(d->f, "<path d=\"M %.2f %.2f h 10 m -5 -5 v 10\" stroke=\"#2d3748\" fill=\"none\"/>\n",
            fr->x0 - 5, fr->y0);
    fbp_svg_text(d->f, fr->x0 + 7, fr->y0 - 6, "class=\"small\"", "iso-centre");
}

/* Draw the scan as seen from above (+z): volume, field of view, panel of the first view, sources,
 * direction of rotation. */
static void draw_top(const struct drawing *d, const struct frame *fr)
{
    const size_t step = (d->of.n + MOST_DOTS - 1) / MOST_DOTS;
    const double *s = d->of.view[0].s;
    double x[3], p[2], q[2];

    draw_box(d, fr);
    fprintf(d->f,
            "<circle class=\"fov\" cx=\"%.2f\" cy=\"%.2f\" r=\"%.2f\" fill=\"none\" "
            "stroke=\"#718096\" stroke-dasharray=\"4 3\"/>\n",
            fr->x0, fr->y0, d->px * d->facts->fov_radius_mm);
    draw_panel(d, fr, true);

    for (size_t k = 0; k < d->of.n; k += step) {
        const double t = d->of.n > 1 ? (double)k / (double)(d->of.n - 1) : 0;
        source_of(d, k, x);
        to_page(d, fr, x, p);
        fprintf(d->f, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"%s\" fill=\"rgb(%.0f,%.0f,%.0f)\"/>\n",
                p[0], p[1], k == 0 ? "4.5" : "1.6", 43 + t * 178, 108 - t * 1, 176 - t * 144);
    }
    source_of(d, 0, x);
    label(d, fr, x, 8, -8, d->source ? "first source" : "first direction");

    if (d->facts->direction != 0) {
        /* Draw an arc inside the circle of sources, with an arrow in the direction of rotation. */
        const double t0 = atan2(s[1], s[0]), turn = .5 * d->facts->direction;
        const double r = .86 * hypot(x[0], x[1]);
        to_page(d, fr, (double[]){r * cos(t0 + .1 * turn), r * sin(t0 + .1 * turn), 0}, p);
        to_page(d, fr, (double[]){r * cos(t0 + turn), r * sin(t0 + turn), 0}, q);
        fprintf(d->f,
                "<path d=\"M %.2f %.2f A %.2f %.2f 0 0 %d %.2f %.2f\" fill=\"none\" "
                "stroke=\"#2d3748\" stroke-width=\"1.4\" marker-end=\"url(#tip)\"/>\n",
                p[0], p[1], r * d->px, r * d->px, d->facts->direction > 0 ? 0 : 1, q[0], q[1]);
    }
    draw_cross(d, fr);
}

/* Draw the scan as seen from the side: volume, field of view, rotation axis, and the panel and
 * source of the first view. */
static void draw_side(const struct drawing *d, const struct frame *fr)
{
    const double *z = d->facts->fov_half_height_mm, r = d->facts->fov_radius_mm;
    double source[3], p[2];

    draw_box(d, fr);
    fprintf(d->f,
            "<rect class=\"fov\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" "
            "fill=\"none\" stroke=\"#718096\" stroke-dasharray=\"4 3\"/>\n",
            fr->x0 - d->px * r, fr->y0 - d->px * z[1], 2 * d->px * r, d->px * fmax(0, z[1] - z[0]));
    line(d, fr, (double[]){0, 0, fr->lo[1]}, (double[]){0, 0, fr->hi[1]},
         "stroke=\"#a0aec0\" stroke-width=\"0.8\" stroke-dasharray=\"6 3 1 3\"");
    draw_panel(d, fr, false);
    line(d, fr, (double[]){0, 0, z[0]}, (double[]){0, 0, z[1]},
         "stroke=\"#c53030\" stroke-width=\"2.5\"");
    source_of(d, 0, source);
    to_page(d, fr, source, p);
    fprintf(d->f, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"4.5\" fill=\"rgb(43,108,176)\"/>\n", p[0],
            p[1]);
    label(d, fr, source, -2, -10, d->source ? "source" : "rays");
    draw_cross(d, fr);
}

/* Format a range of lengths [mm], for example as "600" or "599.1 to 601.2". */
static void range_words(char *out, size_t n, const double range[2])
{
    if (range[1] - range[0] < 5e-3)
        snprintf(out, n, "%.6g", range[0]);
    else
        snprintf(out, n, "%.6g to %.6g", range[0], range[1]);
}

static void draw_legend(const struct drawing *d)
{
    static const char *const coverage[] = {"full scan", "short scan", "partial: too few views"};
    static const char *const turning[] = {"clockwise", "unordered", "counter-clockwise"};
    const struct fbp_geometry_facts *f = d->facts;
    const double deg = 180 / FBP_PI, theta = deg * atan2(d->of.view[0].s[1], d->of.view[0].s[0]);
    struct legend l = {d->f, 400};
    char range[64];

    if (d->source) {
        range_words(range, sizeof range, f->sod_mm);
        legend_line(&l, "source to axis (SOD)", "%s mm", range);
        range_words(range, sizeof range, f->sdd_mm);
        legend_line(&l, "source to panel (SDD)", "%s mm, magnification %.4g", range,
                    f->magnification);
    }
    legend_line(&l, "views", "%zu over %.6g&#176;, %s", d->of.n, f->arc_rad * deg,
                turning[f->direction + 1]);
    legend_line(&l, "coverage", "%s%s", coverage[f->coverage],
                f->offset ? ", offset detector" : "");
    legend_line(&l, "first view", "&#952; = %.6g&#176;  (&#945; = &#952; + 90&#176; = %.6g&#176;)",
                theta, theta + 90);
    legend_line(&l, "panel", "%zu &#215; %zu pixels of %.5g &#215; %.5g mm", d->of.panel.n_columns,
                d->of.panel.n_rows, fbp_norm(d->of.view[0].u), fbp_norm(d->of.view[0].v));
    legend_line(&l, "field of view", "radius %.5g mm, z on the axis %.5g to %.5g mm",
                f->fov_radius_mm, f->fov_half_height_mm[0], f->fov_half_height_mm[1]);
    legend_volume(&l, d->grid, f->volume_inside, "the volume leaves the field of view");
}

/* Set the page position of one of the two parts of the drawing: centre its drawn range in the box
 * with upper left corner (x, y) and size w x h [pixels]. */
static void place(const struct drawing *d, struct frame *fr, double x, double y, double w, double h)
{
    fr->x0 = x + w / 2 - d->px * (fr->lo[0] + fr->hi[0]) / 2;
    fr->y0 = y + h / 2 + d->px * (fr->lo[1] + fr->hi[1]) / 2;
}

/* Get the greatest scale [pixels per mm] at which a part of the drawing fits into w x h pixels. */
static double fit(const struct frame *fr, double w, double h)
{
    return fmin(w / fmax(fr->hi[0] - fr->lo[0], 1e-9), h / fmax(fr->hi[1] - fr->lo[1], 1e-9));
}

static void draw_geometry(FILE *file, const void *user)
{
    struct drawing drawing = *(const struct drawing *)user, *const d = &drawing;
    const double *s = d->of.view[0].s, h = hypot(s[0], s[1]);
    struct frame top = {.right = {1, 0, 0}, .up = {0, 1, 0}};
    struct frame side = {.right = {-1, 0, 0}, .up = {0, 0, 1}};

    d->f = file;
    for (int i = 0; h > 0 && i < 2; i++)
        side.right[i] = -s[i] / h;
    d->far = 0;
    if (!d->source) {
        /* With parallel rays, sources are drawn a little farther from the iso-centre than the panel
         * corners and the edge of the field of view. */
        double most = d->facts->fov_radius_mm, x[3];
        for (int i = 0; i < 4; i++) {
            panel_point(d, i & 1 ? 1 : -1, i & 2 ? 1 : -1, x);
            most = fmax(most, fbp_norm(x));
        }
        d->far = most > 0 ? 1.1 * most : 1;
    }
    include_all(d, &top, true);
    include_all(d, &side, false);
    d->px = fmin(fit(&top, 440, 470), fit(&side, 410, 240));
    place(d, &top, 30, 70, 440, 470);
    place(d, &side, 550, 80, 410, 240);
    fprintf(d->f,
            "<defs><marker id=\"tip\" markerWidth=\"9\" markerHeight=\"8\" refX=\"7\" refY=\"4\" "
            "orient=\"auto\" markerUnits=\"userSpaceOnUse\">"
            "<path d=\"M 0 0 L 9 4 L 0 8 z\" fill=\"#2d3748\"/></marker></defs>\n");
    fbp_svg_text(d->f, 30, 38, "class=\"head\"", "Seen from +z (x right, y up)");
    fbp_svg_text(d->f, 540, 38, "class=\"head\"", "Seen from the side (z up), first view");
    draw_top(d, &top);
    draw_side(d, &side);

    /* Draw a scale bar of 1, 2 or 5 times a power of ten [mm], 40 to 100 pixels long. */
    const double y = HEIGHT - 34;
    const double about = 100 / d->px, ten = pow(10, floor(log10(about)));
    const double mm = about / ten >= 5 ? 5 * ten : about / ten >= 2 ? 2 * ten : ten;
    char words[64];
    fprintf(d->f,
            "<path d=\"M %.1f %.1f v 6 h %.2f v -6\" fill=\"none\" stroke=\"#2d3748\" "
            "stroke-width=\"1.2\"/>\n",
            30.0, y, mm * d->px);
    snprintf(words, sizeof words, "%g mm", mm);
    fbp_svg_text(d->f, 30 + mm * d->px + 8, y + 6, "class=\"small\"", words);
    draw_legend(d);
}

/* Directions of plane integrals on the sphere.
 *
 * On the left, the half sphere seen from +z in Lambert's projection: equal areas on the sphere are
 * equal on the page, therefore gaps and clusters are not distorted.  On the right, the sphere seen
 * obliquely from above, with each direction and its opposite.  Colours run from blue to orange in
 * the order of the views.
 */

enum { RADIUS = 220, MOST_JUMPS = 60 };

/* A position on the page [pixels]; front: it lies on the visible half of the sphere. */
struct spot {
    double x, y;
    bool front;
};

static void direction_of(const struct drawing *s, size_t k, double n[3])
{
    for (int i = 0; i < 3; i++)
        n[i] = s->of.view[k].u[i];
    fbp_normalise(n);
}

/* Get the page position of a direction on the half sphere (left), where a direction and its
 * opposite are the same point. */
static struct spot on_disk(const double n[3])
{
    const double side = n[2] < 0 ? -1 : 1, scale = side * RADIUS / sqrt(1 + fabs(n[2]));

    return (struct spot){260 + scale * n[0], 320 - scale * n[1], true};
}

/* Get the page position of a direction on the sphere (right), seen obliquely from above. */
static struct spot on_ball(const double n[3])
{
    static const double right[3] = {.8660254, .5, 0}, up[3] = {-.1710101, .2961981, .9396926},
                        out[3] = {.4698463, -.8137977, .3420201};
    const double r = .75 * RADIUS;

    return (struct spot){755 + r * fbp_dot(n, right), 250 - r * fbp_dot(n, up),
                         fbp_dot(n, out) >= 0};
}

static void dot(const struct drawing *s, size_t k, struct spot at)
{
    const double t = s->of.n > 1 ? (double)k / (double)(s->of.n - 1) : 0;
    const double r = fmax(1, fmin(4, 50 / sqrt((double)s->of.n)));

    fprintf(s->f,
            "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"%.2f\" fill=\"rgb(%.0f,%.0f,%.0f)\" "
            "fill-opacity=\"%s\"/>\n",
            at.x, at.y, at.front ? r : .7 * r, 43 + t * 178, 108 - t * 1, 176 - t * 144,
            at.front ? "1" : "0.25");
}

/* Draw the great circle that is perpendicular to an axis; its visible half has stronger lines. */
static void great_circle(const struct drawing *s, const double axis[3])
{
    const double start[3] = {fabs(axis[2]) > .9, 0, fabs(axis[2]) <= .9};
    double e[2][3];

    fbp_axpy(start, -fbp_dot(start, axis), axis, e[0]);
    fbp_normalise(e[0]);
    fbp_cross(axis, e[0], e[1]);
    for (int i = 0; i < 72; i++) {
        struct spot p[2];
        for (int j = 0; j < 2; j++) {
            const double a = (i + j) * FBP_PI / 36;
            double x[3];
            fbp_axpy((const double[]){0, 0, 0}, cos(a), e[0], x);
            fbp_axpy(x, sin(a), e[1], x);
            p[j] = on_ball(x);
        }
        fprintf(s->f,
                "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#a0aec0\" "
                "stroke-width=\"%s\"/>\n",
                p[0].x, p[0].y, p[1].x, p[1].y, p[0].front && p[1].front ? "0.9" : "0.3");
    }
}

static void draw_sphere(FILE *f, const void *user)
{
    static const double axes[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    static const char *const names[] = {"x", "y", "z"};
    struct drawing sphere = *(const struct drawing *)user, *const s = &sphere;
    const size_t most = s->of.n < MOST_JUMPS ? s->of.n : MOST_JUMPS;
    double n[3];

    s->f = f;
    fbp_svg_text(f, 30, 38, "class=\"head\"",
                 "Directions on the half sphere, equal areas, from +z");
    fbp_svg_text(f, 540, 38, "class=\"head\"", "Directions and their opposites");

    /* Draw the half sphere of directions; a line connects the first MOST_JUMPS views. */
    fprintf(f, "<circle cx=\"260\" cy=\"320\" r=\"%d\" fill=\"#ffffff\" stroke=\"#718096\"/>\n",
            RADIUS);
    fputs("<polyline fill=\"none\" stroke=\"#2b6cb0\" stroke-opacity=\"0.35\" points=\"", f);
    for (size_t k = 0; k < most; k++) {
        direction_of(s, k, n);
        const struct spot at = on_disk(n);
        fprintf(f, "%.1f,%.1f ", at.x, at.y);
    }
    fputs("\"/>\n", f);
    for (size_t k = 0; k < s->of.n; k++) {
        direction_of(s, k, n);
        dot(s, k, on_disk(n));
    }
    fbp_svg_text(f, 260 + RADIUS + 6, 324, "class=\"small\"", "x");
    fbp_svg_text(f, 256, 320 - RADIUS - 8, "class=\"small\"", "y");

    /* Draw the sphere seen obliquely from above, with its axes. */
    fprintf(f, "<circle cx=\"755\" cy=\"250\" r=\"%.1f\" fill=\"#ffffff\" stroke=\"#718096\"/>\n",
            .75 * RADIUS);
    for (int i = 0; i < 3; i++)
        great_circle(s, axes[i]);
    for (int side = -1; side <= 1; side += 2)
        for (size_t k = 0; k < s->of.n; k++) {
            direction_of(s, k, n);
            for (int i = 0; i < 3; i++)
                n[i] *= side;
            dot(s, k, on_ball(n));
        }
    for (int i = 0; i < 3; i++) {
        const double *a = axes[i];
        const struct spot at = on_ball((const double[]){1.16 * a[0], 1.16 * a[1], 1.16 * a[2]});
        const struct spot foot = on_ball(a);
        fprintf(f,
                "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#2d3748\" "
                "stroke-width=\"1.2\"/>\n",
                foot.x, foot.y, at.x, at.y);
        fbp_svg_text(f, at.x + 3, at.y + 4, "class=\"small\"", names[i]);
    }

    const struct fbp_geometry_facts *g = s->facts;
    struct legend l = {f, 470};
    legend_line(&l, "views", "%zu of %zu samples, %.5g mm apart", s->of.n, s->of.panel.n_columns,
                g->spacing_mm);
    legend_line(&l, "directions", "%zu different ones; largest empty circle %.3g&#176;%s",
                g->n_angles, g->direction_gap_rad * (180 / FBP_PI),
                g->gap_rad > 0 ? ": a gap" : "");
    legend_line(&l, "without streaks", "within %.4g mm at cut-off 1, %.4g mm at 0.5",
                g->alias_free_mm, 2 * g->alias_free_mm);
    legend_line(&l, "field of view", "radius %.5g mm", g->fov_radius_mm);
    legend_volume(&l, s->grid, g->volume_inside, "its corners are outside some views");
    fbp_svg_text(f, 30, HEIGHT - 34, "class=\"small\"",
                 "blue: first view, orange: last; the line joins the first views in their order");
}

fbp_status fbp_geometry_svg(struct fbp_views views, const struct fbp_grid *grid,
                            const struct fbp_geometry_facts *facts, const char *path)
{
    const struct drawing d = {.of = views,
                              .source = fbp_kind_of(views.kind)->has_source,
                              .grid = grid && grid->n[0] ? grid : NULL,
                              .facts = facts};

    fbp_message_clear();
    FBP_TRY(fbp_check_kind("geometry", views.kind));
    if (views.n == 0)
        return FBP_INVALID("geometry: the scan has no views to draw; give at least one");
    const bool lines = fbp_kind_of(views.kind)->integral == FBP_OVER_LINES;
    return fbp_svg_page(path, WIDTH, HEIGHT, lines ? draw_geometry : draw_sphere, &d);
}

fbp_status fbp_scan_draw(const struct fbp_scan *given, const struct fbp_grid *grid,
                         const char *path)
{
    FBP_REQUIRE(given, path);
    struct fbp_geometry_facts facts = {.struct_size = sizeof facts};
    struct fbp_scan scan;

    fbp_message_clear();
    FBP_TRY(FBP_COPY_IN(scan, &scan, given));
    const struct fbp_views views = fbp_scan_views(&scan);
    const struct fbp_grid *drawn = grid && grid->n[0] ? grid : NULL;
    FBP_TRY(fbp_views_facts(views, drawn, &facts));
    return fbp_geometry_svg(views, drawn, &facts, path);
}

/* A curve through points. */

/* Step of grid lines: 1, 2 or 5 times a power of ten, at least `least`. */
static double round_step(double least)
{
    const double ten = pow(10, floor(log10(least))), times = least / ten;

    return (times > 5 ? 10 : times > 2 ? 5 : times > 1 ? 2 : 1) * ten;
}

enum { CURVE_WIDTH = 720, CURVE_HEIGHT = 420, LEFT = 90, RIGHT = 30, TOP = 56, BOTTOM = 60 };

struct chart {
    const struct fbp_curve *c;
    double x[2], y[2]; /* ranges of the axes */
};

static double x_of(const struct chart *d, double x)
{
    return LEFT + (CURVE_WIDTH - LEFT - RIGHT) * (x - d->x[0]) / (d->x[1] - d->x[0]);
}

static double y_of(const struct chart *d, double y)
{
    return CURVE_HEIGHT - BOTTOM -
           (CURVE_HEIGHT - TOP - BOTTOM) * (y - d->y[0]) / (d->y[1] - d->y[0]);
}

/* Draw at most seven grid lines with their values for an axis of the plot (0: the horizontal axis
 * x, 1: the vertical axis y). */
static void draw_axis(FILE *f, const struct chart *d, int axis)
{
    const double *range = axis ? d->y : d->x;
    const double step = round_step((range[1] - range[0]) / 6);
    char words[40];

    for (double i = ceil(range[0] / step); i * step <= range[1] * (1 + 1e-12); i++) {
        const double v = i * step, x = axis ? LEFT : x_of(d, v), y = axis ? y_of(d, v) : TOP;
        fprintf(f, "<path d=\"M %.1f %.1f %s%d\" stroke=\"#e2e8f0\"/>\n", x, y, axis ? "h" : "v",
                axis ? CURVE_WIDTH - LEFT - RIGHT : CURVE_HEIGHT - TOP - BOTTOM);
        snprintf(words, sizeof words, "%.6g", fabs(v) < 1e-9 * step ? 0 : v);
        if (axis)
            fbp_svg_text(f, LEFT - 8, y + 4, "class=\"small\" text-anchor=\"end\"", words);
        else
            fbp_svg_text(f, x, CURVE_HEIGHT - BOTTOM + 18, "class=\"small\" text-anchor=\"middle\"",
                         words);
    }
}

static void draw_curve(FILE *f, const void *user)
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
    if (c->best >= d->x[0] && c->best <= d->x[1]) {
        const double x = x_of(d, c->best);
        char words[60];
        fprintf(f,
                "<path class=\"best\" d=\"M %.2f %d V %d\" stroke=\"#c53030\" "
                "stroke-dasharray=\"4 3\"/>\n",
                x, TOP, CURVE_HEIGHT - BOTTOM);
        snprintf(words, sizeof words, "%.7g", c->best);
        fbp_svg_text(f, x, TOP - 6, "class=\"value\" text-anchor=\"middle\"", words);
    }
    fbp_svg_text(f, (CURVE_WIDTH + LEFT - RIGHT) / 2.0, CURVE_HEIGHT - 16,
                 "class=\"name\" text-anchor=\"middle\"", c->x_name);
    fbp_svg_text(f, 20, TOP - 10, "class=\"name\"", c->y_name);
}

/* Extend a range at both ends by `margin` times its length; a range of length 0 by 0.1 %. */
static void widen(double range[2], double margin)
{
    const double length = range[1] - range[0];
    const double more = length > 0 ? margin * length : fmax(1e-3 * fabs(range[0]), 1e-6);

    range[0] -= more;
    range[1] += more;
}

fbp_status fbp_curve_svg(const struct fbp_curve *c, const char *path)
{
    struct chart d = {c, {INFINITY, -INFINITY}, {INFINITY, -INFINITY}};

    fbp_message_clear();
    for (size_t i = 0; i < c->n; i++)
        if (isfinite(c->x[i]) && isfinite(c->y[i])) {
            d.x[0] = fmin(d.x[0], c->x[i]);
            d.x[1] = fmax(d.x[1], c->x[i]);
            d.y[0] = fmin(d.y[0], c->y[i]);
            d.y[1] = fmax(d.y[1], c->y[i]);
        }
    if (!(d.x[0] <= d.x[1]))
        return FBP_INVALID("%s: the curve has no finite points to draw; check its values", path);
    widen(d.x, 0.02);
    widen(d.y, 0.06);
    return fbp_svg_page(path, CURVE_WIDTH, CURVE_HEIGHT, draw_curve, &d);
}

/* Bars over time. */

enum {
    BARS_LEFT = 110,
    BARS_RIGHT = 25,
    BARS_TOP = 60,
    BARS_BOTTOM = 40,
    BARS_WIDTH = 1400,
    LANE = 36,
    BAR = 26
};

struct bars_chart {
    const char *title;
    const char *const *lanes;
    size_t n_lanes;
    const struct fbp_bar *bars;
    size_t n_bars;
    double seconds; /* end of the time axis [s] */
};

static bool has_bars(const struct bars_chart *c, size_t lane)
{
    for (size_t i = 0; i < c->n_bars; i++)
        if (c->bars[i].lane == lane)
            return true;
    return false;
}

static double bars_x_of(const struct bars_chart *c, double seconds)
{
    return BARS_LEFT + (BARS_WIDTH - BARS_LEFT - BARS_RIGHT) * seconds / c->seconds;
}

/* Get the upper edge of row `lane` on the page [pixels]; rows without bars have no height. */
static double bars_y_of(const struct bars_chart *c, size_t lane)
{
    size_t n = 0;

    for (size_t i = 0; i < lane; i++)
        n += has_bars(c, i);
    return BARS_TOP + LANE * (double)n;
}

static void draw_bars(FILE *f, const void *user)
{
    static const char *const colours[][2] = {{"#718096", "#a0aec0"}, {"#b7791f", "#d69e2e"},
                                             {"#2b6cb0", "#4299e1"}, {"#6b46c1", "#9f7aea"},
                                             {"#276749", "#48bb78"}, {"#c53030", "#f56565"},
                                             {"#2c7a7b", "#38b2ac"}};
    enum { N = sizeof colours / sizeof *colours };
    const struct bars_chart *c = user;
    const double step = round_step(c->seconds / 10);
    const double bottom = bars_y_of(c, c->n_lanes);
    char words[40];

    fbp_svg_text(f, 20, 30, "class=\"head\"", c->title);
    for (size_t i = 0; (double)i * step <= c->seconds; i++) {
        const double x = bars_x_of(c, (double)i * step);
        fprintf(f, "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#e2e8f0\"/>\n", x,
                BARS_TOP - 8, x, bottom);
        snprintf(words, sizeof words, "%g ms", 1e3 * (double)i * step);
        fbp_svg_text(f, x, bottom + 16, "class=\"small\" text-anchor=\"middle\"", words);
    }
    for (size_t lane = 0; lane < c->n_lanes; lane++)
        if (has_bars(c, lane))
            fbp_svg_text(f, 20, bars_y_of(c, lane) + LANE / 2.0 + 4, "class=\"name\"",
                         c->lanes[lane]);
    for (const struct fbp_bar *b = c->bars; b < c->bars + c->n_bars; b++) {
        const double x = bars_x_of(c, b->begin), width = fmax(bars_x_of(c, b->end) - x, 0.3);

        fprintf(f,
                "<rect class=\"bar\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%d\" "
                "fill=\"%s\"><title>%s: %s, %.3f to %.3f ms</title></rect>\n",
                x, bars_y_of(c, b->lane) + (LANE - BAR) / 2.0, width, BAR,
                colours[b->lane % N][b->shade % 2], c->lanes[b->lane], b->words, 1e3 * b->begin,
                1e3 * b->end);
    }
}

fbp_status fbp_bars_svg(const char *path, const char *title, const char *const *lanes,
                        size_t n_lanes, const struct fbp_bar *bars, size_t n_bars)
{
    struct bars_chart c = {title, lanes, n_lanes, bars, n_bars, 1e-6};

    for (size_t i = 0; i < n_bars; i++)
        c.seconds = fmax(c.seconds, bars[i].end);
    const int height = (int)bars_y_of(&c, n_lanes) + BARS_BOTTOM;
    return fbp_svg_page(path, BARS_WIDTH, height, draw_bars, &c);
}
