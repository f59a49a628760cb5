/* Command `fbp plan`: prints the plan of a reconstruction (memory, slabs, time), then stops. */
#include "recon.h"
#include "team.h"

#include <stdlib.h>

static const struct opt table[] = {
    OPT(R, scan, .name = "scan.json", .positional = true, .required = true, .help = "the scan"),
    OPT(R, output, .name = "output", .letter = 'o', .arg = "VOLUME",
        .help =
            "name of the output of fbp recon, because writing OME-Zarr needs memory, and parts end "
            "between its chunks. Nothing is written"),
    OPT(R, p.output.compress, .name = "compress",
        .help = "with -o: fbp recon will compress its output"),
    RECON_OPTIONS,
    PART_OPTION,
    OPT(R, json, .name = "json", .help = "print one JSON object"),
    OPT(R, quiet, .name = "quiet", .letter = 'q', .help = "print only the plan, without notes"),
};

static int run(const struct command *self, int argc, char **argv)
{
    struct progress progress = {0};
    struct recon_args a = {RECON_ARGS, .p = *fbp_recon_params(.callbacks.log = progress_log,
                                                              .callbacks.user = &progress)};
    struct fbp_scan scan = {.struct_size = sizeof scan};
    fbp_plan *plan = NULL;
    int rc = opt_parse(self, &a, argc, argv);

    progress.quiet = a.quiet;
    if (!a.part)
        team_let_first_speak();
    if (rc == OPT_GO_ON)
        rc = adjust_check(self, a.adjust);
    if (rc == OPT_GO_ON)
        rc = recon_check_part(self, &a);
    if (rc == OPT_GO_ON)
        rc = recon_check_planned(self, &a);
    if (rc == OPT_GO_ON)
        rc = recon_choose_part(self, &a);
    if (rc != OPT_GO_ON)
        return rc;
    recon_complete(&a);
    char *kept;
    rc = recon_name_scan(&a, &kept);
    if (rc == 0)
        rc = recon_prepare(&a, &scan, &plan);
    if (rc == 0)
        rc = plan_print(plan, a.json);
    fbp_plan_destroy(&plan);
    fbp_scan_clear(&scan);
    free(kept);
    return rc;
}

const struct command cmd_plan = {
    .name = "plan",
    .summary = "what recon would do: memory, slabs, reads, time",
    .usage = "scan.json [options]",
    .about = "Reads only headers. Takes the options of fbp recon. If recon would fail, plan "
             "fails with the same message.",
    .examples = "  fbp plan scan.json\n"
                "  fbp plan scan.json --size 2048 --memory 4G\n"
                "  fbp plan scan.json --size 2048 --part 3/16\n",
    COMMAND_OPTS(table),
    .groups = recon_groups,
    .run = run,
};
