/* Built-in phantoms (Shepp-Logan, Defrise, ...): tables of ellipsoids and shapes, in units of the
 * half side of the cube that they fill. fbp_phantom_create() creates a phantom by name or, through
 * file.c, from a file, and fbp_phantom_clear() frees it (both public); fbp_phantom_name() lists
 * the names.
 * Used by: bench/common/, bench/host/, bench/papers/qiao2015/, bench/rabbitct/, cli/, pipeline/. */
#include "phantom/shapes.h"

#include "base/base.h"
#include "base/math.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* An ellipsoid with half axes a, b, c and centre (x, y, z), rotated about z by turn_deg degrees. */
struct ellipsoid_row {
    double density, a, b, c, x, y, z, turn_deg;
};

/* Shepp-Logan phantom: densities of Toft 1996, Schabel's three-dimensional geometry. */
static const struct ellipsoid_row shepp_logan[] = {
    {1.0, .69, .92, .81, 0, 0, 0, 0},      {-.8, .6624, .874, .78, 0, -.0184, 0, 0},
    {-.2, .11, .31, .22, .22, 0, 0, -18},  {-.2, .16, .41, .28, -.22, 0, 0, 18},
    {.1, .21, .25, .41, 0, .35, -.15, 0},  {.1, .046, .046, .05, 0, .1, .25, 0},
    {.1, .046, .046, .05, 0, -.1, .25, 0}, {.1, .046, .023, .05, -.08, -.605, 0, 0},
    {.1, .023, .023, .02, 0, -.606, 0, 0}, {.1, .023, .046, .02, .06, -.605, 0, 0},
};

/* Shepp-Logan phantom of Kak & Slaney 1988, Computerized Tomographic Imaging, table 3.1. */
static const struct ellipsoid_row kak_slaney[] = {
    {2.0, .69, .92, .9, 0, 0, 0, 0},
    {-.98, .6624, .874, .88, 0, 0, 0, 0},
    {-.02, .41, .16, .21, -.22, 0, -.25, 108},
    {-.02, .31, .11, .22, .22, 0, -.25, 72},
    {.02, .21, .25, .5, 0, .35, -.25, 0},
    {.02, .046, .046, .046, 0, .1, -.25, 0},
    {.01, .046, .023, .02, -.08, -.65, -.25, 0},
    {.01, .046, .023, .02, .06, -.65, -.25, 90},
    {.02, .056, .04, .1, .06, -.105, .625, 90},
    {-.02, .056, .056, .1, 0, .1, .625, 0},
};

/* Defrise phantom: thin disks perpendicular to the rotation axis z. A circular cone-beam scan does
 * not resolve the disks far from the plane of the circle. */
static const struct ellipsoid_row defrise[] = {
    {1, .7, .7, .04, 0, 0, -.72, 0}, {1, .7, .7, .04, 0, 0, -.48, 0},
    {1, .7, .7, .04, 0, 0, -.24, 0}, {1, .7, .7, .04, 0, 0, 0, 0},
    {1, .7, .7, .04, 0, 0, .24, 0},  {1, .7, .7, .04, 0, 0, .48, 0},
    {1, .7, .7, .04, 0, 0, .72, 0},
};

struct shape_row {
    enum fbp_shape_kind kind;
    double c[3], half[3], turn[3], density; /* turn [rad]: see fbp_euler_axes() */
    /* Cylinder, cone: positions of both ends along the third axis, in units of half[2]; soft
     * ellipsoid: exponent m; see fbp_shape.range. */
    double range[2];
    double along; /* the centre is c + along * (third axis) */
    bool down;    /* true: the third axis is reversed after the centre is set */
    bool lower;   /* true: only the half below the centre, along the third axis, is used */
};

/* A uniform ball and a soft ball (density 0 at its surface), both off the centre, and phantoms of
 * one and of three rotated ellipsoids. */
static const struct shape_row ball[] = {
    {.c = {.10, -.05, .08}, .half = {.55, .55, .55}, .density = 1},
};
static const struct shape_row soft_ball[] = {
    {FBP_SHAPE_SOFT, .c = {.10, -.05, .08}, .half = {.6, .6, .6}, .density = 1, .range = {2}},
};
static const struct shape_row ellipsoid[] = {
    {.c = {.08, -.1, .05}, .half = {.70, .45, .58}, .turn = {.4, .9, .2}, .density = 1},
};
static const struct shape_row ellipsoids[] = {
    {.half = {.70, .55, .80}, .turn = {.4, .3, .2}, .density = 1},
    {.c = {.2, .1, -.15}, .half = {.2, .3, .15}, .turn = {1, .5, .2}, .density = .8},
    {.c = {-.25, -.1, .2}, .half = {.12, .12, .25}, .turn = {.2, 1, .1}, .density = -.6},
};

#define TILT     .turn = {.5, .35, 0}
#define CYLINDER FBP_SHAPE_CYLINDER, .range = {-1, 1}

/* A tilted bottle of liquid, in this order: the round bottom, the body, the shoulder (part of a
 * cone whose radius is .92 at distance 1 from its tip), and the neck. */
static const struct shape_row bottle[] = {
    {.half = {.38, .38, .15}, TILT, .density = 1, .along = -.55, .lower = true},
    {CYLINDER, .half = {.38, .38, .375}, TILT, .density = 1, .along = -.175},
    {FBP_SHAPE_CONE, .half = {.92, .92, 1}, TILT, .density = 1, .along = .2 + .38 / .92,
     .range = {.15 / .92, .38 / .92}, .down = true},
    {CYLINDER, .half = {.15, .15, .135}, TILT, .density = 1, .along = .585},
};

/* Tubes of different radii and densities; none is parallel to a world axis. */
static const struct shape_row tubes[] = {
    {CYLINDER, .c = {-.35, -.3, 0}, .half = {.2, .2, .6}, .turn = {.3, .1, 0}, .density = 1},
    {CYLINDER, .c = {.35, -.25, .05}, .half = {.14, .14, .6}, .turn = {-.8, .15, 0},
     .density = .75},
    {CYLINDER, .c = {.3, .35, -.05}, .half = {.1, .1, .55}, .turn = {2, .2, 0}, .density = .5},
    {CYLINDER, .c = {-.3, .4, .1}, .half = {.07, .07, .5}, .turn = {1.2, .3, 0}, .density = 1.5},
    {CYLINDER, .c = {0, .05, 0}, .half = {.05, .05, .5}, .turn = {0, .5, 0}, .density = 2},
};

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

/* The built-in phantoms; each consists of n ellipsoids or of n shapes. */
static const struct table {
    const char *name;
    const struct ellipsoid_row *ellipsoids;
    const struct shape_row *shapes;
    size_t n;
} tables[] = {
    {"shepp-logan", shepp_logan, NULL, COUNT(shepp_logan)},
    {"shepp-logan-original", kak_slaney, NULL, COUNT(kak_slaney)},
    {"defrise", defrise, NULL, COUNT(defrise)},
    {"ball", NULL, ball, COUNT(ball)},
    {"soft-ball", NULL, soft_ball, COUNT(soft_ball)},
    {"ellipsoid", NULL, ellipsoid, COUNT(ellipsoid)},
    {"ellipsoids", NULL, ellipsoids, COUNT(ellipsoids)},
    {"bottle", NULL, bottle, COUNT(bottle)},
    {"tubes", NULL, tubes, COUNT(tubes)},
};

const char *fbp_phantom_name(size_t i)
{
    return i < COUNT(tables) ? tables[i].name : NULL;
}

fbp_status fbp_phantom_create(struct fbp_phantom *out, const char *name, double half_mm,
                              double scale)
{
    FBP_REQUIRE(out, name);
    const double h = half_mm;
    char known[300] = "";
    size_t i_table = 0, length = 0;

    fbp_message_clear();
    *out = (struct fbp_phantom){0};
    FBP_TRY(fbp_check_range(&fbp_range_scale, "phantom: scale", scale));
    while (i_table < COUNT(tables) && strcmp(name, tables[i_table].name) != 0)
        i_table++;
    if (i_table == COUNT(tables) && access(name, F_OK) != 0 && errno == ENOENT) {
        for (size_t i = 0; i < COUNT(tables) && length < sizeof known; i++)
            length += (size_t)snprintf(known + length, sizeof known - length, "%s%s", i ? ", " : "",
                                       tables[i].name);
        return FBP_INVALID(
            "phantom: '%s' is neither a known phantom nor a file; use %s or a text file of shapes",
            name, known);
    }
    if (i_table == COUNT(tables)) {
        const fbp_status st = fbp_phantom_load(out, name, scale);
        if (st != FBP_OK)
            fbp_phantom_clear(out);
        return st;
    }

    FBP_TRY(fbp_check_range(&fbp_range_distance, "phantom: half_mm", half_mm));
    const struct table *t = &tables[i_table];
    if (t->ellipsoids) {
        FBP_TRY(fbp_calloc((void **)&out->items, t->n, sizeof *out->items, "phantom"));
        out->n = t->n;
    } else {
        FBP_TRY(fbp_calloc((void **)&out->shapes, t->n, sizeof *out->shapes, "phantom"));
        out->n_shapes = t->n;
    }
    for (size_t i = 0; i < out->n; i++) {
        const struct ellipsoid_row *r = &t->ellipsoids[i];
        out->items[i] = (struct fbp_ellipsoid){
            .centre_mm = {r->x * h, r->y * h, r->z * h},
            .axes_mm = {r->a * h, r->b * h, r->c * h},
            .turn_deg = r->turn_deg,
            .density = r->density * scale,
        };
    }
    for (size_t k = 0; k < out->n_shapes; k++) {
        const struct shape_row *r = &t->shapes[k];
        struct fbp_shape *s = &out->shapes[k];
        *s = (struct fbp_shape){
            .kind = r->kind, .range = {r->range[0], r->range[1]}, .density = r->density * scale};
        fbp_euler_axes(r->turn, s->axes);
        fbp_axpy(r->c, r->along, s->axes[2], s->centre_mm);
        for (int i = 0; i < 3; i++) {
            s->centre_mm[i] *= h;
            s->half_mm[i] = r->half[i] * h;
            s->planes[0].normal[i] = s->axes[2][i];
            s->axes[2][i] *= r->down ? -1 : 1;
        }
        s->planes[0].at_mm = fbp_dot(s->planes[0].normal, s->centre_mm);
        s->n_planes = r->lower;
    }
    return FBP_OK;
}

void fbp_phantom_clear(struct fbp_phantom *phantom)
{
    FBP_REQUIRE_ELSE(, phantom);
    free(phantom->items);
    free(phantom->shapes);
    *phantom = (struct fbp_phantom){0};
}
