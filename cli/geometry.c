/* Implementation of geometry.h: checks and applies the options that correct the geometry of a scan
 * (functions adjust_…(): --centre, --offset, --tilt, --sod, --sdd, flips), and loads the input of
 * `fbp geometry` (geometry_load()).
 * Used by: bench/predict/, cli/. */
#include "geometry.h"

#include "geometry/kind.h"
#include "scan/adjust.h"
#include "scan/file/scan.h"

#include <stdlib.h>
#include <string.h>

int adjust_check(const struct command *self, const double values[FBP_ADJUSTS])
{
    if (!isnan(values[FBP_ADJUST_CENTRE]) && !isnan(values[FBP_ADJUST_OFFSET]))
        return opt_usage(
            self,
            "--centre and --offset both set the position of the panel; give only one of them");
    return OPT_GO_ON;
}

int adjust_check_value(const char *what, const struct fbp_scan *scan, enum fbp_adjust which,
                       double value)
{
    if (fbp_adjust_check(scan, which, value) == FBP_OK)
        return 0;
    return cli_error("%s%s", what, fbp_message());
}

void adjust_confirm(struct fbp_scan *scan, const double values[FBP_ADJUSTS])
{
    for (int i = 0; i < FBP_ADJUSTS; i++)
        if (!isnan(values[i]))
            fbp_scan_confirm(scan, fbp_adjust_key((enum fbp_adjust)i));
}

int adjust_scan(struct fbp_scan *scan, const double values[FBP_ADJUSTS])
{
    for (int i = 0; i < FBP_ADJUSTS; i++)
        if (!isnan(values[i]) && adjust_check_value("--", scan, (enum fbp_adjust)i, values[i]) != 0)
            return 1;
    return fbp_adjust_all(scan, values) == FBP_OK ? 0 : cli_fail();
}

int adjust_flip(struct fbp_scan *scan, bool u, bool v, bool reverse)
{
    const unsigned flips =
        (u ? FBP_FLIP_U : 0u) | (v ? FBP_FLIP_V : 0u) | (reverse ? FBP_FLIP_DIRECTION : 0u);

    if (fbp_scan_flip(scan, flips) == FBP_OK)
        return 0;
    return cli_error("--%s", fbp_message());
}

int geometry_check_usage(const struct command *self, const struct geometry_from *from)
{
    const char *origin = from->origin;

    if (origin && strcmp(origin, "center") != 0 && strcmp(origin, "corner") != 0)
        return opt_usage(self, "--matrix-origin: expected center or corner, got \"%s\"", origin);
    return adjust_check(self, from->adjust);
}

int geometry_load(const struct geometry_from *from, struct fbp_scan *scan, bool quiet)
{
    const struct fbp_geometry_known known = {.struct_size = sizeof known,
                                             .panel = {from->detector[0], from->detector[1]},
                                             .pitch_mm = {from->pitch[0], from->pitch[1]},
                                             .corner = from->origin &&
                                                       strcmp(from->origin, "corner") == 0};

    char *kept = NULL;

    if (fbp_geometry_load(scan, from->path, from->format, &known) != FBP_OK) {
        if (cli_scan_in_folder(from->path, quiet, &kept) != 0)
            return 1;
        const fbp_status st =
            kept ? fbp_geometry_load(scan, kept, NULL, &known) : FBP_ERR_UNSUPPORTED;
        free(kept);
        if (st != FBP_OK)
            return cli_fail();
    }
    int rc = adjust_flip(scan, from->flip_u, from->flip_v, from->reverse);
    adjust_confirm(scan, from->adjust);
    if (rc == 0)
        rc = adjust_scan(scan, from->adjust);
    cli_say_uncertain(scan, quiet);
    return rc;
}

int geometry_save(const struct fbp_scan *scan, const char *path)
{
    double *numbers = calloc(5 * scan->n_views, sizeof *numbers);
    struct fbp_views views = fbp_scan_views(scan);
    struct fbp_circle circle;

    if (!numbers)
        return cli_error("out of memory for the views; close other programs");
    const bool is_circle = fbp_circle_of(&views, &circle, numbers);
    const int rc = fbp_scan_save(scan, path, is_circle ? &circle : NULL) == FBP_OK ? 0 : cli_fail();
    free(numbers);
    return rc;
}
