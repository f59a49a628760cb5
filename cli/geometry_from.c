/* Implementation of geometry.h: checks the options and loads the input of `fbp geometry`; called by
 * cmd_geometry.c and cmd_geometry_convert.c. */
#include "geometry.h"

#include <stdlib.h>
#include <string.h>

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
