#include "phantom/epr_table.h"

#include "base/mem.h"
#include "base/vec.h"
#include "phantom/euler.h"

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
