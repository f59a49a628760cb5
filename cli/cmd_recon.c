#include "recon.h"

#include <inttypes.h>
#include <string.h>

static const struct opt table[] = {
    OPT(R, scan, .name = "scan.json", .positional = true, .required = true,
        .help = "the scan: where its arrays are and how it was taken (docs/scan.md), or a whole "
                "scan in HDF5 (Data Exchange, NXtomo) or MAT"),
    OPT(R, output, .name = "output", .letter = 'o', .arg = "VOLUME",
        .help = "volume to write: .mha, .mhd, .npy, .h5 or .raw; null: discards it, hash: prints "
                "a hash of its values"),
    OPT(R, preview, .name = "preview", .arg = "FILE.png",
        .help = "also draw three slices of the volume"),
    OPT(R, timeline, .name = "timeline", .arg = "FILE.svg",
        .help = "also draw what was read, filtered, backprojected and written when"),
    RECON_OPTIONS,
    OPT_SWITCH(R, p.compress, .name = "compress", .help = "compress the output (.mha, .mhd)"),
    OPT_SWITCH(R, p.resume, .name = "resume",
               .help = "go on where an interrupted run of the same command stopped"),
    OPT_SWITCH(R, p.follow, .name = "follow",
               .help = "reconstruct while the projections are still being written"),
    OPT(R, p.follow_timeout_s, .name = "follow-timeout", .arg = "SECONDS", .min = 0, .max = 1e9,
        .fallback = "60", .help = "with --follow: fail when no view came for so long; 0: never"),
    OPT(R, plan, .name = "plan", .help = "print what would be done, and stop"),
    OPT(R, json, .name = "json", .help = "print the result as one JSON object"),
    OPT(R, quiet, .name = "quiet", .letter = 'q', .help = "say nothing but errors"),
};

static bool is_file(const char *output)
{
    return strcmp(output, "null:") != 0 && strcmp(output, "hash:") != 0;
}

static int check_timeline(const struct command *self, const struct recon_args *a)
{
    if (!a->timeline)
        return OPT_GO_ON;
    if (!cli_ends_with(a->timeline, ".svg"))
        return opt_usage(self, "--timeline: expected a name that ends in .svg, got \"%s\"",
                         a->timeline);
    if (!cli_has_folder(a->timeline))
        return cli_error("%s: its folder is missing or read-only: create it first", a->timeline);
    return OPT_GO_ON;
}

static int check_preview(const struct command *self, const struct recon_args *a)
{
    if (!a->preview)
        return OPT_GO_ON;
    if (!is_file(a->output))
        return opt_usage(self, "--preview needs a volume on disk: expected -o FILE, got \"%s\"",
                         a->output);
    if (!cli_ends_with(a->preview, ".png"))
        return opt_usage(self, "--preview: expected a name that ends in .png, got \"%s\"",
                         a->preview);
    /* Said now and not after the reconstruction. */
    if (!cli_has_folder(a->preview))
        return cli_error("%s: its folder is missing or read-only: create it first", a->preview);
    return OPT_GO_ON;
}

static int check(const struct command *self, const struct recon_args *a)
{
    if (a->p.follow && a->p.resume)
        return opt_usage(self, "--resume needs a complete scan: leave --follow out");
    if (a->plan)
        return OPT_GO_ON;
    if (!a->output)
        return opt_usage(self, "-o VOLUME is missing");
    if (is_file(a->output) && !cli_is_volume(a->output))
        return opt_usage(
            self, "-o: expected a name that ends in " CLI_VOLUMES ", or null: or hash:, got \"%s\"",
            a->output);
    if (a->p.compress && is_file(a->output) && !cli_ends_with(a->output, ".mha") &&
        !cli_ends_with(a->output, ".mhd"))
        return opt_usage(self, "--compress: expected -o FILE.mha or FILE.mhd, got \"%s\"",
                         a->output);
    const int rc = check_timeline(self, a);
    return rc == OPT_GO_ON ? check_preview(self, a) : rc;
}

static void announce(const struct fbp_plan_info *p)
{
    char text[200];

    fprintf(stderr, "%s\n%s\n", p->weights, plan_device(text, sizeof text, p));
}

/* The hash alone is the result of hash:, so that scripts can take it. */
static void print_result(const struct recon_args *a, const struct fbp_report *r)
{
    FILE *f = strcmp(a->output, "hash:") == 0 ? stderr : stdout;
    const char *unit = a->p.mu_water > 0 ? "HU" : "1/mm";
    char t[6][24];

    if (f == stderr)
        printf("%016" PRIx64 "\n", r->hash);
    if (a->quiet)
        return;
    fprintf(f, "%s: from %.5g to %.5g, mean %.5g %s\n", is_file(a->output) ? a->output : "values",
            r->min, r->max, r->mean, unit);
    fprintf(f, "%s at %.3g GUPS: reading %s, filtering %s, backprojecting %s, writing %s\n",
            cli_seconds(t[0], sizeof t[0], r->total), r->gups,
            cli_seconds(t[1], sizeof t[1], r->read), cli_seconds(t[2], sizeof t[2], r->filter),
            cli_seconds(t[3], sizeof t[3], r->backproject),
            cli_seconds(t[4], sizeof t[4], r->write));
    if (a->p.follow)
        fprintf(f, "%s after the last view the volume was there, %s after it %s; %zu batches\n",
                cli_seconds(t[0], sizeof t[0], r->volume_after_last_view),
                cli_seconds(t[1], sizeof t[1], r->output_after_last_view),
                is_file(a->output) ? "the file" : "all", r->n_batches);
    if (r->not_finite)
        fprintf(stderr, "note: %zu samples were not numbers and were bridged\n", r->not_finite);
    if (r->clipped)
        fprintf(stderr, "note: %zu intensities were not positive; their logarithm was clipped\n",
                r->clipped);
    if (r->slabs_resumed)
        fprintf(stderr, "note: %zu slabs were there from the interrupted run\n", r->slabs_resumed);
}

static int print_json(const struct recon_args *a, const struct fbp_plan_info *p,
                      const struct fbp_report *r)
{
    cJSON *root = cJSON_CreateObject();
    cJSON *seconds = cJSON_AddObjectToObject(root, "seconds");
    char hash[24];

    cJSON_AddNumberToObject(seconds, "total", r->total);
    cJSON_AddNumberToObject(seconds, "open", r->open);
    cJSON_AddNumberToObject(seconds, "read", r->read);
    cJSON_AddNumberToObject(seconds, "filter", r->filter);
    cJSON_AddNumberToObject(seconds, "backproject", r->backproject);
    cJSON_AddNumberToObject(seconds, "write", r->write);
    cJSON_AddNumberToObject(seconds, "finish", r->finish);
    cJSON_AddNumberToObject(seconds, "waiting_read", r->waiting_read);
    cJSON_AddNumberToObject(seconds, "waiting_write", r->waiting_write);
    if (p->follows) {
        cJSON *after = cJSON_AddObjectToObject(root, "after_last_view");
        cJSON_AddNumberToObject(after, "volume", r->volume_after_last_view);
        cJSON_AddNumberToObject(after, "output", r->output_after_last_view);
        cJSON_AddNumberToObject(root, "batches", (double)r->n_batches);
        cJSON_AddNumberToObject(root, "last_batch_views", (double)r->last_batch);
    }
    cJSON_AddNumberToObject(root, "gups", r->gups);
    cJSON_AddStringToObject(root, "device", p->backend);
    cJSON_AddStringToObject(root, "kernel", p->kernel);
    cJSON_AddStringToObject(root, "isa", p->isa);
    cJSON_AddNumberToObject(root, "threads", p->n_threads);
    cJSON_AddStringToObject(root, "weights", p->weights);
    cJSON_AddStringToObject(root, "output", a->output);
    cJSON_AddStringToObject(root, "unit", a->p.mu_water > 0 ? "HU" : "1/mm");
    cli_json_sizes(root, "size", p->volume.n, 3);
    cli_json_numbers(root, "voxel_mm", p->volume.voxel_mm, 3);
    cJSON_AddNumberToObject(root, "min", r->min);
    cJSON_AddNumberToObject(root, "max", r->max);
    cJSON_AddNumberToObject(root, "mean", r->mean);
    cJSON_AddNumberToObject(root, "not_finite", (double)r->not_finite);
    cJSON_AddNumberToObject(root, "clipped", (double)r->clipped);
    cJSON_AddNumberToObject(root, "slabs_resumed", (double)r->slabs_resumed);
    cJSON_AddNumberToObject(root, "memory_peak_bytes", (double)cli_peak_bytes());
    if (strcmp(a->output, "hash:") == 0) {
        snprintf(hash, sizeof hash, "%016" PRIx64, r->hash);
        cJSON_AddStringToObject(root, "hash", hash);
    }
    return cli_json(root, false);
}

static int failed(const struct recon_args *a, fbp_status st)
{
    if (st != FBP_ERR_CANCELLED)
        return cli_fail();
    if (a->p.follow)
        return cli_error("interrupted: nothing was written");
    if (is_file(a->output))
        return cli_error("interrupted: nothing was written as %s: --resume goes on from here",
                         a->output);
    return cli_error("interrupted");
}

static int reconstruct(const struct recon_args *a, fbp_plan *plan, struct progress *progress)
{
    const struct fbp_plan_info *info = fbp_plan_info(plan);
    struct fbp_report report = {0};

    if (!a->quiet)
        announce(info);
    fbp_plan_timeline(plan, a->timeline);
    const fbp_status st = fbp_plan_run(plan, a->output, &report);
    progress_end(progress);
    if (st != FBP_OK)
        return failed(a, st);
    if (a->preview && fbp_view_write(a->output, a->preview, fbp_view_params(0)) != FBP_OK)
        return cli_fail();
    if (a->json)
        return print_json(a, info, &report);
    print_result(a, &report);
    return 0;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct progress progress;
    struct recon_args a = {RECON_ARGS,
                           .p = *fbp_recon_params(.progress = progress_update, .log = progress_log,
                                                  .follow_timeout_s = 60)};
    struct fbp_scan scan = {0};
    fbp_plan *plan;
    int rc = opt_parse(self, &a, argc, argv);

    if (rc == OPT_GO_ON)
        rc = check(self, &a);
    if (rc != OPT_GO_ON)
        return rc;
    a.p.user = &progress;
    progress_start(&progress, 0, a.quiet);
    rc = recon_prepare(&a, &scan, &plan);
    progress.n_views = scan.n_views;
    if (rc == 0)
        rc = a.plan ? plan_print(plan, a.json) : reconstruct(&a, plan, &progress);
    fbp_plan_destroy(&plan);
    fbp_scan_clear(&scan);
    return rc;
}

const struct command cmd_recon = {
    .name = "recon",
    .summary = "reconstruct a volume from a scan",
    .usage = "scan.json -o VOLUME [options]",
    .about = "Filtered backprojection (FDK for a cone beam).  Short scans, offset detectors, "
             "tilted panels and uneven angles are recognised and announced.  Values come out in "
             "1/mm.  Ctrl-C stops cleanly.",
    .examples = "  fbp recon scan.json -o volume.mha --preview volume.png\n"
                "  fbp recon scan.json -o volume.mha --size 512 --voxel 0.5 --filter hann \\\n"
                "      --memory 4G\n"
                "  fbp recon scan.json -o volume.mha --follow\n"
                "  fbp recon tooth.h5 -o volume.h5 --centre 296 --preview tooth.png\n",
    COMMAND_OPTS(table),
    .run = run,
};
