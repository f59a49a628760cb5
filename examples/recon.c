/*
 * recon SCAN VOLUME: the volume of a scan, with progress.
 *
 *     cc recon.c $(pkg-config --cflags --libs fbp) -o recon
 *     fbp simulate --size 64 --views 90 -o scan.json && ./recon scan.json volume.mha
 */
#include <fbp/fbp.h>

#include <stdio.h>

static int show(void *user, const struct fbp_progress *now)
{
    (void)user;
    fprintf(stderr, "\r%3.0f %%", now->total ? 100. * (double)now->done / (double)now->total : 0.);
    return 0; /* anything else stops the run */
}

static void tell(void *user, enum fbp_log_level level, const char *line)
{
    (void)user;
    fprintf(stderr, "%s: %s\n", level == FBP_LOG_WARNING ? "warning" : "note", line);
}

static int failed(void)
{
    fprintf(stderr, "recon: %s\n", fbp_message());
    return 1;
}

int main(int argc, char **argv)
{
    struct fbp_scan scan = {.struct_size = sizeof scan};
    struct fbp_report report = {.struct_size = sizeof report};
    fbp_plan *plan = NULL;
    int rc = 0;

    if (argc != 3) {
        fprintf(stderr, "usage: recon SCAN VOLUME\n");
        return 2;
    }
    if (fbp_scan_load(&scan, argv[1], NULL) != FBP_OK)
        return failed();
    if (fbp_plan_create(&plan, &scan,
                        fbp_recon_params(.filter = FBP_FILTER_HANN, .callbacks.progress = show,
                                         .callbacks.log = tell)) != FBP_OK ||
        fbp_plan_run(plan, argv[2], &report) != FBP_OK)
        rc = failed();
    else
        printf("%s: values %g to %g, %.2f s with libfbp %s\n", argv[2], report.min, report.max,
               report.total, fbp_version());
    fbp_plan_destroy(&plan);
    fbp_scan_clear(&scan);
    return rc;
}
