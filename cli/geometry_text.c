#include "geometry_check.h"

#include <math.h>
#include <string.h>

static const struct {
    unsigned flag;
    const char *name, *text;
} symmetries[] = {
    {FBP_SYM_COLUMN, "column", "detector columns do not depend on z"},
    {FBP_SYM_MIRROR, "mirror", "z and -z"},
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

static const char *direction_name(int direction)
{
    return direction > 0   ? "counter-clockwise seen from +z"
           : direction < 0 ? "clockwise seen from +z"
                           : "in no order";
}

static void print_range(const char *before, const double v[2], const char *after)
{
    if (fabs(v[1] - v[0]) < 1e-6 * fabs(v[1]))
        printf("%s%.6g%s", before, v[0], after);
    else
        printf("%s%.6g to %.6g%s", before, v[0], v[1], after);
}

static void print_source(const struct fbp_scan *scan, const struct fbp_geometry_facts *f)
{
    printf("scan        %s beam, %zu views of %zu x %zu pixels\n",
           scan->kind == FBP_PARALLEL ? "parallel" : "cone", scan->n_views, scan->panel.n_columns,
           scan->panel.n_rows);
    if (scan->kind == FBP_PARALLEL)
        return;
    print_range("source      ", f->sod_mm, " mm from the axis, ");
    print_range("", f->sdd_mm, " mm from the detector: ");
    printf("magnification %.5g\n", f->magnification);
}

static void print_angles(const struct check *c)
{
    const struct fbp_geometry_facts *f = &c->facts;

    printf("angles      %s%s scan: %.6g degrees, of %.6g needed; %s\n", coverage_name(f),
           f->offset ? ", offset-detector" : "", cli_degrees(f->arc_rad),
           cli_degrees(f->needed_rad), direction_name(f->direction));
    printf("            view 0 at theta %.6g, which is alpha %.6g (RTK, ASTRA, LEAP)\n",
           c->theta_deg, c->theta_deg + 90);
    printf("            steps %.4g to %.4g, median %.4g; largest gap beyond a step %.4g\n",
           cli_degrees(f->step_rad[0]), cli_degrees(f->step_rad[2]), cli_degrees(f->step_rad[1]),
           f->gap_rad > 1e-9 ? cli_degrees(f->gap_rad) : 0);
}

static void print_panel(const struct fbp_scan *scan, const struct check *c)
{
    const struct fbp_geometry_facts *f = &c->facts;
    const double *t = f->tilt_rad;
    const double column[2] = {c->iso[0].lo, c->iso[0].hi}, row[2] = {c->iso[1].lo, c->iso[1].hi};

    print_range("iso-centre  lands on column ", column, ", ");
    print_range("row ", row, "");
    printf("; the middle is %.6g, %.6g\n", ((double)scan->panel.n_columns - 1) / 2,
           ((double)scan->panel.n_rows - 1) / 2);
    if (fmax(fmax(t[0], t[1]), fmax(t[2], f->skew_rad)) > 1e-9)
        printf("panel       turned by up to %.4g about u, %.4g about v, %.4g about its normal, "
               "skewed by %.4g degrees\n",
               cli_degrees(t[0]), cli_degrees(t[1]), cli_degrees(t[2]), cli_degrees(f->skew_rad));
}

static void print_volume(const struct fbp_scan *scan, const struct check *c)
{
    const struct fbp_geometry_facts *f = &c->facts;
    char grid[120];

    printf("volume      %s%s\n", cli_grid(grid, sizeof grid, &c->grid),
           scan->volume.n[0] ? "" : ", worked out from the detector");
    printf("            reaches %.5g mm from the axis; the field of view is %.5g mm: %s\n",
           f->volume_radius_mm, f->fov_radius_mm,
           f->volume_radius_mm <= f->fov_radius_mm ? "inside" : "its corners are outside");
    if (scan->panel.n_rows > 1)
        printf("            on the axis every view sees z from %.5g to %.5g mm\n",
               f->fov_half_height_mm[0], f->fov_half_height_mm[1]);
    for (int i = 0; i < 2; i++) {
        const struct span *s = &c->corners[i];
        const size_t n = i == 0 ? scan->panel.n_columns : scan->panel.n_rows;
        printf("%s %.1f (view %zu) to %.1f (view %zu), of 0 to %zu\n",
               i == 0 ? "corners     land on columns" : "            and on rows", s->lo,
               s->lo_view, s->hi, s->hi_view, n - 1);
    }
    printf("rows        %zu of %zu are needed: %zu to %zu\n", c->rows[1] - c->rows[0],
           scan->panel.n_rows, c->rows[0], c->rows[1] - (c->rows[1] > c->rows[0]));
}

static void print_symmetries(unsigned flags)
{
    const char *separator = "symmetries  ";

    for (int i = 0; i < N_SYMMETRIES; i++)
        if (flags & symmetries[i].flag) {
            printf("%s%s", separator, symmetries[i].text);
            separator = "; ";
        }
    puts(*separator == 's' ? "symmetries  none" : "");
}

/* A wrong flip looks like a wrong direction of rotation: say what can be told from the data. */
static void print_flips(const struct fbp_scan *scan, const struct check *c)
{
    if (fabs(c->flip[0]) < 0.05)
        puts("if flipped  columns: the axis stays; the volume is mirrored, as by the other "
             "direction of rotation");
    else
        printf("if flipped  columns: the axis moves by %.2f columns; the volume is mirrored and "
               "its edges double\n",
               c->flip[0]);
    if (scan->panel.n_rows == 1)
        return;
    if (fabs(c->flip[1]) < 0.05)
        puts("            rows: the middle stays; the volume is upside down, as by the other row "
             "order");
    else
        printf("            rows: the middle moves by %.2f rows; the volume is upside down, "
               "displaced and unsharp off the axis\n",
               c->flip[1]);
}

int check_print_text(const struct fbp_scan *scan, const struct check *c)
{
    print_source(scan, &c->facts);
    print_angles(c);
    print_panel(scan, c);
    print_volume(scan, c);
    print_symmetries(c->facts.symmetry);
    print_flips(scan, c);
    for (size_t i = 0; i < c->n_warnings; i++)
        printf("warning     %s\n", c->warnings[i]);
    return 0;
}

static void add_span(cJSON *object, const char *key, const struct span *s)
{
    cJSON *o = cJSON_AddObjectToObject(object, key);

    cJSON_AddNumberToObject(o, "min", s->lo);
    cJSON_AddNumberToObject(o, "min_view", (double)s->lo_view);
    cJSON_AddNumberToObject(o, "max", s->hi);
    cJSON_AddNumberToObject(o, "max_view", (double)s->hi_view);
}

static void add_landing(cJSON *root, const struct check *c)
{
    cJSON *iso = cJSON_AddObjectToObject(root, "iso_centre");
    cJSON *corners = cJSON_AddObjectToObject(root, "corners");
    cJSON *flips = cJSON_AddObjectToObject(root, "flips");

    add_span(iso, "column", &c->iso[0]);
    add_span(iso, "row", &c->iso[1]);
    add_span(corners, "column", &c->corners[0]);
    add_span(corners, "row", &c->corners[1]);
    cJSON_AddNumberToObject(flips, "u_moves_axis_by_columns", c->flip[0]);
    cJSON_AddNumberToObject(flips, "v_moves_middle_by_rows", c->flip[1]);
    cli_json_sizes(root, "rows_needed", c->rows, 2);
}

static void add_angles(cJSON *root, const struct check *c)
{
    const struct fbp_geometry_facts *f = &c->facts;
    const double step[3] = {cli_degrees(f->step_rad[0]), cli_degrees(f->step_rad[1]),
                            cli_degrees(f->step_rad[2])};

    cJSON_AddStringToObject(root, "coverage", coverage_name(f));
    cJSON_AddBoolToObject(root, "offset", f->offset);
    cJSON_AddNumberToObject(root, "direction", f->direction);
    cJSON_AddNumberToObject(root, "theta_deg", c->theta_deg);
    cJSON_AddNumberToObject(root, "alpha_deg", c->theta_deg + 90);
    cJSON_AddNumberToObject(root, "start_deg", cli_degrees(f->start_rad));
    cJSON_AddNumberToObject(root, "arc_deg", cli_degrees(f->arc_rad));
    cJSON_AddNumberToObject(root, "needed_deg", cli_degrees(f->needed_rad));
    cJSON_AddNumberToObject(root, "gap_deg", cli_degrees(f->gap_rad));
    cli_json_numbers(root, "step_deg", step, 3);
}

static void add_volume(cJSON *root, const struct check *c)
{
    const struct fbp_geometry_facts *f = &c->facts;

    cli_json_sizes(root, "size", c->grid.n, 3);
    cli_json_numbers(root, "voxel_mm", c->grid.voxel_mm, 3);
    cli_json_numbers(root, "centre_mm", c->grid.centre_mm, 3);
    cJSON_AddNumberToObject(root, "volume_radius_mm", f->volume_radius_mm);
    cJSON_AddNumberToObject(root, "fov_radius_mm", f->fov_radius_mm);
    cli_json_numbers(root, "fov_z_mm", f->fov_half_height_mm, 2);
    cJSON_AddBoolToObject(root, "volume_inside", f->volume_inside);
}

int check_print_json(const struct fbp_scan *scan, const struct check *c)
{
    const struct fbp_geometry_facts *f = &c->facts;
    const double tilt[3] = {cli_degrees(f->tilt_rad[0]), cli_degrees(f->tilt_rad[1]),
                            cli_degrees(f->tilt_rad[2])};
    cJSON *root = cJSON_CreateObject();

    cJSON_AddStringToObject(root, "kind", scan->kind == FBP_PARALLEL ? "parallel" : "cone");
    cJSON_AddNumberToObject(root, "views", (double)scan->n_views);
    cJSON_AddNumberToObject(root, "columns", (double)scan->panel.n_columns);
    cJSON_AddNumberToObject(root, "rows", (double)scan->panel.n_rows);
    cli_json_numbers(root, "sod_mm", f->sod_mm, 2);
    cli_json_numbers(root, "sdd_mm", f->sdd_mm, 2);
    cJSON_AddNumberToObject(root, "magnification", f->magnification);
    cli_json_numbers(root, "tilt_deg", tilt, 3);
    cJSON_AddNumberToObject(root, "skew_deg", cli_degrees(f->skew_rad));
    add_angles(root, c);
    add_landing(root, c);
    add_volume(root, c);
    cJSON *list = cJSON_AddArrayToObject(root, "symmetries");
    for (int i = 0; i < N_SYMMETRIES; i++)
        if (f->symmetry & symmetries[i].flag)
            cJSON_AddItemToArray(list, cJSON_CreateString(symmetries[i].name));
    list = cJSON_AddArrayToObject(root, "warnings");
    for (size_t i = 0; i < c->n_warnings; i++)
        cJSON_AddItemToArray(list, cJSON_CreateString(c->warnings[i]));
    return cli_json(root, false);
}
