/* Drawings as SVG: the geometry of a scan, directions on the sphere, curves, bars over time. */
#include "picture/svg.h"

#include "fbp/picture.h"

#include "geometry/kind.h"
#include "scan/file/text.h"

#include "base/base.h"
#include "base/math.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void fbp_svg_text(FILE *f, double x, double y, const char *style, const char *words)
{
    fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" %s>%s</text>\n", x, y, style, words);
}

static void write_page(FILE *f, int width, int height, fbp_svg_draw *draw, const void *user)
{
    fprintf(f,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\" font-family=\"Helvetica, Arial, sans-serif\">\n"
            "<style>text{fill:#2d3748} .head{font-size:15px;font-weight:bold} "
            ".small{font-size:11px} .name{font-size:12px;fill:#718096} "
            ".value{font-size:12px}</style>\n"
            "<rect width=\"%d\" height=\"%d\" fill=\"#fcfcfa\"/>\n",
            width, height, width, height, width, height);
    draw(f, user);
    fprintf(f, "</svg>\n");
}

fbp_status fbp_svg_page(const char *path, int width, int height, fbp_svg_draw *draw,
                        const void *user)
{
    struct fbp_writer w;

    FBP_TRY(fbp_writer_open(&w, path));
    write_page(w.f, width, height, draw, user);
    return fbp_writer_close(&w, FBP_OK);
}

/* The set-up of a scan as a drawing: world millimetres in, SVG pixels out. */

enum { WIDTH = 1000, HEIGHT = 620, MOST_DOTS = 720 };

/* A panel of the drawing: two world axes and a place on the page. */
struct frame {
    double right[3], up[3];
    double lo[2], hi[2]; /* world range that is drawn, mm */
    double x0, y0;       /* page position of world (0, 0) */
};

struct drawing {
    FILE *f;
    struct fbp_views of;
    const struct fbp_grid *grid; /* NULL = none */
    const struct fbp_geometry_facts *facts;
    bool source; /* rays meet in one */
    double far;  /* where they do not: how far away sources are drawn, mm */
    double px;   /* pixels a millimetre */
};

/* What stands for the source: the point, or one far along the direction. */
static void source_of(const struct drawing *d, size_t k, double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = d->of.view[k].s[i] * (d->source ? 1 : d->far);
}

static void to_frame(const struct frame *fr, const double x[3], double out[2])
{
    out[0] = fbp_dot(x, fr->right);
    out[1] = fbp_dot(x, fr->up);
}

static void to_page(const struct drawing *d, const struct frame *fr, const double x[3],
                    double out[2])
{
    to_frame(fr, x, out);
    out[0] = fr->x0 + d->px * out[0];
    out[1] = fr->y0 - d->px * out[1];
}

static void include_point(struct frame *fr, const double x[3])
{
    double p[2];
    to_frame(fr, x, p);
    for (int i = 0; i < 2; i++) {
        fr->lo[i] = fmin(fr->lo[i], p[i]);
        fr->hi[i] = fmax(fr->hi[i], p[i]);
    }
}

static void grid_corner(const struct fbp_grid *g, int corner, double out[3])
{
    for (int a = 0; a < 3; a++)
        out[a] =
            g->centre_mm[a] + ((corner >> a & 1) ? .5 : -.5) * (double)g->n[a] * g->voxel_mm[a];
}

/* A point of the first view's panel, c and r from -1 to 1, half pixels beyond the outer centres.
 * Where a panel stands along parallel rays means nothing: it is drawn behind the object. */
static void panel_point(const struct drawing *d, double c, double r, double out[3])
{
    const struct fbp_view *v = &d->of.view[0];

    fbp_axpy(v->d, c * (double)d->of.panel.n_columns / 2, v->u, out);
    fbp_axpy(out, r * (double)d->of.panel.n_rows / 2, v->v, out);
    if (!d->source)
        fbp_axpy(out, -(fbp_dot(out, v->s) + d->far), v->s, out);
}

/* Where the ray to a point of the panel begins. */
static void ray_start(const struct drawing *d, const double edge[3], double out[3])
{
    if (!d->source)
        fbp_axpy(edge, 2 * d->far, d->of.view[0].s, out);
    else
        source_of(d, 0, out);
}

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
    for (int i = 0; d->grid && i < 8; i++) {
        grid_corner(d->grid, i, x);
        include_point(fr, x);
    }
    for (int i = 0; i < 2; i++) {
        const double r = i ? d->facts->fov_radius_mm : -d->facts->fov_radius_mm;
        const double corner[3] = {fr->right[0] * r, fr->right[1] * r,
                                  d->facts->fov_half_height_mm[i]};
        include_point(fr, corner);
    }
}

/* Farthest point of panel or field of view from the iso-centre, across the rays; far is still 0. */
static double reach(const struct drawing *d)
{
    double most = d->facts->fov_radius_mm, x[3];

    for (int i = 0; i < 4; i++) {
        panel_point(d, i & 1 ? 1 : -1, i & 2 ? 1 : -1, x);
        most = fmax(most, fbp_norm(x));
    }
    return most > 0 ? 1.1 * most : 1;
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

static void text(const struct drawing *d, double x, double y, const char *style, const char *words)
{
    fbp_svg_text(d->f, x, y, style, words);
}

/* Words beside a world point. */
static void label(const struct drawing *d, const struct frame *fr, const double at[3], double dx,
                  double dy, const char *words)
{
    double p[2];
    to_page(d, fr, at, p);
    text(d, p[0] + dx, p[1] + dy, "class=\"small\"", words);
}

static const char *const thin = "stroke=\"#b7791f\" stroke-width=\"0.8\" stroke-opacity=\"0.8\"";
static const char *const panel_style = "stroke=\"#276749\" stroke-width=\"3\"";
static const char *const arrow_style =
    "stroke=\"#276749\" stroke-width=\"1.4\" marker-end=\"url(#tip)\"";
static const char *const axis_style =
    "stroke=\"#a0aec0\" stroke-width=\"0.8\" stroke-dasharray=\"6 3 1 3\"";

/* The arrow of u or v beside a panel from a to b, away from the iso-centre. */
static void draw_arrow(const struct drawing *d, const struct frame *fr, const double a[3],
                       const double b[3], const char *name)
{
    double away[3] = {d->of.view[0].s[0], d->of.view[0].s[1], d->of.view[0].s[2]};
    double from[3], tip[3], p[2];

    fbp_normalise(away);
    for (int i = 0; i < 3; i++) {
        from[i] = (a[i] + b[i]) / 2 - 9 / d->px * away[i];
        tip[i] = from[i] + .25 * (b[i] - a[i]);
    }
    line(d, fr, from, tip, arrow_style);
    fbp_axpy(tip, -11 / d->px, away, tip);
    to_page(d, fr, tip, p);
    text(d, p[0], p[1] + 4, "class=\"small\" text-anchor=\"middle\"", name);
}

/* Fan or bundle of the first view in the plane of the drawing, its panel, and an arrow. */
static void draw_panel(const struct drawing *d, const struct frame *fr, bool along_u)
{
    double a[3], b[3], from[3];

    panel_point(d, along_u ? -1 : 0, along_u ? 0 : -1, a);
    panel_point(d, along_u ? 1 : 0, along_u ? 0 : 1, b);
    ray_start(d, a, from);
    line(d, fr, from, a, thin);
    ray_start(d, b, from);
    line(d, fr, from, b, thin);
    line(d, fr, a, b, panel_style);
    draw_arrow(d, fr, a, b, along_u ? "u" : "v");
}

static void draw_dots(const struct drawing *d, const struct frame *fr)
{
    const size_t step = (d->of.n + MOST_DOTS - 1) / MOST_DOTS;

    for (size_t k = 0; k < d->of.n; k += step) {
        const double t = d->of.n > 1 ? (double)k / (double)(d->of.n - 1) : 0;
        double x[3], p[2];
        source_of(d, k, x);
        to_page(d, fr, x, p);
        fprintf(d->f, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"%s\" fill=\"rgb(%.0f,%.0f,%.0f)\"/>\n",
                p[0], p[1], k == 0 ? "4.5" : "1.6", 43 + t * 178, 108 - t * 1, 176 - t * 144);
    }
    double first[3];
    source_of(d, 0, first);
    label(d, fr, first, 8, -8, d->source ? "first source" : "first direction");
}

static void draw_box(const struct drawing *d, const struct frame *fr)
{
    struct frame box = *fr;
    double x[3];

    if (!d->grid)
        return;
    box.lo[0] = box.lo[1] = DBL_MAX;
    box.hi[0] = box.hi[1] = -DBL_MAX;
    for (int i = 0; i < 8; i++) {
        grid_corner(d->grid, i, x);
        include_point(&box, x);
    }
    fprintf(d->f,
            "<rect class=\"volume\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" "
            "fill=\"#2b6cb0\" fill-opacity=\"0.14\" stroke=\"#2b6cb0\"/>\n",
            fr->x0 + d->px * box.lo[0], fr->y0 - d->px * box.hi[1], d->px * (box.hi[0] - box.lo[0]),
            d->px * (box.hi[1] - box.lo[1]));
}

/* An arc from the first source in the direction of rotation, a little inside the circle. */
static void draw_direction(const struct drawing *d, const struct frame *fr)
{
    const double *s = d->of.view[0].s;
    const double t0 = atan2(s[1], s[0]), turn = .5 * d->facts->direction;
    double source[3], p[2], q[2];

    if (d->facts->direction == 0)
        return;
    source_of(d, 0, source);
    const double r = .86 * hypot(source[0], source[1]);
    to_page(d, fr, (double[]){r * cos(t0 + .1 * turn), r * sin(t0 + .1 * turn), 0}, p);
    to_page(d, fr, (double[]){r * cos(t0 + turn), r * sin(t0 + turn), 0}, q);
    fprintf(d->f,
            "<path d=\"M %.2f %.2f A %.2f %.2f 0 0 %d %.2f %.2f\" fill=\"none\" "
            "stroke=\"#2d3748\" stroke-width=\"1.4\" marker-end=\"url(#tip)\"/>\n",
            p[0], p[1], r * d->px, r * d->px, d->facts->direction > 0 ? 0 : 1, q[0], q[1]);
}

static void draw_cross(const struct drawing *d, const struct frame *fr)
{
    fprintf(d->f, "<path d=\"M %.2f %.2f h 10 m -5 -5 v 10\" stroke=\"#2d3748\" fill=\"none\"/>\n",
            fr->x0 - 5, fr->y0);
    text(d, fr->x0 + 7, fr->y0 - 6, "class=\"small\"", "iso-centre");
}

static void draw_top(const struct drawing *d, const struct frame *fr)
{
    draw_box(d, fr);
    fprintf(d->f,
            "<circle class=\"fov\" cx=\"%.2f\" cy=\"%.2f\" r=\"%.2f\" fill=\"none\" "
            "stroke=\"#718096\" stroke-dasharray=\"4 3\"/>\n",
            fr->x0, fr->y0, d->px * d->facts->fov_radius_mm);
    draw_panel(d, fr, true);
    draw_dots(d, fr);
    draw_direction(d, fr);
    draw_cross(d, fr);
}

static void draw_side(const struct drawing *d, const struct frame *fr)
{
    const double *z = d->facts->fov_half_height_mm, r = d->facts->fov_radius_mm;
    double source[3], p[2];

    draw_box(d, fr);
    fprintf(d->f,
            "<rect class=\"fov\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" "
            "fill=\"none\" stroke=\"#718096\" stroke-dasharray=\"4 3\"/>\n",
            fr->x0 - d->px * r, fr->y0 - d->px * z[1], 2 * d->px * r, d->px * fmax(0, z[1] - z[0]));
    line(d, fr, (double[]){0, 0, fr->lo[1]}, (double[]){0, 0, fr->hi[1]}, axis_style);
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

/* A round length of 1, 2 or 5 times a power of ten, about 100 pixels long. */
static void draw_scale(const struct drawing *d, double x, double y)
{
    const double want = 100 / d->px, ten = pow(10, floor(log10(want)));
    const double mm = want / ten >= 5 ? 5 * ten : want / ten >= 2 ? 2 * ten : ten;
    char words[64];

    fprintf(d->f,
            "<path d=\"M %.1f %.1f v 6 h %.2f v -6\" fill=\"none\" stroke=\"#2d3748\" "
            "stroke-width=\"1.2\"/>\n",
            x, y, mm * d->px);
    snprintf(words, sizeof words, "%g mm", mm);
    text(d, x + mm * d->px + 8, y + 6, "class=\"small\"", words);
}

/* "600" or "599.1 to 601.2". */
static void range_words(char *out, size_t n, const double range[2])
{
    if (range[1] - range[0] < 5e-3)
        snprintf(out, n, "%.6g", range[0]);
    else
        snprintf(out, n, "%.6g to %.6g", range[0], range[1]);
}

static void legend_line(const struct drawing *d, double *y, const char *name, const char *words)
{
    text(d, 540, *y, "class=\"name\"", name);
    text(d, 690, *y, "class=\"value\"", words);
    *y += 19;
}

static void legend_distances(const struct drawing *d, double *y)
{
    char a[64], b[128];

    if (!d->source)
        return;
    range_words(a, sizeof a, d->facts->sod_mm);
    snprintf(b, sizeof b, "%s mm", a);
    legend_line(d, y, "source to axis (SOD)", b);
    range_words(a, sizeof a, d->facts->sdd_mm);
    snprintf(b, sizeof b, "%s mm, magnification %.4g", a, d->facts->magnification);
    legend_line(d, y, "source to panel (SDD)", b);
}

static void legend_angles(const struct drawing *d, double *y)
{
    static const char *const coverage[] = {"full scan", "short scan", "partial: not determined"};
    static const char *const turning[] = {"clockwise", "unordered", "counter-clockwise"};
    const struct fbp_geometry_facts *f = d->facts;
    const double deg = 180 / FBP_PI, theta = deg * atan2(d->of.view[0].s[1], d->of.view[0].s[0]);
    char b[160];

    snprintf(b, sizeof b, "%zu over %.6g&#176;, %s", d->of.n, f->arc_rad * deg,
             turning[f->direction + 1]);
    legend_line(d, y, "views", b);
    snprintf(b, sizeof b, "%s%s", coverage[f->coverage], f->offset ? ", offset detector" : "");
    legend_line(d, y, "coverage", b);
    snprintf(b, sizeof b, "&#952; = %.6g&#176;  (&#945; = &#952; + 90&#176; = %.6g&#176;)", theta,
             theta + 90);
    legend_line(d, y, "first view", b);
}

static void legend(const struct drawing *d, double y)
{
    const struct fbp_geometry_facts *f = d->facts;
    char b[200];

    legend_distances(d, &y);
    legend_angles(d, &y);
    snprintf(b, sizeof b, "%zu &#215; %zu pixels of %.5g &#215; %.5g mm", d->of.panel.n_columns,
             d->of.panel.n_rows, fbp_norm(d->of.view[0].u), fbp_norm(d->of.view[0].v));
    legend_line(d, &y, "panel", b);
    snprintf(b, sizeof b, "radius %.5g mm, z on the axis %.5g to %.5g mm", f->fov_radius_mm,
             f->fov_half_height_mm[0], f->fov_half_height_mm[1]);
    legend_line(d, &y, "field of view", b);
    if (!d->grid)
        return;
    const struct fbp_grid *g = d->grid;
    snprintf(b, sizeof b, "%zu &#215; %zu &#215; %zu voxels of %.4g &#215; %.4g &#215; %.4g mm",
             g->n[0], g->n[1], g->n[2], g->voxel_mm[0], g->voxel_mm[1], g->voxel_mm[2]);
    legend_line(d, &y, "volume", b);
    if (!f->volume_inside)
        legend_line(d, &y, "", "the volume leaves the field of view");
}

/* Centre a frame's range on the page box (x, y, w, h). */
static void place(const struct drawing *d, struct frame *fr, double x, double y, double w, double h)
{
    fr->x0 = x + w / 2 - d->px * (fr->lo[0] + fr->hi[0]) / 2;
    fr->y0 = y + h / 2 + d->px * (fr->lo[1] + fr->hi[1]) / 2;
}

static double fit(const struct frame *fr, double w, double h)
{
    return fmin(w / fmax(fr->hi[0] - fr->lo[0], 1e-9), h / fmax(fr->hi[1] - fr->lo[1], 1e-9));
}

static void geometry_write_page(struct drawing *d)
{
    const double *s = d->of.view[0].s, h = hypot(s[0], s[1]);
    struct frame top = {.right = {1, 0, 0}, .up = {0, 1, 0}};
    struct frame side = {.right = {-1, 0, 0}, .up = {0, 0, 1}};

    for (int i = 0; h > 0 && i < 2; i++)
        side.right[i] = -s[i] / h;
    d->far = d->source ? 0 : reach(d);
    include_all(d, &top, true);
    include_all(d, &side, false);
    d->px = fmin(fit(&top, 440, 470), fit(&side, 410, 240));
    place(d, &top, 30, 70, 440, 470);
    place(d, &side, 550, 80, 410, 240);
    fprintf(d->f,
            "<defs><marker id=\"tip\" markerWidth=\"9\" markerHeight=\"8\" refX=\"7\" refY=\"4\" "
            "orient=\"auto\" markerUnits=\"userSpaceOnUse\">"
            "<path d=\"M 0 0 L 9 4 L 0 8 z\" fill=\"#2d3748\"/></marker></defs>\n");
    text(d, 30, 38, "class=\"head\"", "Seen from +z (x right, y up)");
    text(d, 540, 38, "class=\"head\"", "Seen from the side (z up), first view");
    draw_top(d, &top);
    draw_side(d, &side);
    draw_scale(d, 30, HEIGHT - 34);
    legend(d, 400);
}

static void draw_page(FILE *f, const void *user)
{
    struct drawing d = *(const struct drawing *)user;

    d.f = f;
    geometry_write_page(&d);
}

fbp_status fbp_geometry_svg(struct fbp_views views, const struct fbp_grid *grid,
                            const struct fbp_geometry_facts *facts, const char *path)
{
    FBP_GIVEN(views.view, path);
    struct fbp_geometry_facts whole;
    struct drawing d = {.of = views,
                        .source = fbp_kind_of(views.kind)->has_source,
                        .grid = grid && grid->n[0] ? grid : NULL,
                        .facts = &whole};

    fbp_message_clear();
    FBP_TRY(FBP_TAKE(geometry_facts, &whole, facts));
    FBP_TRY(fbp_check_kind("geometry", views.kind));
    if (views.n == 0)
        return fbp_fail(FBP_ERR_INVALID, "geometry: no views to draw");
    if (fbp_kind_of(views.kind)->integral != FBP_OVER_LINES)
        return fbp_planes_svg(views, d.grid, &whole, path);
    return fbp_svg_page(path, WIDTH, HEIGHT, draw_page, &d);
}

/*
 * Left, the half sphere as seen from +z, in Lambert's projection: equal areas on the sphere are
 * equal on the page, so that gaps and crowds are what they seem.  Right, the sphere from the side,
 * every direction and its opposite.  Colours run from blue to orange in the order of the views.
 */

enum { SPHERE_WIDTH = 1000, SPHERE_HEIGHT = 620, RADIUS = 220, MOST_JUMPS = 60 };

struct sphere {
    FILE *f;
    struct fbp_views of;
    const struct fbp_grid *grid;
    const struct fbp_geometry_facts *facts;
};

/* A place on the page. */
struct spot {
    double x, y;
    bool front;
};

static void direction_of(const struct sphere *s, size_t k, double n[3])
{
    for (int i = 0; i < 3; i++)
        n[i] = s->of.view[k].u[i];
    fbp_normalise(n);
}

/* On the upper half: a direction and its opposite are one. */
static struct spot on_disk(const double n[3])
{
    const double side = n[2] < 0 ? -1 : 1, scale = side * RADIUS / sqrt(1 + fabs(n[2]));

    return (struct spot){260 + scale * n[0], 320 - scale * n[1], true};
}

/* From the front, a little from above and from the right. */
static struct spot on_ball(const double n[3])
{
    static const double right[3] = {.8660254, .5, 0}, up[3] = {-.1710101, .2961981, .9396926},
                        out[3] = {.4698463, -.8137977, .3420201};
    const double r = .75 * RADIUS;

    return (struct spot){755 + r * fbp_dot(n, right), 250 - r * fbp_dot(n, up),
                         fbp_dot(n, out) >= 0};
}

static void dot(const struct sphere *s, size_t k, struct spot at)
{
    const double t = s->of.n > 1 ? (double)k / (double)(s->of.n - 1) : 0;
    const double r = fmax(1, fmin(4, 50 / sqrt((double)s->of.n)));

    fprintf(s->f,
            "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"%.2f\" fill=\"rgb(%.0f,%.0f,%.0f)\" "
            "fill-opacity=\"%s\"/>\n",
            at.x, at.y, at.front ? r : .7 * r, 43 + t * 178, 108 - t * 1, 176 - t * 144,
            at.front ? "1" : "0.25");
}

/* A circle of latitude or a meridian of the ball, its front half stronger. */
static void circle(const struct sphere *s, const double axis[3], double height)
{
    const double start[3] = {fabs(axis[2]) > .9, 0, fabs(axis[2]) <= .9};
    double e[2][3];

    fbp_axpy(start, -fbp_dot(start, axis), axis, e[0]);
    fbp_normalise(e[0]);
    fbp_cross(axis, e[0], e[1]);
    for (int i = 0; i < 72; i++) {
        struct spot p[2];
        for (int j = 0; j < 2; j++) {
            const double a = (i + j) * FBP_PI / 36, across = sqrt(1 - height * height);
            double x[3];
            fbp_axpy((const double[]){height * axis[0], height * axis[1], height * axis[2]},
                     across * cos(a), e[0], x);
            fbp_axpy(x, across * sin(a), e[1], x);
            p[j] = on_ball(x);
        }
        fprintf(s->f,
                "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#a0aec0\" "
                "stroke-width=\"%s\"/>\n",
                p[0].x, p[0].y, p[1].x, p[1].y, p[0].front && p[1].front ? "0.9" : "0.3");
    }
}

static void axis(const struct sphere *s, const double n[3], const char *name)
{
    const struct spot at = on_ball((const double[]){1.16 * n[0], 1.16 * n[1], 1.16 * n[2]});
    const struct spot foot = on_ball(n);

    fprintf(s->f,
            "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#2d3748\" "
            "stroke-width=\"1.2\"/>\n",
            foot.x, foot.y, at.x, at.y);
    fbp_svg_text(s->f, at.x + 3, at.y + 4, "class=\"small\"", name);
}

/* The first steps from view to view, on the half sphere. */
static void jumps(const struct sphere *s)
{
    const size_t most = s->of.n < MOST_JUMPS ? s->of.n : MOST_JUMPS;

    fputs("<polyline fill=\"none\" stroke=\"#2b6cb0\" stroke-opacity=\"0.35\" points=\"", s->f);
    for (size_t k = 0; k < most; k++) {
        double n[3];
        direction_of(s, k, n);
        const struct spot at = on_disk(n);
        fprintf(s->f, "%.1f,%.1f ", at.x, at.y);
    }
    fputs("\"/>\n", s->f);
}

static void draw_disk(const struct sphere *s)
{
    double n[3];

    fprintf(s->f, "<circle cx=\"260\" cy=\"320\" r=\"%d\" fill=\"#ffffff\" stroke=\"#718096\"/>\n",
            RADIUS);
    jumps(s);
    for (size_t k = 0; k < s->of.n; k++) {
        direction_of(s, k, n);
        dot(s, k, on_disk(n));
    }
    fbp_svg_text(s->f, 260 + RADIUS + 6, 324, "class=\"small\"", "x");
    fbp_svg_text(s->f, 256, 320 - RADIUS - 8, "class=\"small\"", "y");
}

static void draw_ball(const struct sphere *s)
{
    static const double axes[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    static const char *const names[] = {"x", "y", "z"};

    fprintf(s->f,
            "<circle cx=\"755\" cy=\"250\" r=\"%.1f\" fill=\"#ffffff\" stroke=\"#718096\"/>\n",
            .75 * RADIUS);
    for (int i = 0; i < 3; i++)
        circle(s, axes[i], 0);
    for (int side = -1; side <= 1; side += 2)
        for (size_t k = 0; k < s->of.n; k++) {
            double n[3];
            direction_of(s, k, n);
            for (int i = 0; i < 3; i++)
                n[i] *= side;
            dot(s, k, on_ball(n));
        }
    for (int i = 0; i < 3; i++)
        axis(s, axes[i], names[i]);
}

static void say(const struct sphere *s, double *y, const char *name, const char *words)
{
    fbp_svg_text(s->f, 540, *y, "class=\"name\"", name);
    fbp_svg_text(s->f, 690, *y, "class=\"value\"", words);
    *y += 19;
}

static void sphere_legend(const struct sphere *s)
{
    const struct fbp_geometry_facts *f = s->facts;
    const double deg = 180 / FBP_PI;
    double y = 470;
    char b[200];

    snprintf(b, sizeof b, "%zu of %zu samples, %.5g mm apart", s->of.n, s->of.panel.n_columns,
             f->spacing_mm);
    say(s, &y, "views", b);
    snprintf(b, sizeof b, "%zu that differ; largest empty circle %.3g&#176;%s", f->n_angles,
             f->direction_gap_rad * deg, f->gap_rad > 0 ? ": a gap" : "");
    say(s, &y, "directions", b);
    snprintf(b, sizeof b, "within %.4g mm at cut-off 1, %.4g mm at 0.5", f->alias_free_mm,
             2 * f->alias_free_mm);
    say(s, &y, "without streaks", b);
    snprintf(b, sizeof b, "radius %.5g mm", f->fov_radius_mm);
    say(s, &y, "field of view", b);
    if (!s->grid)
        return;
    snprintf(b, sizeof b, "%zu &#215; %zu &#215; %zu voxels of %.4g &#215; %.4g &#215; %.4g mm",
             s->grid->n[0], s->grid->n[1], s->grid->n[2], s->grid->voxel_mm[0],
             s->grid->voxel_mm[1], s->grid->voxel_mm[2]);
    say(s, &y, "volume", b);
    if (!f->volume_inside)
        say(s, &y, "", "its corners are not seen by every view");
}

static void sphere_draw_page(FILE *f, const void *user)
{
    struct sphere s = *(const struct sphere *)user;

    s.f = f;
    fbp_svg_text(f, 30, 38, "class=\"head\"",
                 "Directions on the half sphere, equal areas, from +z");
    fbp_svg_text(f, 540, 38, "class=\"head\"", "Directions and their opposites");
    draw_disk(&s);
    draw_ball(&s);
    sphere_legend(&s);
    fbp_svg_text(f, 30, SPHERE_HEIGHT - 34, "class=\"small\"",
                 "blue: first view, orange: last; the line joins the first views in their order");
}

fbp_status fbp_planes_svg(struct fbp_views views, const struct fbp_grid *grid,
                          const struct fbp_geometry_facts *facts, const char *path)
{
    const struct sphere s = {.of = views, .grid = grid, .facts = facts};

    return fbp_svg_page(path, SPHERE_WIDTH, SPHERE_HEIGHT, sphere_draw_page, &s);
}

/* A curve through points, as SVG. */

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
                axis ? CURVE_WIDTH - LEFT - RIGHT : CURVE_HEIGHT - TOP - BOTTOM);
        snprintf(words, sizeof words, "%.6g", fabs(v) < 1e-9 * step ? 0 : v);
        if (axis)
            fbp_svg_text(f, LEFT - 8, y + 4, "class=\"small\" text-anchor=\"end\"", words);
        else
            fbp_svg_text(f, x, CURVE_HEIGHT - BOTTOM + 18, "class=\"small\" text-anchor=\"middle\"",
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
            x, TOP, CURVE_HEIGHT - BOTTOM);
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
    fbp_svg_text(f, (CURVE_WIDTH + LEFT - RIGHT) / 2.0, CURVE_HEIGHT - 16,
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
    return fbp_svg_page(path, CURVE_WIDTH, CURVE_HEIGHT, draw, &d);
}

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
    double seconds; /* the axis' end */
};

static bool has_bars(const struct bars_chart *c, size_t lane)
{
    for (size_t i = 0; i < c->n_bars; i++)
        if (c->bars[i].lane == lane)
            return true;
    return false;
}

/* Lanes with bars before this one. */
static size_t place_of(const struct bars_chart *c, size_t lane)
{
    size_t n = 0;

    for (size_t i = 0; i < lane; i++)
        n += has_bars(c, i);
    return n;
}

static double bars_x_of(const struct bars_chart *c, double seconds)
{
    return BARS_LEFT + (BARS_WIDTH - BARS_LEFT - BARS_RIGHT) * seconds / c->seconds;
}

static double bars_y_of(const struct bars_chart *c, size_t lane)
{
    return BARS_TOP + LANE * (double)place_of(c, lane);
}

/* A round step of 1, 2 or 5 times a power of ten, about ten of them an axis. */
static double step_of(double seconds)
{
    const double want = seconds / 10, ten = pow(10, floor(log10(want)));
    return want / ten >= 5 ? 10 * ten : want / ten >= 2 ? 5 * ten : want / ten > 1 ? 2 * ten : ten;
}

static void bars_draw_axis(FILE *f, const struct bars_chart *c)
{
    const double step = step_of(c->seconds), bottom = bars_y_of(c, c->n_lanes);
    char words[40];

    for (size_t i = 0; (double)i * step <= c->seconds; i++) {
        const double x = bars_x_of(c, (double)i * step);
        fprintf(f, "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#e2e8f0\"/>\n", x,
                BARS_TOP - 8, x, bottom);
        snprintf(words, sizeof words, "%g ms", 1e3 * (double)i * step);
        fbp_svg_text(f, x, bottom + 16, "class=\"small\" text-anchor=\"middle\"", words);
    }
}

static void draw_bar(FILE *f, const struct bars_chart *c, const struct fbp_bar *b)
{
    static const char *const colours[][2] = {{"#718096", "#a0aec0"}, {"#b7791f", "#d69e2e"},
                                             {"#2b6cb0", "#4299e1"}, {"#6b46c1", "#9f7aea"},
                                             {"#276749", "#48bb78"}, {"#c53030", "#f56565"},
                                             {"#2c7a7b", "#38b2ac"}};
    enum { N = sizeof colours / sizeof *colours };
    const double x = bars_x_of(c, b->begin), width = fmax(bars_x_of(c, b->end) - x, 0.3);

    fprintf(f,
            "<rect class=\"bar\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%d\" "
            "fill=\"%s\"><title>%s: %s, %.3f to %.3f ms</title></rect>\n",
            x, bars_y_of(c, b->lane) + (LANE - BAR) / 2.0, width, BAR,
            colours[b->lane % N][b->shade % 2], c->lanes[b->lane], b->words, 1e3 * b->begin,
            1e3 * b->end);
}

static void bars_draw(FILE *f, const void *user)
{
    const struct bars_chart *c = user;

    fbp_svg_text(f, 20, 30, "class=\"head\"", c->title);
    bars_draw_axis(f, c);
    for (size_t lane = 0; lane < c->n_lanes; lane++)
        if (has_bars(c, lane))
            fbp_svg_text(f, 20, bars_y_of(c, lane) + LANE / 2.0 + 4, "class=\"name\"",
                         c->lanes[lane]);
    for (size_t i = 0; i < c->n_bars; i++)
        draw_bar(f, c, &c->bars[i]);
}

fbp_status fbp_bars_svg(const char *path, const char *title, const char *const *lanes,
                        size_t n_lanes, const struct fbp_bar *bars, size_t n_bars)
{
    struct bars_chart c = {title, lanes, n_lanes, bars, n_bars, 1e-6};

    for (size_t i = 0; i < n_bars; i++)
        c.seconds = fmax(c.seconds, bars[i].end);
    const int height = (int)bars_y_of(&c, n_lanes) + BARS_BOTTOM;
    return fbp_svg_page(path, BARS_WIDTH, height, bars_draw, &c);
}
