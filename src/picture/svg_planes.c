/*
 * Left, the half sphere as seen from +z, in Lambert's projection: equal areas on the sphere are
 * equal on the page, so that gaps and crowds are what they seem.  Right, the sphere from the side,
 * every direction and its opposite.  Colours run from blue to orange in the order of the views.
 */
#include "picture/svg_planes.h"

#include "base/vec.h"
#include "picture/svg_page.h"

enum { WIDTH = 1000, HEIGHT = 620, RADIUS = 220, MOST_JUMPS = 60 };

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

static void legend(const struct sphere *s)
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

static void draw_page(FILE *f, const void *user)
{
    struct sphere s = *(const struct sphere *)user;

    s.f = f;
    fbp_svg_text(f, 30, 38, "class=\"head\"",
                 "Directions on the half sphere, equal areas, from +z");
    fbp_svg_text(f, 540, 38, "class=\"head\"", "Directions and their opposites");
    draw_disk(&s);
    draw_ball(&s);
    legend(&s);
    fbp_svg_text(f, 30, HEIGHT - 34, "class=\"small\"",
                 "blue: first view, orange: last; the line joins the first views in their order");
}

fbp_status fbp_planes_svg(struct fbp_views views, const struct fbp_grid *grid,
                          const struct fbp_geometry_facts *facts, const char *path)
{
    const struct sphere s = {.of = views, .grid = grid, .facts = facts};

    return fbp_svg_page(path, WIDTH, HEIGHT, draw_page, &s);
}
