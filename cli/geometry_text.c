/* Prints the results of `fbp geometry check` (struct check) as text (check_print_text()) or JSON
 * (check_print_json()).
 * Used by: cmd_geometry.c. */
#include "geometry_check.h"
#include "say.h"

#include "geometry/kind.h"

#include <math.h>

static const struct {
    unsigned flag;
    const char *name, *text;
} symmetries[] = {
    {FBP_SYM_COLUMN, "column", "detector columns do not depend on z"},
    {FBP_SYM_ROT180, "rot180", "half a turn"},
    {FBP_SYM_ROT90, "rot90", "quarter turns"},
};
enum { N_SYMMETRIES = sizeof symmetries / sizeof *symmetries };

static const char *coverage_name(const struct fbp_geometry_facts *f)
{
    return f->coverage == FBP_COVERAGE_FULL    ? "full"
           : f->coverage == FBP_COVERAGE_SHORT ? "short"
                                               : "partial";
}

static void print_range(const char *before, const double v[2], const char *after)
{
    if (fabs(v[1] - v[0]) < 1e-6 * fabs(v[1]))
        printf("%s%.6g%s", before, v[0], after);
    else
        printf("%s%.6g to %.6g%s", before, v[0], v[1], after);
}

static bool half_turn(const struct fbp_scan *scan, const struct fbp_geometry_facts *f)
{
    return !fbp_kind_has_source(scan->kind) && f->coverage != FBP_COVERAGE_FULL;
}

/* Sentence about the redundancy weights, which compensate for rays that are measured twice. */
static const char *weights_of(const struct fbp_scan *scan, const struct fbp_geometry_facts *f)
{
    if (f->per_ray)
        return "per ray: 2 divided by the number of times that the ray was measured, from either "
               "side";
    if (f->offset)
        return "Wang's: a full turn with a detector that reaches farther to one side of the axis";
    if (f->coverage == FBP_COVERAGE_FULL)
        return "no redundancy weights: a full turn measures every ray twice";
    if (half_turn(scan, f))
        return f->coverage == FBP_COVERAGE_SHORT
                   ? "no redundancy weights: parallel views count modulo 180 degrees"
                   : "no redundancy weights, but directions are missing; expect streaks";
    return f->coverage == FBP_COVERAGE_SHORT
               ? "Parker's: a short scan measures some rays twice"
               : "Parker's, but directions of rays are missing; expect streaks";
}

/* Replace rounding errors, such as -1e-15, by 0. */
static double tidy(double x)
{
    return fabs(x) < 1e-9 ? 0 : x;
}

static double percent(double part)
{
    return round(1e4 * part) / 100 + 0.0; /* + 0.0 turns -0 into 0 */
}

static void print_angles(const struct fbp_scan *scan, const struct check *c)
{
    const struct fbp_geometry_facts *f = &c->facts;

    printf("angles      %s%s scan: ", coverage_name(f), f->offset ? ", offset-detector" : "");
    if (f->n_angles < 3)
        printf("%zu angle%s; %.6g degrees are needed\n", f->n_angles, f->n_angles == 1 ? "" : "s",
               cli_degrees(f->needed_rad));
    else
        printf("%.6g degrees, of %.6g needed; %s\n", cli_degrees(f->arc_rad),
               cli_degrees(f->needed_rad),
               f->direction > 0   ? "counter-clockwise seen from +z"
               : f->direction < 0 ? "clockwise seen from +z"
                                  : "in no order");
    printf("            first view at theta %.6g (TIGRE), which is alpha %.6g (RTK, ASTRA, LEAP); "
           "last at theta %.6g\n",
           tidy(c->theta_deg[0]), tidy(c->theta_deg[0] + 90), tidy(c->theta_deg[1]));
    if (f->n_angles > 2)
        printf("            steps %.4g to %.4g, median %.4g; ", cli_degrees(f->step_rad[0]),
               cli_degrees(f->step_rad[2]), cli_degrees(f->step_rad[1]));
    if (f->n_angles > 2 && (f->coverage == FBP_COVERAGE_FULL || half_turn(scan, f)))
        printf("largest gap in addition to a step %.4g%s\n",
               f->gap_rad > 1e-9 ? cli_degrees(f->gap_rad) : 0,
               f->coverage == FBP_COVERAGE_FULL ? "" : ", modulo 180");
    else if (f->n_angles > 2)
        printf("%.6g degrees of the turn are not measured\n",
               fmax(0, 360 - cli_degrees(f->arc_rad)));
    if (c->seen)
        printf("weights     %s\n", weights_of(scan, f));
    if (c->seen && f->n_angles > 2)
        printf(
            "method      the mean of a small ball deviates by %+.2f %% in the middle, %+.2f %% at "
            "the rim,\n            %+.2f %% at the top, %+.2f %% at the bottom of the volume\n",
            percent(f->method_error[0]), percent(f->method_error[1]), percent(f->method_error[2]),
            percent(f->method_error[3]));
    if (c->seen && f->axial_drift_mm > 1e-6 * f->seen_mm)
        printf("path        the views drift along the axis by %.4g mm; the field of view is %.4g "
               "mm high\n",
               f->axial_drift_mm, f->seen_mm);
}

static void print_panel(const struct fbp_scan *scan, const struct check *c)
{
    const struct fbp_geometry_facts *f = &c->facts;
    const double *t = f->tilt_rad;
    const double column[2] = {c->iso[0].lo, c->iso[0].hi}, row[2] = {c->iso[1].lo, c->iso[1].hi};

    print_range("iso-centre  is projected to column ", column, ", ");
    print_range("row ", row, "");
    printf("; the detector's centre is %.6g, %.6g\n", ((double)scan->panel.n_columns - 1) / 2,
           ((double)scan->panel.n_rows - 1) / 2);
    if (scan->panel.n_rows > 1) {
        print_range("axis        is projected to column ", c->axis[0], " at the bottom, ");
        print_range("", c->axis[1], " at the top of the panel\n");
    }
    if (scan->row_order != FBP_ROWS_AUTO)
        puts(scan->row_order == FBP_ROWS_TOP_DOWN
                 ? "rows        the images begin with the top row; rows are counted from the "
                   "bottom row, 0"
                 : "rows        the images begin with the bottom row, which is row 0");
    if (fmax(fmax(t[0], t[1]), fmax(t[2], f->skew_rad)) > 1e-9)
        printf("panel       turned by up to %.4g about u, %.4g about v, %.4g about its normal, "
               "skewed by %.4g degrees\n",
               cli_degrees(t[0]), cli_degrees(t[1]), cli_degrees(t[2]),
               tidy(cli_degrees(f->skew_rad)));
}

static void print_volume(const struct fbp_scan *scan, const struct check *c)
{
    const struct fbp_geometry_facts *f = &c->facts;
    char grid[120];

    printf("volume      %s%s\n", cli_grid(grid, sizeof grid, &c->grid),
           scan->volume.n[0] ? "" : ", derived from the detector");
    printf("            extends %.5g mm from the axis; the field of view has a radius of %.5g mm: "
           "%s\n",
           f->volume_radius_mm, f->fov_radius_mm,
           f->volume_radius_mm <= f->fov_radius_mm ? "inside" : "its corners are outside");
    if (scan->panel.n_rows > 1)
        printf("            on the axis, all views see z from %.5g to %.5g mm\n",
               f->fov_half_height_mm[0], f->fov_half_height_mm[1]);
    for (int i = 0; i < 2; i++) {
        const struct span *s = &c->corners[i];
        const size_t n = i == 0 ? scan->panel.n_columns : scan->panel.n_rows;
        printf("%s %.1f (view %zu) to %.1f (view %zu), of 0 to %zu\n",
               i == 0 ? "corners     are projected to columns" : "            and on rows", s->lo,
               s->lo_view, s->hi, s->hi_view, n - 1);
    }
    printf("            detector rows %zu to %zu of %zu are needed\n", c->rows[0],
           c->rows[1] - (c->rows[1] > c->rows[0]), scan->panel.n_rows);
}

static const char *const flip_names[N_FLIPS] = {
    "columns",           "rows",           "columns+rows", "direction",
    "columns+direction", "rows+direction", "all three",
};

/* Print how the object would appear if columns, rows or the direction of rotation were reversed; a
 * combination of these is printed only if the slices would be sharp. */
static void print_flips(const struct fbp_scan *scan, const struct check *c)
{
    const char *before = "if flipped";

    for (int i = 0; i < N_FLIPS; i++) {
        const struct flip *f = &c->flips[i];
        if ((f->flips & FBP_FLIP_V) && scan->panel.n_rows == 1)
            continue;
        if ((f->flips & (f->flips - 1)) != 0 && !f->sharp)
            continue;
        printf("%-12s%-18s", before, flip_names[f->flips - 1]);
        if (f->sharp && !f->mirrored && !f->upside_down && fabs(f->turn_rad) >= 1e-3)
            printf("sharp and turned about the axis by %.4g degrees; the data do not show this "
                   "error\n",
                   fabs(cli_degrees(f->turn_rad)));
        else if (f->sharp)
            printf("sharp and %s; the data do not show this error\n",
                   f->mirrored && f->upside_down ? "turned upside down, not mirrored"
                   : f->mirrored                 ? "mirrored, left and right exchanged"
                   : f->upside_down              ? "mirrored, top and bottom exchanged"
                                                 : "the same");
        else
            printf("blurred: points are smeared by %.3g mm (%.3g voxels), up to %.3g mm\n",
                   f->rms_mm, f->rms_mm / c->grid.voxel_mm[0], f->max_mm);
        before = "";
    }
    for (int i = 0; i < 2; i++)
        if (fabs(c->flip[i]) >= 0.05 && (i == 0 || scan->panel.n_rows > 1))
            printf("            flipped %s shift the %s by %.2f %s\n", i ? "rows" : "columns",
                   i ? "middle" : "axis", c->flip[i], i ? "rows" : "columns");
}

static void check_planes_text(const struct fbp_scan *scan, const struct check *c)
{
    const struct fbp_geometry_facts *f = &c->facts;
    const struct fbp_meridian_planes *m = &c->planes.meridians;
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
    if (m->n)
        printf("meridians   %zu planes through (%.5g, %.5g, %.5g), of up to %zu directions; "
               "--stages 2 is possible\n",
               m->n, m->axis[0], m->axis[1], m->axis[2], m->most);
    else
        printf("meridians   none: the directions do not share planes through one axis\n");
    printf("samples     from %.6g to %.6g mm; the field of view has a radius of %.5g mm\n",
           f->edge_mm[0], f->edge_mm[1], f->fov_radius_mm);
    printf("volume      %s%s\n", cli_grid(grid, sizeof grid, &c->grid),
           scan->volume.n[0] ? "" : ", derived from the samples");
    printf("            extends %.5g mm from the centre: %s\n", f->volume_radius_mm,
           f->volume_inside ? "seen by every view" : "its corners are not seen by every view");
}

static void print_lines(const struct fbp_scan *scan, const struct check *c)
{
    const char *separator = "symmetries  ";

    printf("scan        %s beam, %zu views of %zu x %zu pixels\n", fbp_kind_name(scan->kind),
           scan->n_views, scan->panel.n_columns, scan->panel.n_rows);
    if (fbp_kind_has_source(scan->kind)) {
        print_range("source      ", c->facts.sod_mm, " mm from the axis, ");
        print_range("", c->facts.sdd_mm, " mm from the detector: ");
        printf("magnification %.5g\n", c->facts.magnification);
    }
    print_angles(scan, c);
    print_panel(scan, c);
    if (c->seen) {
        print_volume(scan, c);
        for (int i = 0; i < N_SYMMETRIES; i++)
            if (c->facts.symmetry & symmetries[i].flag) {
                printf("%s%s", separator, symmetries[i].text);
                separator = "; ";
            }
        puts(*separator == 's' ? "symmetries  none" : "");
        print_flips(scan, c);
    }
}

int check_print_text(const struct fbp_scan *scan, const struct check *c)
{
    if (fbp_kind_has_lines(scan->kind))
        print_lines(scan, c);
    else
        check_planes_text(scan, c);
    for (size_t i = 0; i < c->n_warnings; i++)
        printf("warning     %s\n", say_name(c->warnings[i]));
    return 0;
}

static void add_span(cJSON *object, const char *key, const struct span *s)
{
    cli_json_add(cJSON_AddObjectToObject(object, key), {"min", s->lo},
                 {"min_view", (double)s->lo_view}, {"max", s->hi},
                 {"max_view", (double)s->hi_view});
}

static void add_angles(cJSON *root, const struct fbp_scan *scan, const struct check *c)
{
    const struct fbp_geometry_facts *f = &c->facts;
    const double step[3] = {cli_degrees(f->step_rad[0]), cli_degrees(f->step_rad[1]),
                            cli_degrees(f->step_rad[2])};

    cJSON_AddStringToObject(root, "coverage", coverage_name(f));
    cJSON_AddBoolToObject(root, "offset", f->offset);
    cJSON_AddNumberToObject(root, "direction", f->direction);
    cJSON_AddStringToObject(root, "weights",
                            f->per_ray                                               ? "per-ray"
                            : f->offset                                              ? "wang"
                            : f->coverage == FBP_COVERAGE_FULL || half_turn(scan, f) ? "none"
                                                                                     : "parker");
    cli_json_add(root, {"theta_deg", c->theta_deg[0]}, {"alpha_deg", c->theta_deg[0] + 90},
                 {"last_theta_deg", c->theta_deg[1]}, {"start_deg", cli_degrees(f->start_rad)},
                 {"angles", (double)f->n_angles}, {"arc_deg", cli_degrees(f->arc_rad)},
                 {"needed_deg", cli_degrees(f->needed_rad)}, {"gap_deg", cli_degrees(f->gap_rad)},
                 {"direction_gap_deg", cli_degrees(f->direction_gap_rad)});
    cli_json_numbers(root, "method_error", f->method_error, 4);
    cli_json_add(root, {"gap_error", f->gap_error}, {"complete_radius_mm", f->complete_radius_mm},
                 {"axial_drift_mm", f->axial_drift_mm}, {"pitch_mm", f->pitch_mm});
    cli_json_numbers(root, "step_deg", step, 3);
}

static void add_volume(cJSON *root, const struct check *c)
{
    static const char *const names[N_FLIPS] = {
        "u", "v", "u+v", "direction", "u+direction", "v+direction", "u+v+direction"};
    const struct fbp_geometry_facts *f = &c->facts;
    cJSON *corners = cJSON_AddObjectToObject(root, "corners");

    add_span(corners, "column", &c->corners[0]);
    add_span(corners, "row", &c->corners[1]);
    cli_json_sizes(root, "rows_needed", c->rows, 2);
    cli_json_grid(root, &c->grid);
    cli_json_add(root, {"volume_radius_mm", f->volume_radius_mm},
                 {"fov_radius_mm", f->fov_radius_mm});
    cli_json_numbers(root, "fov_z_mm", f->fov_half_height_mm, 2);
    cJSON_AddBoolToObject(root, "volume_inside", f->volume_inside);
    cJSON *flips = cJSON_AddObjectToObject(root, "flips");
    cli_json_add(flips, {"u_moves_axis_by_columns", c->flip[0]},
                 {"v_moves_middle_by_rows", c->flip[1]});
    for (int i = 0; i < N_FLIPS; i++) {
        cJSON *o = cJSON_AddObjectToObject(flips, names[i]);
        cJSON_AddBoolToObject(o, "sharp", c->flips[i].sharp);
        cli_json_add(o, {"rms_mm", c->flips[i].rms_mm}, {"max_mm", c->flips[i].max_mm});
        cJSON_AddBoolToObject(o, "mirrored", c->flips[i].mirrored);
        cJSON_AddBoolToObject(o, "upside_down", c->flips[i].upside_down);
        cJSON_AddNumberToObject(o, "turn_deg", cli_degrees(c->flips[i].turn_rad));
    }
}

static void add_planes(cJSON *root, const struct fbp_scan *scan, const struct check *c)
{
    const struct fbp_geometry_facts *f = &c->facts;

    cli_json_add(root, {"views", (double)scan->n_views}, {"samples", (double)scan->panel.n_columns},
                 {"spacing_mm", f->spacing_mm});
    cli_json_numbers(root, "samples_mm", f->edge_mm, 2);
    cli_json_add(
        root, {"directions", (double)f->n_angles}, {"directions_needed", c->planes.needed},
        {"cutoff", c->planes.cutoff}, {"alias_free_mm", f->alias_free_mm / c->planes.cutoff},
        {"hole_deg", cli_degrees(f->direction_gap_rad)}, {"gap_deg", cli_degrees(f->gap_rad)});
    cJSON_AddStringToObject(root, "weights", c->planes.weights);
    cli_json_add(root, {"weights_sum", c->planes.sum},
                 {"meridians", (double)c->planes.meridians.n});
    if (c->planes.meridians.n)
        cli_json_numbers(root, "meridians_axis", c->planes.meridians.axis, 3);
    cli_json_grid(root, &c->grid);
    cli_json_add(root, {"volume_radius_mm", f->volume_radius_mm},
                 {"fov_radius_mm", f->fov_radius_mm});
    cJSON_AddBoolToObject(root, "volume_inside", f->volume_inside);
}

static void add_lines(cJSON *root, const struct fbp_scan *scan, const struct check *c)
{
    const struct fbp_geometry_facts *f = &c->facts;
    const double tilt[3] = {cli_degrees(f->tilt_rad[0]), cli_degrees(f->tilt_rad[1]),
                            cli_degrees(f->tilt_rad[2])};

    cli_json_views(root, scan);
    cli_json_numbers(root, "sod_mm", f->sod_mm, 2);
    cli_json_numbers(root, "sdd_mm", f->sdd_mm, 2);
    cJSON_AddNumberToObject(root, "magnification", f->magnification);
    cli_json_numbers(root, "tilt_deg", tilt, 3);
    cJSON_AddNumberToObject(root, "skew_deg", cli_degrees(f->skew_rad));
    add_angles(root, scan, c);
    cJSON *iso = cJSON_AddObjectToObject(root, "iso_centre");
    add_span(iso, "column", &c->iso[0]);
    add_span(iso, "row", &c->iso[1]);
    cli_json_numbers(root, "axis_column_bottom", c->axis[0], 2);
    cli_json_numbers(root, "axis_column_top", c->axis[1], 2);
    if (c->seen)
        add_volume(root, c);
    cJSON *list = cJSON_AddArrayToObject(root, "symmetries");
    for (int i = 0; i < N_SYMMETRIES; i++)
        if (f->symmetry & symmetries[i].flag)
            cJSON_AddItemToArray(list, cJSON_CreateString(symmetries[i].name));
}

int check_print_json(const struct fbp_scan *scan, const struct check *c)
{
    cJSON *root = cJSON_CreateObject();

    cJSON_AddStringToObject(root, "kind", fbp_kind_name(scan->kind));
    (fbp_kind_has_lines(scan->kind) ? add_lines : add_planes)(root, scan, c);
    if (c->error[0])
        cJSON_AddStringToObject(root, "error", c->error);
    cJSON *list = cJSON_AddArrayToObject(root, "warnings");
    for (size_t i = 0; i < c->n_warnings; i++)
        cJSON_AddItemToArray(list, cJSON_CreateString(c->warnings[i]));
    return cli_json(root, false);
}
