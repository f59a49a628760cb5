/* Phantoms by name. */
#include "phantom/body.h"
#include "phantom/file.h"

#include "base/base.h"
#include "base/math.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Lengths in units of the cube's half side; axes are the columns of Rz(turn[0]) Rx(turn[1])
 * Rz(turn[2]) [rad]. */
struct row {
    enum fbp_shape_kind kind;
    double c[3], half[3], turn[3], density;
    double range[2]; /* as in fbp_shape; of a cylinder always -1 to 1 */
    double along;    /* the centre is so far up its third axis from c */
    bool down;       /* the third axis is reversed then */
    bool lower;      /* only what lies below the centre */
};

/* An off-centre ball, uniform and soft, and an ellipsoid that is turned about all axes. */
static const struct row ball[] = {
    {.c = {.10, -.05, .08}, .half = {.55, .55, .55}, .density = 1},
};
static const struct row soft_ball[] = {
    {FBP_SHAPE_SOFT, .c = {.10, -.05, .08}, .half = {.6, .6, .6}, .density = 1, .range = {2}},
};
static const struct row ellipsoid[] = {
    {.c = {.08, -.1, .05}, .half = {.70, .45, .58}, .turn = {.4, .9, .2}, .density = 1},
};
static const struct row ellipsoids[] = {
    {.half = {.70, .55, .80}, .turn = {.4, .3, .2}, .density = 1},
    {.c = {.2, .1, -.15}, .half = {.2, .3, .15}, .turn = {1, .5, .2}, .density = .8},
    {.c = {-.25, -.1, .2}, .half = {.12, .12, .25}, .turn = {.2, 1, .1}, .density = -.6},
};

#define TILT     .turn = {.5, .35, 0}
#define CYLINDER FBP_SHAPE_CYLINDER, .range = {-1, 1}

/* A bottle of liquid, tilted.  Up its axis: a round bottom, the body, the shoulder, which is a cone
 * whose tip would be .92 times its radius above its rim, and the neck. */
static const struct row bottle[] = {
    {.half = {.38, .38, .15}, TILT, .density = 1, .along = -.55, .lower = true},
    {CYLINDER, .half = {.38, .38, .375}, TILT, .density = 1, .along = -.175},
    {FBP_SHAPE_CONE, .half = {.92, .92, 1}, TILT, .density = 1, .along = .2 + .38 / .92,
     .range = {.15 / .92, .38 / .92}, .down = true},
    {CYLINDER, .half = {.15, .15, .135}, TILT, .density = 1, .along = .585},
};

/* Tubes of some widths, of liquids of some concentrations; none is parallel to an axis. */
static const struct row tubes[] = {
    {CYLINDER, .c = {-.35, -.3, 0}, .half = {.2, .2, .6}, .turn = {.3, .1, 0}, .density = 1},
    {CYLINDER, .c = {.35, -.25, .05}, .half = {.14, .14, .6}, .turn = {-.8, .15, 0},
     .density = .75},
    {CYLINDER, .c = {.3, .35, -.05}, .half = {.1, .1, .55}, .turn = {2, .2, 0}, .density = .5},
    {CYLINDER, .c = {-.3, .4, .1}, .half = {.07, .07, .5}, .turn = {1.2, .3, 0}, .density = 1.5},
    {CYLINDER, .c = {0, .05, 0}, .half = {.05, .05, .5}, .turn = {0, .5, 0}, .density = 2},
};

#define TABLE(name, rows)                          \
    {                                              \
        name, rows, sizeof(rows) / sizeof(rows)[0] \
    }

static const struct {
    const char *name;
    const struct row *rows;
    size_t n;
} tables[] = {TABLE("ball", ball),           TABLE("soft-ball", soft_ball),
              TABLE("ellipsoid", ellipsoid), TABLE("ellipsoids", ellipsoids),
              TABLE("bottle", bottle),       TABLE("tubes", tubes)};

const char *fbp_epr_table_name(size_t i)
{
    return i < sizeof tables / sizeof *tables ? tables[i].name : NULL;
}

static void shape_of(const struct row *r, double h, double scale, struct fbp_shape *s)
{
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

fbp_status fbp_epr_table_create(struct fbp_phantom *out, size_t i, double h, double scale)
{
    FBP_TRY(fbp_calloc((void **)&out->shapes, tables[i].n, sizeof *out->shapes, "phantom"));
    out->n_shapes = tables[i].n;
    for (size_t k = 0; k < tables[i].n; k++)
        shape_of(&tables[i].rows[k], h, scale, &out->shapes[k]);
    return FBP_OK;
}

/* Phantoms by name. */

/* Lengths in units of the cube's half side. */
struct named_row {
    double density, a, b, c, x, y, z, turn_deg;
};

/* Toft 1996 (densities), Schabel's three-dimensional extension (geometry). */
static const struct named_row shepp_logan[] = {
    {1.0, .69, .92, .81, 0, 0, 0, 0},      {-.8, .6624, .874, .78, 0, -.0184, 0, 0},
    {-.2, .11, .31, .22, .22, 0, 0, -18},  {-.2, .16, .41, .28, -.22, 0, 0, 18},
    {.1, .21, .25, .41, 0, .35, -.15, 0},  {.1, .046, .046, .05, 0, .1, .25, 0},
    {.1, .046, .046, .05, 0, -.1, .25, 0}, {.1, .046, .023, .05, -.08, -.605, 0, 0},
    {.1, .023, .023, .02, 0, -.606, 0, 0}, {.1, .023, .046, .02, .06, -.605, 0, 0},
};

/* Kak & Slaney 1988, Principles of Computerized Tomographic Imaging, table 3.1. */
static const struct named_row kak_slaney[] = {
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

/* Defrise: disks across the axis, which a circular orbit cannot tell apart far from its plane. */
static const struct named_row defrise[] = {
    {1, .7, .7, .04, 0, 0, -.72, 0}, {1, .7, .7, .04, 0, 0, -.48, 0},
    {1, .7, .7, .04, 0, 0, -.24, 0}, {1, .7, .7, .04, 0, 0, 0, 0},
    {1, .7, .7, .04, 0, 0, .24, 0},  {1, .7, .7, .04, 0, 0, .48, 0},
    {1, .7, .7, .04, 0, 0, .72, 0},
};

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

static const struct {
    const char *name;
    const struct named_row *rows;
    size_t n;
} named_tables[] = {
    {"shepp-logan", shepp_logan, COUNT(shepp_logan)},
    {"shepp-logan-original", kak_slaney, COUNT(kak_slaney)},
    {"defrise", defrise, COUNT(defrise)},
};

static fbp_status from_table(struct fbp_phantom *out, const struct named_row *rows, size_t n,
                             double h, double scale)
{
    FBP_TRY(fbp_calloc((void **)&out->items, n, sizeof *out->items, "phantom"));
    out->n = n;
    for (size_t i = 0; i < n; i++) {
        const struct named_row *r = &rows[i];
        out->items[i] = (struct fbp_ellipsoid){
            .centre_mm = {r->x * h, r->y * h, r->z * h},
            .axes_mm = {r->a * h, r->b * h, r->c * h},
            .turn_deg = r->turn_deg,
            .density = r->density * scale,
        };
    }
    return FBP_OK;
}

const char *fbp_phantom_name(size_t i)
{
    return i < COUNT(named_tables) ? named_tables[i].name
                                   : fbp_epr_table_name(i - COUNT(named_tables));
}

static fbp_status unknown(const char *name)
{
    char known[300] = "";
    size_t len = 0;

    for (size_t i = 0; fbp_phantom_name(i) && len < sizeof known; i++)
        len += (size_t)snprintf(known + len, sizeof known - len, "%s%s", i ? ", " : "",
                                fbp_phantom_name(i));
    return fbp_fail(FBP_ERR_INVALID,
                    "phantom: '%s' is neither a name nor a file: use %s or a text file of shapes",
                    name, known);
}

static fbp_status from_file(struct fbp_phantom *out, const char *path, double scale)
{
    if (access(path, F_OK) != 0 && errno == ENOENT)
        return unknown(path);
    return fbp_phantom_load(out, path, scale);
}

fbp_status fbp_phantom_create(struct fbp_phantom *out, const char *name, double half_mm,
                              double scale)
{
    FBP_GIVEN(out, name);
    fbp_status st;
    size_t t = 0;

    fbp_message_clear();
    *out = (struct fbp_phantom){0};
    FBP_TRY(fbp_check_range(&fbp_range_scale, "phantom: scale", scale));
    while (fbp_phantom_name(t) && strcmp(name, fbp_phantom_name(t)) != 0)
        t++;
    const bool named = fbp_phantom_name(t) != NULL;
    if (named)
        FBP_TRY(fbp_check_range(&fbp_range_distance, "phantom: half_mm", half_mm));
    st = !named ? from_file(out, name, scale)
         : t < COUNT(named_tables)
             ? from_table(out, named_tables[t].rows, named_tables[t].n, half_mm, scale)
             : fbp_epr_table_create(out, t - COUNT(named_tables), half_mm, scale);
    if (st != FBP_OK)
        fbp_phantom_clear(out);
    return st;
}

void fbp_phantom_clear(struct fbp_phantom *phantom)
{
    FBP_GIVEN_ELSE(, phantom);
    free(phantom->items);
    free(phantom->shapes);
    *phantom = (struct fbp_phantom){0};
}
