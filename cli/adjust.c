/* Implementation of adjust.h: checks and applies --centre, --offset, --tilt, --sod, --sdd and the
 * flips to a scan; called by recon, plan, sweep and geometry. */
#include "adjust.h"

#include "scan/adjust.h"

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
    if (fbp_scan_flip(scan, cli_flips(u, v, reverse)) == FBP_OK)
        return 0;
    return cli_error("--%s", fbp_message());
}
