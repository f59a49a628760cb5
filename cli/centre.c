/* --centre auto: finds the detector column of the rotation axis before the reconstruction; called
 * by recon.c and sweep.c. */
#include "recon.h"
#include "say.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool centre_is_auto(const double values[FBP_ADJUSTS])
{
    return isinf(values[FBP_ADJUST_CENTRE]);
}

/* Find the column, after all other adjustments are applied to a copy of the scan; views: buffer for
 * scan->n_views views. */
static int find(const struct recon_args *a, const struct fbp_scan *scan, struct fbp_view *views,
                struct fbp_centre *found)
{
    struct fbp_recon_params p = a->p;
    struct fbp_scan other = *scan;
    double values[FBP_ADJUSTS];

    memcpy(values, a->adjust, sizeof values);
    values[FBP_ADJUST_CENTRE] = NAN;
    memcpy(views, scan->views, scan->n_views * sizeof *views);
    other.views = views;
    p.callbacks.progress = progress_stop;
    p.output.fill = false;
    p.region.shape = NULL;
    if (adjust_scan(&other, values) != 0)
        return 1;
    found->struct_size = sizeof *found;
    return fbp_centre_find(&other, &p, found) == FBP_OK ? 0 : cli_fail();
}

/* Print the column; an unreliable result is a warning, also with --quiet. */
static void tell(const struct recon_args *a, const struct fbp_centre *c)
{
    char range[48] = "";

    if (isfinite(c->uncertainty))
        snprintf(range, sizeof range, ", give or take %.2g", fmax(c->uncertainty, 0.001));
    if (!c->sure)
        say_warning(false,
                    "column %.6g%s of the rotation axis is NOT RELIABLE: %s; compare the images "
                    "of --sweep centre=%.6g:%.6g:0.5 -o sheet.png",
                    c->column, range, c->why, floor(c->column) - 5, floor(c->column) + 6);
    else
        say_note(a->quiet,
                 "centre: column %.6g, give or take %.2g; --centre %.6g repeats this choice",
                 c->column, fmax(c->uncertainty, 0.001), c->column);
}

int centre_find(struct recon_args *a, const struct fbp_scan *scan)
{
    struct fbp_view *views;

    if (!centre_is_auto(a->adjust))
        return 0;
    views = malloc(scan->n_views * sizeof *views);
    if (!views)
        return cli_error("out of memory for the views; close other programs");
    const int rc = find(a, scan, views, &a->centre);
    free(views);
    if (rc != 0)
        return rc;
    a->adjust[FBP_ADJUST_CENTRE] = a->centre.column;
    a->has_centre = true;
    tell(a, &a->centre);
    return 0;
}

void centre_json(cJSON *root, const struct fbp_centre *c)
{
    cJSON *o = cJSON_AddObjectToObject(root, "centre");

    cJSON_AddNumberToObject(o, "column", c->column);
    cJSON_AddBoolToObject(o, "sure", c->sure);
    cJSON_AddNumberToObject(o, "by_rays", c->by_rays);
    if (!isnan(c->by_slice))
        cJSON_AddNumberToObject(o, "by_slice", c->by_slice);
    if (!isnan(c->by_turn))
        cJSON_AddNumberToObject(o, "by_turn", c->by_turn);
    if (isfinite(c->uncertainty))
        cJSON_AddNumberToObject(o, "uncertainty", c->uncertainty);
    cJSON_AddNumberToObject(o, "spread", c->spread);
    cJSON_AddNumberToObject(o, "misfit", c->misfit);
    if (!isnan(c->rival))
        cJSON_AddNumberToObject(o, "rival", c->rival);
    if (!c->sure)
        cJSON_AddStringToObject(o, "why", c->why);
}
