/* Command `fbp compare` (cmd_compare), which commands.c lists and program.c runs: prints how much
 * two volumes differ (rmse, nrmse, greatest difference, PSNR, both means) as text or JSON, and
 * fails if the rmse exceeds --tolerance.
 * Used by: commands.c. */
#include "cli.h"
#include "say.h"

#include <stdio.h>
#include <string.h>

struct compare_args {
    const char *a, *b;
    double inside_mm, tolerance;
    bool json;
};

#define C struct compare_args
static const struct opt table[] = {
    OPT(C, a, .name = "a", .positional = true, .required = true, .help = "volume to compare"),
    OPT(C, b, .name = "b", .positional = true, .required = true,
        .help = "volume to compare it with"),
    OPT(C, inside_mm, .name = "inside", .arg = "RADIUS_MM", .min = FBP_DISTANCE_MM_MIN,
        .max = FBP_DISTANCE_MM_MAX, .fallback = "everything",
        .help =
            "use only voxels within this distance of the line along z through the volume's centre"),
    OPT(C, tolerance, .name = "tolerance", .arg = "RMSE", .min = 0, .max = FBP_VALUE_MAX,
        .fallback = "none", .help = "exit with status 1 if the rmse is greater"),
    OPT(C, json, .name = "json", .help = "print one JSON object"),
};
#undef C

/* Write to `unit` the unit of the values that the header of an array file states; "": none. */
static void unit_of(const char *path, char unit[16])
{
    fbp_source *source = NULL;

    if (fbp_source_open(&source, path, NULL) == FBP_OK)
        snprintf(unit, 16, "%s", fbp_source_info(source)->unit);
    fbp_source_close(&source);
}

static int run(const struct command *self, int argc, char **argv)
{
    struct compare_args a = {.tolerance = -1};
    struct fbp_comparison c = {.struct_size = sizeof c};
    char unit[2][16] = {"", ""};
    int rc = 0;

    OPT_TRY(opt_parse(self, &a, argc, argv));
    if (cli_is_scan(a.a) || cli_is_scan(a.b))
        return 1;
    if (fbp_array_compare(a.a, a.b, a.inside_mm, &c) != FBP_OK)
        return cli_fail();
    unit_of(a.a, unit[0]);
    unit_of(a.b, unit[1]);
    if (unit[0][0] && unit[1][0] && strcmp(unit[0], unit[1]) != 0)
        say_warning(
            false, "%s has the unit %s, but %s has %s; the numbers are compared without conversion",
            say_name(a.a), say_name(unit[0]), say_name(a.b), say_name(unit[1]));
    cli_warn_missing(a.a, false);
    cli_warn_missing(a.b, false);
    if (a.json) {
        cJSON *root = cJSON_CreateObject();
        cli_json_add(root, {"rmse", c.rmse}, {"nrmse", c.nrmse}, {"max", c.max},
                     {"psnr_db", c.psnr_db}, {"mean_a", c.mean_a}, {"mean_b", c.mean_b},
                     {"count", (double)c.count}, {"not_finite", (double)c.not_finite});
        rc = cli_json(root, false);
    } else {
        printf("rmse     %.6g\nnrmse    %.6g\nmax      %.6g\npsnr_db  %.6g\n", c.rmse, c.nrmse,
               c.max, c.psnr_db);
        printf("mean_a   %.6g\nmean_b   %.6g\ncount    %zu\n", c.mean_a, c.mean_b, c.count);
        if (c.not_finite > 0)
            printf("excluded %zu (NaN, or the same infinity, in both)\n", c.not_finite);
    }
    if (a.tolerance >= 0 && !(c.rmse <= a.tolerance)) /* true for NaN */
        rc = cli_error("%s: the rmse %.6g against %s exceeds the tolerance %.6g", a.a, c.rmse, a.b,
                       a.tolerance);
    return rc;
}

const struct command cmd_compare = {
    .name = "compare",
    .summary = "measure how much two volumes differ",
    .usage = "a.mha b.mha [options]",
    .about = "Prints rmse, nrmse (rmse divided by the rms of b), the greatest difference, "
             "psnr_db (20 log10 of max |b| / rmse; 999 if the volumes are equal) and both means. "
             "Voxels that are NaN in both "
             "volumes, or the same infinity in both, are excluded and counted.",
    .examples = "  fbp compare volume.mha truth.mha --inside 100\n"
                "  fbp compare new.mha old.mha --tolerance 1e-6\n",
    COMMAND_OPTS(table),
    .run = run,
};
