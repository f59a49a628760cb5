/* Command `fbp recon` (cmd_recon), which commands.c lists and program.c runs: option table, start
 * of the devices while the scan is read, run of the plan of a reconstruction (or, with --sweep,
 * start of a sweep), then preview picture, report page and printed result; for each scan of the
 * command line.
 * Used by: commands.c. */
#include "program.h"
#include "report.h"
#include "say.h"
#include "sweep.h"
#include "team.h"

#include "backend/module.h"
#include "base/text.h"
#include "pipeline/plan.h"

#include <stdlib.h>
#include <string.h>

static const struct opt table[] = {
    OPT(R, scans, .name = "scan.json", .positional = true, .required = true,
        .help =
            "scan file (docs/scan.md): where the arrays are and how they were measured; or a "
            "whole scan in HDF5 (Data Exchange, NXtomo), MAT or BES3T (.DSC). Several scans: see "
            "--output"),
    OPT(R, output, .name = "output", .letter = 'o', .arg = "VOLUME",
        .help =
            "volume to write ({written}), or one file per slice, such as out/%04d.tif or "
            "out/%04d.png. null: writes nothing; hash: writes nothing, and prints a hash of the "
            "voxel values. With --slice, a name that ends in .png writes a grey picture. %s stands "
            "for the name of the scan file without folder and extension: with out/%s.mha, several "
            "scans can be given"),
    OPT(R, p.output.type, .name = "output-type", .arg = "NAME", .list = choices_output_type,
        .fallback = "float32",
        .help = "type of the stored voxel values; the default with --precision double is float64. "
                "int16 "
                "with --hu stores rounded Hounsfield units"),
    OPT(R, p.output.range, .name = "output-range", .arg = "LO,HI|auto",
        .fallback = "-1000,3000 in HU; all integers of int16",
        .help =
            "voxel values that become the least and the greatest integer of --output-type uint8, "
            "uint16 or int16; auto: the least and the greatest value of the volume"),
    OPT(R, preview, .name = "preview", .arg = "FILE.png",
        .help = "also write a picture of three slices of the volume"),
    OPT(R, timeline, .name = "timeline", .arg = "FILE.svg",
        .help = "also draw a timeline of reading, filtering, backprojection and writing"),
    OPT(R, report, .name = "report", .arg = "FILE.html",
        .help =
            "also write a page for a browser: warnings, slices of the volume, settings and their "
            "reasons, geometry, timeline, inputs, and the command (docs/view.md)"),
    OPT(R, sweep, .name = "sweep", .arg = "NAME=FROM:TO:STEP",
        .help =
            "reconstruct one slice for each value of centre (column of the rotation axis), tilt "
            "[deg], offset, sod or sdd [mm], write all slices as one picture (-o FILE.png), and "
            "print the best value"),
    OPT(R, water, .name = "hu-from-roi", .arg = "X,Y,Z,R", .min = -FBP_PLACE_MM_MAX,
        .max = FBP_PLACE_MM_MAX,
        .help = "values in Hounsfield units: the sphere of radius R around (X, Y, Z) [mm] contains "
                "water, and its mean is measured first"),
    OPT(R, score, .name = "score", .arg = "NAME", .names = sweep_scores, .fallback = "sharpness",
        .help = "with --sweep: measure of a slice that decides which value is best"),
    OPT(R, curve, .name = "curve", .arg = "FILE.svg", .help = "with --sweep: also draw the scores"),
    RECON_OPTIONS,
    PART_OPTION,
    OPT(R, p.output.compress, .name = "compress", .help = "compress the output ({compressed})"),
    OPT(R, p.output.resume, .name = "resume",
        .help = "continue an interrupted run of the same command"),
    OPT(R, p.output.force, .name = "force",
        .help = "also write over an input file, or into a folder or series of input files"),
    OPT(R, p.input.follow, .name = "follow",
        .help = "reconstruct while the projections are still being written"),
    OPT(R, p.input.follow_timeout_s, .name = "follow-timeout", .arg = "SECONDS", .min = 0,
        .max = FBP_SECONDS_MAX, .fallback = "60",
        .help = "with --follow: fail if no new view arrives for this time; 0: never fail"),
    OPT(R, p.cluster.view_ranks, .name = "view-ranks", .arg = "N", .min = 1, .max = 65536,
        .fallback = "planned",
        .help =
            "number of processes, started by mpirun, that share the views of each slab of slices "
            "(docs/cluster.md)"),
    OPT(R, plan, .name = "plan", .help = "print what would be done, then stop"),
    OPT(R, json, .name = "json",
        .help = "print the result as a JSON object; with several scans, one object per line"),
    OPT(R, quiet, .name = "quiet", .letter = 'q',
        .help = "print only errors, and the result of -o hash:, --sweep, --plan or --json"),
};

/* Run the plan of a single slice and write the slice as a PNG picture. shown: receives the value
 * drawn black [0] and the value drawn white [1]. */
static fbp_status run_to_picture(fbp_plan *plan, const char *path, struct fbp_report *report,
                                 double shown[2])
{
    const struct fbp_grid *g = &fbp_plan_info(plan)->volume;
    const size_t n[3] = {g->n[0], g->n[1], g->n[2] * fbp_plan_info(plan)->time_points};
    float *values = malloc(n[0] * n[1] * n[2] * sizeof *values);
    struct fbp_array_info info = {.struct_size = sizeof info,
                                  .n = {g->n[0], g->n[1], g->n[2]},
                                  .type = FBP_F32,
                                  .has_spacing = true,
                                  .spacing_mm = {g->voxel_mm[0], g->voxel_mm[1], g->voxel_mm[2]}};
    fbp_source *source = NULL;
    fbp_sink *sink = NULL;
    fbp_status st = values ? fbp_sink_memory(&sink, values, FBP_F32, n) : FBP_ERR_NOMEM;

    if (st == FBP_OK)
        st = fbp_plan_run_to(plan, NULL, sink, report);
    if (st == FBP_OK)
        st = fbp_source_memory(&source, values, &info);
    if (st == FBP_OK) /* the picture shows the first frame (time point) of the scan */
        st = fbp_picture_write("the slice", path,
                               fbp_picture_params(.source = source, .shown = shown));
    fbp_source_close(&source);
    fbp_sink_close(&sink);
    free(values);
    return st;
}

static int reconstruct(const struct recon_args *a, const struct fbp_scan *scan, fbp_plan *plan,
                       struct progress *progress, struct recon_report *report)
{
    struct recon_result result = {.plan = fbp_plan_info(plan),
                                  .report = {.struct_size = sizeof result.report}};
    char device[200], written[4200];

    if (!a->quiet)
        fprintf(stderr, "%s\n%s\n", result.plan->weights,
                plan_device(device, sizeof device, result.plan));
    fbp_plan_timeline(plan, a->timeline);
    if (a->report && report_draws(report, a, plan) != 0)
        return 1;
    /* With several processes (MPI), rank 0 writes the picture, preview and report, and prints the
     * result; other ranks have no sink if the output is a picture. */
    const bool is_later = fbp_team_rank(a->p.cluster.team) > 0;
    const fbp_status st = !recon_is_picture(a) ? fbp_plan_run(plan, a->output, &result.report)
                          : is_later
                              ? fbp_plan_run_to(plan, NULL, NULL, &result.report)
                              : run_to_picture(plan, a->output, &result.report, result.shown);
    progress_end(progress);
    if (st == FBP_ERR_CANCELLED && recon_is_picture(a))
        return cli_error("interrupted: nothing was written");
    if (st != FBP_OK) /* after an interruption, the message states how many slices are stored */
        return cli_fail();
    report->computed = true;
    if (is_later)
        return 0;
    cli_written(written, sizeof written, a->output, result.plan->volume.n[2]);
    if (a->preview &&
        fbp_picture_write(written, a->preview, fbp_picture_params(.shown = result.shown)) != FBP_OK)
        return cli_fail();
    if (fbp_geometry_rows(fbp_scan_views(scan), 0, scan->n_views, &result.plan->whole,
                          result.plan->box[2][0], result.plan->box[2][1], &result.rows[0],
                          &result.rows[1]) != FBP_OK)
        return cli_fail();
    if (a->report && report_write(report, a, scan, &result) != 0)
        return 1;
    if (a->json)
        return recon_print_json(a, &result);
    recon_print(a, &result);
    return 0;
}

static int sweep(const struct command *self, struct recon_args *a, struct progress *progress)
{
    struct sweep_range range;
    char why[200];

    if (team_own())
        return cli_error(
            "--sweep: one process computes all values; start it without mpirun or srun");
    if (!sweep_parse(a->sweep, &range, why, sizeof why))
        return opt_usage(self, "--sweep: %s", why);
    a->adjust[range.parameter] = range.from; /* replaces the option's value */
    const int rc = adjust_check(self, a->adjust);
    if (rc != OPT_GO_ON)
        return rc;
    progress_start(progress, 0, a->quiet);
    progress->visible = false; /* the sweep prints its own progress */
    return sweep_run(a, &range);
}

/* ---- Several scans ---- */

/* Name of a scan file without folder and extension; *n: its length. */
static const char *scan_name(const char *path, size_t *n)
{
    size_t end = strlen(path), first;

    while (end > 1 && path[end - 1] == '/')
        end--;
    for (first = end; first > 0 && path[first - 1] != '/';)
        first--;
    *n = end - first;
    for (size_t i = end; i-- > first + 1 && *n == end - first;)
        if (path[i] == '.')
            *n = i - first;
    return path + first;
}

/* Replace "%s" in the name of an output by the name of the scan. *kept: text to be freed. */
static int insert_name(const char **path, const char *scan, char **kept)
{
    const char *at = *path ? strstr(*path, "%s") : NULL;
    size_t n;

    if (!at)
        return 0;
    const char *name = scan_name(scan, &n);
    *kept = fbp_format("%.*s%.*s%s", (int)(at - *path), *path, (int)n, name, at + 2);
    *path = *kept;
    return *kept ? 0 : cli_error("out of memory for the name of an output; close other programs");
}

enum { N_NAMED = 4 };

/* Arguments for the reconstruction of one of the scans. kept: texts to be freed. */
static int arguments_of(const struct recon_args *all, const char *scan, struct recon_args *a,
                        char *kept[N_NAMED])
{
    *a = *all;
    a->scan = scan;
    const char **const paths[N_NAMED] = {&a->output, &a->preview, &a->timeline, &a->report};
    for (size_t i = 0; i < N_NAMED; i++)
        if (insert_name(paths[i], scan, &kept[i]) != 0)
            return 1;
    recon_complete(a);
    return 0;
}

/* Check that each of several scans has outputs of its own. */
static int check_several(const struct command *self, const struct recon_args *a)
{
    const char *const paths[N_NAMED] = {a->output, a->preview, a->timeline, a->report};
    const char *const *scans = a->scans.list;
    size_t n, m;

    if (a->scans.n == 1)
        return OPT_GO_ON;
    if (a->sweep || team_own())
        return opt_usage(self, "%s: takes one scan, but %zu are given; give one",
                         a->sweep ? "--sweep" : "a run of several processes", a->scans.n);
    for (size_t i = 0; i < N_NAMED; i++)
        if (paths[i] && recon_is_file(paths[i]) && !strstr(paths[i], "%s"))
            return opt_usage(self,
                             "\"%s\": all %zu scans would write this file; give %%s in its name, "
                             "which stands for the name of the scan",
                             paths[i], a->scans.n);
    for (size_t i = 0; i < a->scans.n; i++)
        for (size_t k = 0; k < i; k++) {
            const char *one = scan_name(scans[i], &n), *other = scan_name(scans[k], &m);
            if (n == m && memcmp(one, other, n) == 0)
                return opt_usage(self,
                                 "%s and %s have the same name without folder and extension, so "
                                 "their outputs would have the same name; rename one of them",
                                 scans[k], scans[i]);
        }
    return OPT_GO_ON;
}

/* Reconstruct one scan. argc, argv: the words of the command line. */
static int run_scan(const struct command *self, const struct recon_args *all, const char *scan_path,
                    int argc, char **argv)
{
    struct progress progress;
    static struct recon_report report;
    struct recon_args a;
    struct fbp_scan scan = {.struct_size = sizeof scan};
    char *named[N_NAMED] = {NULL}, *kept = NULL;
    fbp_plan *plan = NULL;

    int rc = arguments_of(all, scan_path, &a, named);
    a.p.callbacks.user = &progress;
    report = (struct recon_report){0};
    if (a.report)
        report_begin(&report, argc, argv);
    if (rc == 0)
        rc = recon_name_scan(&a, &kept);
    if (rc == 0)
        rc = a.sweep ? sweep(self, &a, &progress) : 0;
    if (rc == 0 && !a.sweep) {
        progress_start(&progress, 0, a.quiet);
        rc = recon_prepare(&a, &scan, &plan);
        progress.n_views = scan.n_views;
        if (rc == 0)
            rc = a.plan ? plan_print(plan, a.json)
                        : reconstruct(&a, &scan, plan, &progress, &report);
    }
    if (rc != 0 && a.report)
        report_failed(&report, &a, a.loaded ? &scan : NULL, plan ? fbp_plan_info(plan) : NULL);
    fbp_plan_destroy(&plan);
    fbp_scan_clear(&scan);
    report_end(&report);
    free(kept);
    for (size_t i = 0; i < N_NAMED; i++)
        free(named[i]);
    return rc;
}

/* Reconstruct several scans, one after the other; after a failure, continue with the next. */
static int run_scans(const struct command *self, const struct recon_args *all, int argc,
                     char **argv)
{
    char failed[1000] = "";
    size_t n_failed = 0;

    for (size_t i = 0; i < all->scans.n && signals_status() == 0; i++) {
        const char *path = all->scans.list[i];
        say_note(all->quiet, "%s (scan %zu of %zu)", say_name(path), i + 1, all->scans.n);
        if (say_document(path, run_scan(self, all, path, argc, argv)) == 0)
            continue;
        const size_t used = strlen(failed);
        snprintf(failed + used, sizeof failed - used, "%s%s", n_failed++ ? ", " : "", path);
    }
    return n_failed ? cli_error("%zu of %zu scans failed: %s", n_failed, all->scans.n, failed) : 0;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct recon_args a = {RECON_ARGS, .p = *fbp_recon_params(.callbacks.progress = progress_update,
                                                              .callbacks.log = progress_log,
                                                              .input.follow_timeout_s = 60)};
    int rc = team_start();

    if (rc == 0)
        rc = opt_parse(self, &a, argc, argv);
    if (rc == OPT_GO_ON)
        rc = check_several(self, &a);
    if (rc == OPT_GO_ON)
        rc = recon_choose_part(self, &a);
    for (size_t i = 0; i < a.scans.n && rc == OPT_GO_ON; i++) {
        char *named[N_NAMED] = {NULL};
        struct recon_args one;
        rc = arguments_of(&a, a.scans.list[i], &one, named) ? 1 : recon_check(self, &one);
        for (size_t k = 0; k < N_NAMED; k++)
            free(named[k]);
    }
    if (rc == OPT_GO_ON && team_check(a.part != NULL) != 0)
        rc = 1;
    if (rc != OPT_GO_ON) {
        free(a.scans.list);
        return rc;
    }
    if (isinf(a.p.output.range[0])) { /* auto */
        a.p.output.auto_range = true;
        a.p.output.range[0] = a.p.output.range[1] = 0;
    }
    a.p.cluster.team = team_own();
    if (fbp_team_rank(a.p.cluster.team) > 0)
        a.preview = a.timeline = a.report = NULL;
    fbp_keep_buffers(a.scans.n > 1);
    if (!a.p.cluster.team) /* a process of a team chooses its own device */
        fbp_devices_start(a.p.device);
    rc = a.scans.n == 1 ? run_scan(self, &a, a.scans.list[0], argc, argv)
                        : run_scans(self, &a, argc, argv);
    fbp_devices_await();
    free(a.scans.list);
    return rc;
}

const struct command cmd_recon = {
    .name = "recon",
    .summary = "reconstruct a volume from a scan",
    .usage = "scan.json [scan.json ...] -o VOLUME [options]",
    .about =
        "Filtered backprojection (FDK for cone beams). fbp recognizes short scans, offset "
        "detectors, tilted panels and uneven angles, and prints a note. Values are in 1/mm; "
        "those of plane integrals (EPR imaging) are in 1/mm^3. Lengths are in mm, or have the unit "
        "um, mm, cm or m, such as --voxel 25um. Ctrl-C stops the run cleanly.",
    .examples = "  fbp recon scan.json -o volume.mha --preview volume.png\n"
                "  fbp recon scan.json -o volume.mha --size 512 --voxel 0.5 --filter hann \\\n"
                "      --memory 4G\n"
                "  fbp recon scan.json -o slice.png --slice 128\n"
                "  fbp recon scan.json -o part.mha --roi 100:300,:,80:120\n"
                "  fbp recon scan.json -o sheet.png --sweep centre=250:262:0.5\n"
                "  fbp recon scan.json -o volume.mha --follow\n"
                "  fbp recon scan.json -o volume.mha --part 3/16\n"
                "  fbp recon helix.DSC -o helix.mat --reference h.npy --cutoff 0.1\n"
                "  fbp recon a.json b.json c.json -o out/%s.mha\n"
                "  fbp recon tooth.h5 -o volume.h5 --centre 296 --preview tooth.png\n",
    COMMAND_OPTS(table),
    .groups = recon_groups,
    .run = run,
};
