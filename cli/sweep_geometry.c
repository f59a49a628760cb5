/* The parameters of a sweep: their names, and what they do to the views. */
#include "sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *other, *unit;
} parameters[] = {
    [SWEEP_CENTRE] = {"centre", "center", "column"},
    [SWEEP_TILT] = {"tilt", "", "deg"},
    [SWEEP_OFFSET] = {"offset", "", "mm"},
    [SWEEP_SOD] = {"sod", "", "mm"},
    [SWEEP_SDD] = {"sdd", "", "mm"},
};

const char *sweep_name(size_t i)
{
    return i < SWEEP_PARAMETERS ? parameters[i].name : NULL;
}

const char *sweep_unit(enum sweep_parameter parameter)
{
    return parameters[parameter].unit;
}

static bool find_parameter(const char *name, size_t n, enum sweep_parameter *out)
{
    for (size_t i = 0; i < SWEEP_PARAMETERS; i++)
        for (int k = 0; k < 2; k++) {
            const char *known = k ? parameters[i].other : parameters[i].name;
            if (strlen(known) == n && strncmp(known, name, n) == 0) {
                *out = (enum sweep_parameter)i;
                return true;
            }
        }
    return false;
}

/* FROM:TO:STEP, plain numbers. */
static bool read_range(const char *text, double v[3])
{
    for (int i = 0; i < 3; i++) {
        char *end;
        if (!strchr("+-.0123456789", *text) || *text == '\0')
            return false;
        v[i] = strtod(text, &end);
        if (end == text || *end != (i < 2 ? ':' : '\0') || !isfinite(v[i]))
            return false;
        text = end + 1;
    }
    return true;
}

bool sweep_parse(const char *text, struct sweep_range *out, char *why, size_t n)
{
    const char *equals = strchr(text, '=');
    double v[3];

    *out = (struct sweep_range){0};
    if (!equals || !find_parameter(text, (size_t)(equals - text), &out->parameter)) {
        size_t len = (size_t)snprintf(why, n, "expected NAME=FROM:TO:STEP with a NAME of");
        for (size_t i = 0; i < SWEEP_PARAMETERS && len < n; i++)
            len += (size_t)snprintf(why + len, n - len, "%s %s", i ? "," : "", parameters[i].name);
        return false;
    }
    if (!read_range(equals + 1, v)) {
        snprintf(why, n, "expected three numbers FROM:TO:STEP after %.*s", (int)(equals - text + 1),
                 text);
        return false;
    }
    if (!(v[2] > 0 && v[1] > v[0])) {
        snprintf(why, n, "expected FROM below TO and a positive STEP");
        return false;
    }
    const double count = floor((v[1] - v[0]) / v[2] + 1e-9) + 1;
    if (count < 2 || count > SWEEP_MOST) {
        snprintf(why, n, "%.6g values; expected 2 to %d: choose another STEP", count, SWEEP_MOST);
        return false;
    }
    out->from = v[0];
    out->to = v[1];
    out->step = v[2];
    out->n = (size_t)count;
    return true;
}

double sweep_value(const struct sweep_range *r, size_t i)
{
    const double value = r->from + (double)i * r->step;
    return fabs(value) < 1e-9 * r->step ? 0 : value;
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

/* Distance from the source along the ray through the iso-centre to the panel's plane. */
static double to_panel(const struct fbp_view *v)
{
    const double length = sqrt(dot(v->s, v->s));
    double normal[3], way[3];

    cross(v->u, v->v, normal);
    for (int i = 0; i < 3; i++)
        way[i] = v->d[i] - v->s[i];
    return -dot(normal, way) / dot(normal, v->s) * length;
}

static double mean_distance(const struct fbp_scan *scan, bool panel)
{
    double sum = 0;

    for (size_t k = 0; k < scan->n_views; k++)
        sum += panel ? to_panel(&scan->views[k]) : sqrt(dot(scan->views[k].s, scan->views[k].s));
    return sum / (double)scan->n_views;
}

static double pitch_of(const struct fbp_scan *scan)
{
    return sqrt(dot(scan->views[0].u, scan->views[0].u));
}

fbp_status sweep_present(const struct fbp_scan *scan, enum sweep_parameter parameter, double *out)
{
    double column;

    *out = 0;
    if (parameter == SWEEP_SOD || parameter == SWEEP_SDD) {
        *out = mean_distance(scan, parameter == SWEEP_SDD);
        return FBP_OK;
    }
    if (parameter == SWEEP_TILT)
        return FBP_OK;
    const fbp_status st = recon_axis_column(scan, &column);
    *out = parameter == SWEEP_CENTRE
               ? column
               : (((double)scan->panel.n_columns - 1) / 2 - column) * pitch_of(scan);
    return st;
}

/* u and v turned about their normal by `rad`; lengths and skew stay. */
static void turn_in_plane(struct fbp_view *view, double rad)
{
    double n[3], across[3];

    cross(view->u, view->v, n);
    const double length = sqrt(dot(n, n));
    for (int i = 0; i < 3; i++)
        n[i] /= length;
    for (int k = 0; k < 2; k++) {
        double *step = k ? view->v : view->u;
        cross(n, step, across);
        for (int i = 0; i < 3; i++)
            step[i] = cos(rad) * step[i] + sin(rad) * across[i];
    }
}

/* Move source and panel, or the panel alone, away from the iso-centre or towards it. */
static void move_along_ray(struct fbp_view *view, double source_mm, double panel_mm)
{
    const double length = sqrt(dot(view->s, view->s));

    for (int i = 0; i < 3; i++) {
        const double away = view->s[i] / length;
        view->s[i] += source_mm * away;
        view->d[i] += panel_mm * away;
    }
}

fbp_status sweep_apply(const struct fbp_scan *scan, enum sweep_parameter parameter, double value,
                       struct fbp_view *views)
{
    struct fbp_scan copy = *scan;
    double present = 0;

    memcpy(views, scan->views, scan->n_views * sizeof *views);
    copy.views = views;
    if (parameter == SWEEP_CENTRE)
        return recon_centre(&copy, value);
    if (parameter == SWEEP_OFFSET)
        return recon_centre(&copy,
                            ((double)scan->panel.n_columns - 1) / 2 - value / pitch_of(scan));
    const fbp_status st = sweep_present(scan, parameter, &present);
    for (size_t k = 0; st == FBP_OK && k < scan->n_views; k++)
        if (parameter == SWEEP_TILT)
            turn_in_plane(&views[k], value / cli_degrees(1));
        else if (parameter == SWEEP_SOD)
            move_along_ray(&views[k], value - present, value - present);
        else
            move_along_ray(&views[k], 0, present - value);
    return st;
}
