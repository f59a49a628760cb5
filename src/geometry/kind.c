/* The kinds there are, and the calls that every kind has. */
#include "geometry/kind.h"

#include "base/sizes.h"
#include "base/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct fbp_kind_table *const built_in[FBP_MOST_KINDS] = {
    [FBP_CONE] = &fbp_kind_cone,
    [FBP_PARALLEL] = &fbp_kind_parallel,
    [FBP_PLANES] = &fbp_kind_planes,
};

static const struct fbp_kind_table unknown = {.name = "unknown",
                                              .refused = "there is no such kind"};

static const struct fbp_kind_table *plugged_in[FBP_MOST_KINDS];

static const struct fbp_kind_table *known(enum fbp_kind kind)
{
    const unsigned i = (unsigned)kind;

    if (i >= FBP_MOST_KINDS)
        return NULL;
    return plugged_in[i] ? plugged_in[i] : built_in[i];
}

const struct fbp_kind_table *fbp_kind_of(enum fbp_kind kind)
{
    const struct fbp_kind_table *table = known(kind);

    return table ? table : &unknown;
}

void fbp_kind_plug_in(enum fbp_kind kind, const struct fbp_kind_table *table)
{
    plugged_in[kind] = table;
}

size_t fbp_kinds(enum fbp_kind kinds[FBP_MOST_KINDS], const char *names[FBP_MOST_KINDS])
{
    size_t n = 0;

    for (unsigned i = 0; i < FBP_MOST_KINDS; i++) {
        const struct fbp_kind_table *table = known((enum fbp_kind)i);
        if (!table || table->refused)
            continue;
        kinds[n] = (enum fbp_kind)i;
        if (names)
            names[n] = table->name;
        n++;
    }
    return n;
}

size_t fbp_kind_frames(enum fbp_kind kind, const struct fbp_panel *panel)
{
    return fbp_kind_of(kind)->row_is_frame ? panel->n_rows : 1;
}

/* Integrals over lines are of something a length, those over planes of something a volume: a sample
 * is then what a length of t holds. */
static const struct {
    const char *name, *of[FBP_N_INTEGRALS];
    double scale[FBP_N_INTEGRALS];
} units[] = {
    [FBP_UNIT_MM] = {"mm", {[FBP_OVER_LINES] = "1/mm", [FBP_OVER_PLANES] = "1/mm^3"}, {1, 1}},
    [FBP_UNIT_CM] = {"cm", {[FBP_OVER_LINES] = "1/cm", [FBP_OVER_PLANES] = "1/cm^3"}, {10, 1000}},
};

const char *fbp_unit_name(enum fbp_unit unit)
{
    const size_t i = (size_t)unit;

    return i < sizeof units / sizeof *units ? units[i].name : NULL;
}

const char *fbp_value_unit(enum fbp_kind kind, enum fbp_unit unit)
{
    return units[unit].of[fbp_kind_of(kind)->integral];
}

double fbp_value_scale(enum fbp_kind kind, enum fbp_unit unit)
{
    return units[unit].scale[fbp_kind_of(kind)->integral];
}

/* "cone or parallel" */
static const char *supported(char *buf, size_t size)
{
    enum fbp_kind kinds[FBP_MOST_KINDS];
    const char *names[FBP_MOST_KINDS];
    const size_t n = fbp_kinds(kinds, names);

    buf[0] = 0;
    for (size_t i = 0; i < n; i++) {
        const size_t used = strlen(buf);
        snprintf(buf + used, size - used, "%s%s",
                 i == 0      ? ""
                 : i + 1 < n ? ", "
                             : " or ",
                 names[i]);
    }
    return buf;
}

fbp_status fbp_check_kind(const char *where, enum fbp_kind kind)
{
    const struct fbp_kind_table *table = known(kind);
    char others[100];

    if (!table)
        return fbp_fail(FBP_ERR_INVALID, "%s: %d is no geometry kind: expected %s", where,
                        (int)kind, supported(others, sizeof others));
    if (table->refused)
        return fbp_fail(FBP_ERR_UNSUPPORTED, "%s: kind %s is not supported yet: %s: use %s", where,
                        table->name, table->refused, supported(others, sizeof others));
    return FBP_OK;
}

fbp_status fbp_check_kind_name(const char *where, const char *name)
{
    for (unsigned i = 0; i < FBP_MOST_KINDS; i++)
        if (known((enum fbp_kind)i) && strcmp(known((enum fbp_kind)i)->name, name) == 0)
            return fbp_check_kind(where, (enum fbp_kind)i);
    return FBP_OK;
}

fbp_status fbp_check_lines(const char *where, enum fbp_kind kind)
{
    FBP_TRY(fbp_check_kind(where, kind));
    if (fbp_kind_of(kind)->integral == FBP_OVER_LINES)
        return FBP_OK;
    return fbp_fail(FBP_ERR_UNSUPPORTED, "%s: kind %s has no line integrals, which this works on",
                    where, fbp_kind_of(kind)->name);
}

const char *fbp_kind_name(enum fbp_kind kind)
{
    return fbp_kind_of(kind)->name;
}

const char *fbp_kind_listed(size_t i, const char **refused)
{
    size_t n = FBP_MOST_KINDS;

    while (n > 0 && !known((enum fbp_kind)(n - 1)))
        n--;
    const struct fbp_kind_table *table = i < n ? fbp_kind_of((enum fbp_kind)i) : NULL;
    if (refused)
        *refused = table ? table->refused : NULL;
    if (!table)
        return NULL;
    return table == &unknown ? "" : table->name;
}

bool fbp_kind_has_source(enum fbp_kind kind)
{
    return fbp_kind_of(kind)->has_source;
}

bool fbp_kind_has_lines(enum fbp_kind kind)
{
    return fbp_kind_of(kind)->integral == FBP_OVER_LINES;
}

bool fbp_view_matrix(const struct fbp_view *view, enum fbp_kind kind, const struct fbp_panel *panel,
                     double P[12])
{
    const struct fbp_kind_table *table = fbp_kind_of(kind);

    return !table->refused && table->matrix(view, panel, P);
}

fbp_status fbp_view_to_matrix(const struct fbp_view *view, enum fbp_kind kind,
                              const struct fbp_panel *panel, double P[12])
{
    FBP_GIVEN(view, panel, P);
    fbp_message_clear();
    FBP_TRY(fbp_check_kind("geometry", kind));
    if (fbp_view_matrix(view, kind, panel, P))
        return FBP_OK;
    if (fbp_kind_of(kind)->integral != FBP_OVER_LINES)
        return fbp_fail(FBP_ERR_INVALID, "geometry: the step u from sample to sample is 0, or not "
                                         "a number: check spacing and direction of the view");
    return fbp_fail(FBP_ERR_INVALID,
                    "geometry: the source lies in the plane of the panel, or its rows and columns "
                    "are parallel: check source, panel centre and axes of the view");
}

fbp_status fbp_facts_of(struct fbp_views views, const struct fbp_grid *grid,
                        struct fbp_geometry_facts *out)
{
    *out = (struct fbp_geometry_facts){.struct_size = sizeof *out};
    FBP_TRY(fbp_check_kind("geometry", views.kind));
    const struct fbp_kind_table *kind = fbp_kind_of(views.kind);
    /* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): a kind that is known has all functions */
    struct fbp_grid moved = grid ? *grid : (struct fbp_grid){.n = {0}};
    struct fbp_view *own;
    double centre[3];

    FBP_TRY(fbp_views_centre(kind, &views, centre, &own));
    fbp_axpy(moved.centre_mm, -1, centre, moved.centre_mm);
    const fbp_status st = kind->facts(kind, &views, grid ? &moved : NULL, out);
    for (int i = 0; own && i < 2; i++)
        out->fov_half_height_mm[i] += fbp_dot(centre, out->axis);
    free(own);
    return st;
}

fbp_status fbp_views_facts(struct fbp_views views, const struct fbp_grid *grid,
                           struct fbp_geometry_facts *out)
{
    FBP_GIVEN(views.view);
    struct fbp_geometry_facts own;

    fbp_message_clear();
    FBP_TRY(FBP_CHECK(geometry_facts, out));
    const fbp_status st = fbp_facts_of(views, grid, &own);
    FBP_GIVE(geometry_facts, out, &own);
    return st;
}

fbp_status fbp_geometry_rows(struct fbp_views views, size_t k0, size_t k1,
                             const struct fbp_grid *grid, size_t z0, size_t z1, size_t *r0,
                             size_t *r1)
{
    FBP_GIVEN(views.view, grid, r0, r1);
    fbp_message_clear();
    *r0 = *r1 = 0;
    FBP_TRY(fbp_check_kind("geometry", views.kind));
    const struct fbp_kind_table *kind = fbp_kind_of(views.kind);
    /* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): a kind that is known has all functions */
    kind->rows(kind, &views, k0, k1, grid, z0, z1, r0, r1);
    return FBP_OK;
}

fbp_status fbp_grid_default(struct fbp_views views, struct fbp_grid *out)
{
    FBP_GIVEN(views.view, out);
    fbp_message_clear();
    *out = (struct fbp_grid){.n = {0}};
    FBP_TRY(fbp_check_kind("geometry", views.kind));
    const struct fbp_kind_table *kind = fbp_kind_of(views.kind);
    /* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): a kind that is known has all functions */
    struct fbp_view *own;
    double centre[3];

    FBP_TRY(fbp_views_centre(kind, &views, centre, &own));
    kind->grid(kind, &views, out);
    fbp_axpy(out->centre_mm, 1, centre, out->centre_mm);
    free(own);
    return FBP_OK;
}
