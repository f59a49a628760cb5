/* Phantoms by name. */
#include "phantom/epr_table.h"
#include "phantom/file.h"

#include "base/mem.h"
#include "base/range.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Lengths in units of the cube's half side. */
struct row {
    double density, a, b, c, x, y, z, turn_deg;
};

/* Toft 1996 (densities), Schabel's three-dimensional extension (geometry). */
static const struct row shepp_logan[] = {
    {1.0, .69, .92, .81, 0, 0, 0, 0},      {-.8, .6624, .874, .78, 0, -.0184, 0, 0},
    {-.2, .11, .31, .22, .22, 0, 0, -18},  {-.2, .16, .41, .28, -.22, 0, 0, 18},
    {.1, .21, .25, .41, 0, .35, -.15, 0},  {.1, .046, .046, .05, 0, .1, .25, 0},
    {.1, .046, .046, .05, 0, -.1, .25, 0}, {.1, .046, .023, .05, -.08, -.605, 0, 0},
    {.1, .023, .023, .02, 0, -.606, 0, 0}, {.1, .023, .046, .02, .06, -.605, 0, 0},
};

/* Kak & Slaney 1988, Principles of Computerized Tomographic Imaging, table 3.1. */
static const struct row kak_slaney[] = {
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
static const struct row defrise[] = {
    {1, .7, .7, .04, 0, 0, -.72, 0}, {1, .7, .7, .04, 0, 0, -.48, 0},
    {1, .7, .7, .04, 0, 0, -.24, 0}, {1, .7, .7, .04, 0, 0, 0, 0},
    {1, .7, .7, .04, 0, 0, .24, 0},  {1, .7, .7, .04, 0, 0, .48, 0},
    {1, .7, .7, .04, 0, 0, .72, 0},
};

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

static const struct {
    const char *name;
    const struct row *rows;
    size_t n;
} tables[] = {
    {"shepp-logan", shepp_logan, COUNT(shepp_logan)},
    {"shepp-logan-original", kak_slaney, COUNT(kak_slaney)},
    {"defrise", defrise, COUNT(defrise)},
};

static fbp_status from_table(struct fbp_phantom *out, const struct row *rows, size_t n, double h,
                             double scale)
{
    FBP_TRY(fbp_calloc((void **)&out->items, n, sizeof *out->items, "phantom"));
    out->n = n;
    for (size_t i = 0; i < n; i++) {
        const struct row *r = &rows[i];
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
    return i < COUNT(tables) ? tables[i].name : fbp_epr_table_name(i - COUNT(tables));
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
    st = !named              ? from_file(out, name, scale)
         : t < COUNT(tables) ? from_table(out, tables[t].rows, tables[t].n, half_mm, scale)
                             : fbp_epr_table_create(out, t - COUNT(tables), half_mm, scale);
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
