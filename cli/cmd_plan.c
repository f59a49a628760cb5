#include "recon.h"
#include "team.h"

#include <stdlib.h>

static const struct opt table[] = {
    OPT(R, scan, .name = "scan.json", .positional = true, .required = true, .help = "the scan"),
    OPT(R, output, .name = "output", .letter = 'o', .arg = "VOLUME",
        .help = "the output that recon will be given: of OME-Zarr, writing takes memory, and parts "
                "are cut between chunks. Nothing is written"),
    OPT_SWITCH(R, p.compress, .name = "compress", .help = "recon will compress it"),
    RECON_OPTIONS,
    PART_OPTION,
    OPT(R, p.model, .name = "model", .arg = "KEY=VALUE,...",
        .help = "plan for a machine that is not there, and predict its time. Keys: gpus (how many "
                "cards), gpu (h200, h100), memory (of a card, 141G), host (memory of the host), "
                "cores; gups (giga-updates a second of a card); rates such as 55GB/s: up, down "
                "(a card's link), up-all, down-all (of all cards), both, both-all (each way, "
                "while both are used), peer (from card to card), read, write (of the files; if "
                "not given, views and volume are in memory). Of a cluster: nodes, net (a node's "
                "network), disk (file system that all nodes share, each way); gpus=0: nodes that "
                "compute on their cores, with gups and filter (giga-samples a second) of a node"),
    OPT(R, p.view_ranks, .name = "view-ranks", .arg = "N", .min = 1, .max = 65536,
        .fallback = "planned",
        .help = "of the ranks of a --model with nodes, N share the views of each slab of slices"),
    OPT(R, json, .name = "json", .help = "print one JSON object"),
    OPT(R, quiet, .name = "quiet", .letter = 'q', .help = "print no notes beside the plan"),
};

static int run(const struct command *self, int argc, char **argv)
{
    struct progress progress = {0};
    struct recon_args a = {RECON_ARGS,
                           .p = *fbp_recon_params(.log = progress_log, .user = &progress)};
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
    if (rc == 0 && a.p.view_ranks > 0 && fbp_plan_info(plan)->nodes == 0)
        rc = opt_usage(self, "--view-ranks: this is a plan of one process: give a cluster, such as "
                             "--model nodes=4,net=25GB/s, or leave it out");
    if (rc == 0)
        rc = plan_print(plan, a.json, &a.p);
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
                "  fbp plan scan.json --size 2048 --part 3/16\n"
                "  fbp plan scan.json --size 2048 --precision half --model gpus=4,gpu=h200\n"
                "  fbp plan scan.json --size 4096 --precision half \\\n"
                "      --model nodes=256,gpus=4,gpu=h200,net=25GB/s,disk=200GB/s\n",
    COMMAND_OPTS(table),
    .run = run,
};
