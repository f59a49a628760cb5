/* `fbp geometry check` for plane integrals: number and distribution of the directions, weights, and
 * output as text or JSON; called by geometry_check.c and geometry_text.c. */
#include "geometry_check.h"
#include "say.h"

#include "geometry/directions.h"
#include "geometry/kind.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

/* Compute the unit vectors n and weights w of the views: the scan's weights, or those of its
 * quadrature rule. */
static fbp_status weigh(const struct fbp_scan *scan, double (*n)[3], double *w, struct check *c)
{
    for (size_t k = 0; k < scan->n_views; k++) {
        const double *u = scan->views[k].u, length = hypot(hypot(u[0], u[1]), u[2]);
        for (int i = 0; i < 3; i++)
            n[k][i] = u[i] / length;
        if (scan->plane_weights)
            w[k] = scan->plane_weights[k];
    }
    const fbp_status st =
        fbp_quadrature_weights((const double(*)[3])n, scan->n_views, scan->quadrature, w,
                               c->planes.weights, sizeof c->planes.weights);
    for (size_t k = 0; st == FBP_OK && k < scan->n_views; k++)
        c->planes.sum += w[k] / (2 * pi);
    return st;
}

/* Compute the needed number of directions: n rings, with 2 n^2 / pi directions in total, suffice
 * for the radius n spacing / (pi cutoff). */
static void count_directions(struct check *c)
{
    const struct fbp_geometry_facts *f = &c->facts;
    struct check_planes *p = &c->planes;

    for (int i = 0; i < 3; i++)
        p->reach_mm = fmax(p->reach_mm, (double)c->grid.n[i] * c->grid.voxel_mm[i] / 2);
    const double rings = pi * p->cutoff * p->reach_mm / f->spacing_mm;
    p->needed = ceil(2 / pi * rings * rings);
    p->enough_at = fmin(1, f->alias_free_mm / p->reach_mm);
}

int check_planes(const struct fbp_scan *scan, struct check *c)
{
    double(*n)[3] = calloc(scan->n_views, sizeof *n), *w = calloc(scan->n_views, sizeof *w);
    const fbp_status st = n && w ? weigh(scan, n, w, c) : FBP_ERR_NOMEM;

    if (st == FBP_OK &&
        fbp_meridians_of((const double(*)[3])n, scan->n_views, &c->planes.meridians) == FBP_OK) {
        const struct fbp_meridian_planes found = c->planes.meridians;
        fbp_meridians_clear(&c->planes.meridians);
        c->planes.meridians.n = found.n;
        c->planes.meridians.most = found.most;
        memcpy(c->planes.meridians.axis, found.axis, sizeof found.axis);
    }
    free(n);
    free(w);
    if (st != FBP_OK)
        return *fbp_message() ? cli_fail() : cli_error("out of memory for directions");
    count_directions(c);
    return 0;
}

static void print_meridians(const struct fbp_meridian_planes *m)
{
    if (m->n)
        printf("meridians   %zu planes through (%.5g, %.5g, %.5g), of up to %zu directions; "
               "--stages 2 is possible\n",
               m->n, m->axis[0], m->axis[1], m->axis[2], m->most);
    else
        printf("meridians   none: the directions do not share planes through one axis\n");
}

int check_planes_text(const struct fbp_scan *scan, const struct check *c)
{
    const struct fbp_geometry_facts *f = &c->facts;
    char grid[120];

    printf("scan        plane integrals, %zu views of %zu samples, %.6g mm apart\n", scan->n_views,
           scan->panel.n_columns, f->spacing_mm);
    printf("directions  %zu different ones; each point of the sphere is at most %.3g degrees from "
           "one, typically %.3g\n",
           f->n_angles, cli_degrees(f->direction_gap_rad) / 2, cli_degrees(f->step_rad[1]) / 2);
    printf("            at cut-off %.3g, small objects have no streaks within %.4g mm\n",
           c->planes.cutoff, f->alias_free_mm / c->planes.cutoff);
    if (f->n_angles < scan->n_views)
        printf("            %zu of %zu occur twice, or together with the opposite direction\n",
               scan->n_views - f->n_angles, scan->n_views);
    printf("            the volume's %.5g mm need %.0f directions at cut-off %.3g",
           2 * c->planes.reach_mm, c->planes.needed, c->planes.cutoff);
    if ((double)f->n_angles < c->planes.needed)
        printf("; expect streaks farther away, or use a cut-off of %.2g or less",
               floor(100 * c->planes.enough_at) / 100);
    putchar('\n');
    printf("weights     %s\n", c->planes.weights);
    print_meridians(&c->planes.meridians);
    printf("samples     from %.6g to %.6g mm; the field of view has a radius of %.5g mm\n",
           f->edge_mm[0], f->edge_mm[1], f->fov_radius_mm);
    printf("volume      %s%s\n", cli_grid(grid, sizeof grid, &c->grid),
           scan->volume.n[0] ? "" : ", derived from the samples");
    printf("            extends %.5g mm from the centre: %s\n", f->volume_radius_mm,
           f->volume_inside ? "seen by every view" : "its corners are not seen by every view");
    for (size_t i = 0; i < c->n_warnings; i++)
        printf("warning     %s\n", say_name(c->warnings[i]));
    return 0;
}

int check_planes_json(const struct fbp_scan *scan, const struct check *c)
{
    const struct fbp_geometry_facts *f = &c->facts;
    cJSON *root = cJSON_CreateObject();

    cJSON_AddStringToObject(root, "kind", fbp_kind_name(scan->kind));
    cJSON_AddNumberToObject(root, "views", (double)scan->n_views);
    cJSON_AddNumberToObject(root, "samples", (double)scan->panel.n_columns);
    cJSON_AddNumberToObject(root, "spacing_mm", f->spacing_mm);
    cli_json_numbers(root, "samples_mm", f->edge_mm, 2);
    cJSON_AddNumberToObject(root, "directions", (double)f->n_angles);
    cJSON_AddNumberToObject(root, "directions_needed", c->planes.needed);
    cJSON_AddNumberToObject(root, "cutoff", c->planes.cutoff);
    cJSON_AddNumberToObject(root, "alias_free_mm", f->alias_free_mm / c->planes.cutoff);
    cJSON_AddNumberToObject(root, "hole_deg", cli_degrees(f->direction_gap_rad));
    cJSON_AddNumberToObject(root, "gap_deg", cli_degrees(f->gap_rad));
    cJSON_AddStringToObject(root, "weights", c->planes.weights);
    cJSON_AddNumberToObject(root, "weights_sum", c->planes.sum);
    cJSON_AddNumberToObject(root, "meridians", (double)c->planes.meridians.n);
    if (c->planes.meridians.n)
        cli_json_numbers(root, "meridians_axis", c->planes.meridians.axis, 3);
    cli_json_sizes(root, "size", c->grid.n, 3);
    cli_json_numbers(root, "voxel_mm", c->grid.voxel_mm, 3);
    cli_json_numbers(root, "centre_mm", c->grid.centre_mm, 3);
    cJSON_AddNumberToObject(root, "volume_radius_mm", f->volume_radius_mm);
    cJSON_AddNumberToObject(root, "fov_radius_mm", f->fov_radius_mm);
    cJSON_AddBoolToObject(root, "volume_inside", f->volume_inside);
    if (c->error[0])
        cJSON_AddStringToObject(root, "error", c->error);
    cJSON *list = cJSON_AddArrayToObject(root, "warnings");
    for (size_t i = 0; i < c->n_warnings; i++)
        cJSON_AddItemToArray(list, cJSON_CreateString(c->warnings[i]));
    return cli_json(root, false);
}
