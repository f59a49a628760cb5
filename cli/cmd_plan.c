/* Command `fbp plan` (cmd_plan), which commands.c lists and program.c runs: prints the plan of a
 * reconstruction (memory, slabs, time) without running it. Also the functions plan_…() of recon.h,
 * which convert a plan to text lines and JSON for `fbp recon --plan`, the page of --report and
 * fbp-bench.
 * Used by: bench/pipeline/, bench/predict/, cli/. */
#include "recon.h"
#include "say.h"
#include "team.h"

#include "base/text.h"
#include "pipeline/plan.h"

#include <stdlib.h>
#include <string.h>

char *plan_device(char *buf, size_t n, const struct fbp_plan_summary *p)
{
    char devices[40] = "";

    if (p->n_devices > 1)
        snprintf(devices, sizeof devices, ", %zu devices", p->n_devices);
    snprintf(buf, n, "%s, kernel %s%s%s%s, %d thread%s", p->backend, p->kernel, *p->isa ? ", " : "",
             p->isa, devices, p->n_threads, p->n_threads == 1 ? "" : "s");
    return buf;
}

static bool is_box(const struct fbp_plan_summary *p)
{
    return memcmp(p->volume.n, p->whole.n, sizeof p->volume.n) != 0;
}

void plan_put(struct plan_lines *out, const char *name, const char *fmt, ...)
{
    struct plan_line *line = &out->lines[out->n < PLAN_LINES ? out->n++ : PLAN_LINES - 1];

    line->name = name;
    FBP_PRINT_ARGUMENTS(line->text, sizeof line->text, fmt);
}

void plan_tell(const struct fbp_plan_summary *p, struct plan_lines *out)
{
    const double *c = p->volume.centre_mm;
    char a[120], b[120];

    out->n = 0;
    plan_put(out, "volume", "%s, centre (%.6g, %.6g, %.6g) mm", cli_grid(a, sizeof a, &p->volume),
             c[0], c[1], c[2]);
    if (p->time_points > 1)
        plan_put(out, "frames", "%zu volumes of that size, each from one row of the views",
                 p->time_points);
    if (is_box(p))
        plan_put(out, "of", "%s: voxels %zu:%zu,%zu:%zu,%zu:%zu", cli_grid(a, sizeof a, &p->whole),
                 p->box[0][0], p->box[0][1], p->box[1][0], p->box[1][1], p->box[2][0],
                 p->box[2][1]);
    if (p->n_parts)
        plan_put(out, "part",
                 "%zu of %zu; slabs, writing, memory, work and time below are those of this part",
                 p->part, p->n_parts);
    if (p->region_voxels)
        plan_put(
            out, "region",
            "%.3g %% of the voxels, in slices %zu to %zu; it saves %.3g %% of the updates and %.3g "
            "%% of the detector rows",
            100 * recon_region_share(p), p->region_slices[0], p->region_slices[1] - 1,
            100 * p->region_saves_updates, 100 * p->region_saves_rows);
    if (p->prepared[0])
        plan_put(out, "prepared", "%s", say_name(p->prepared));
    plan_put(out, "weights", "%s", p->weights);
    if (p->fft_length)
        plan_put(out, "filter", "by FFT of length %zu", p->fft_length);
    else
        plan_put(out, "filter", "%s", p->filtered ? "none" : "in space");
    plan_put(out, "device", "%s", plan_device(a, sizeof a, p));
    plan_put(out, "slabs", "%zu of at most %zu slices", p->n_slabs, p->slab_slices);
    if (p->follows)
        plan_put(out, "batches", "the views that have arrived, at most %zu", p->batch_views);
    else
        plan_put(out, "batches", "%zu of at most %zu views", p->n_batches, p->batch_views);
    if (p->ahead_bytes)
        plan_put(
            out, "ahead",
            "%zu detector rows of all views, in %zu band%s; %s of line integrals are stored %s",
            p->ahead_rows, p->ahead_bands, p->ahead_bands == 1 ? "" : "s",
            fbp_bytes_text(a, sizeof a, p->ahead_bytes),
            p->ahead_in_file ? "in a scratch file" : "in memory");
    plan_put(out, "reading", "%s; a detector row is read %.3g times",
             fbp_bytes_text(a, sizeof a, p->input_bytes), p->view_reads);
    if (p->scratch_bytes)
        plan_put(out, "views",
                 "filtered once, into a scratch file of %s, from which each row is read %.3g times",
                 fbp_bytes_text(a, sizeof a, p->scratch_bytes), p->scratch_reads);
    else if (p->n_pictures)
        plan_put(out, "views",
                 "filtered once, and summed into %zu images of %zu x %zu pixels: %.4g giga-updates",
                 p->n_pictures, p->picture[0], p->picture[1], (double)p->picture_updates * 1e-9);
    else
        plan_put(out, "views", "%s",
                 p->shares_views ? "each filtered once, by one of the devices, and copied to the "
                                   "others"
                 : p->keeps_views && p->n_devices > 1 ? "filtered by each device, and kept there"
                 : p->keeps_views                     ? "filtered once, and kept on the device"
                 : p->n_slabs > 1 ? "filtered again for each slab that needs their rows"
                                  : "filtered once");
    plan_put(out, "writing", "%s", fbp_bytes_text(a, sizeof a, p->output_bytes));
    if (p->memory_limit > 0)
        plan_put(out, "memory", "%s predicted; the limit is %s",
                 fbp_bytes_text(a, sizeof a, p->memory_bytes),
                 fbp_bytes_text(b, sizeof b, p->memory_limit));
    else
        plan_put(out, "memory", "%s predicted", fbp_bytes_text(a, sizeof a, p->memory_bytes));
    if (p->device_bytes)
        plan_put(out, "on device",
                 "%s per device, without the driver's own context (some 300 MiB on a GPU)",
                 fbp_bytes_text(a, sizeof a, p->device_bytes));
    plan_put(out, "work", "%.4g giga-updates (voxels x %s", (double)p->updates * 1e-9,
             p->n_pictures ? "images) in the second stage" : "views)");
}

void plan_print_lines(const struct plan_lines *l)
{
    for (size_t i = 0; i < l->n; i++)
        printf("%-9s %s\n", l->lines[i].name, l->lines[i].text);
}

cJSON *plan_json(const struct fbp_plan_summary *p, double seconds)
{
    const struct fbp_predicted *t = &p->predicted;
    cJSON *root = cJSON_CreateObject();

    cJSON_AddStringToObject(root, "device", p->backend);
    recon_json_kernel(root, p);
    cli_json_grid(root, &p->volume);
    if (is_box(p))
        recon_json_box(root, p);
    if (p->region_voxels)
        recon_json_region(root, p);
    cli_json_add(
        root, {"slabs", (double)p->n_slabs}, {"slab_slices", (double)p->slab_slices},
        {"batches", (double)p->n_batches}, {"batch_views", (double)p->batch_views},
        {"fft_length", (double)p->fft_length}, {"devices", (double)p->n_devices},
        {"memory_bytes", (double)p->memory_bytes}, {"memory_limit", (double)p->memory_limit},
        {"device_bytes", (double)p->device_bytes}, {"input_bytes", (double)p->input_bytes},
        {"output_bytes", (double)p->output_bytes}, {"updates", (double)p->updates},
        {"frames", (double)p->time_points}, {"pictures", (double)p->n_pictures},
        {"picture_updates", (double)p->picture_updates}, {"ahead_bytes", (double)p->ahead_bytes},
        {"ahead_rows", (double)p->ahead_rows}, {"ahead_bands", (double)p->ahead_bands},
        {"ahead_in_file", (double)p->ahead_in_file}, {"view_reads", p->view_reads},
        {"scratch_bytes", (double)p->scratch_bytes}, {"scratch_reads", p->scratch_reads});
    cJSON_AddBoolToObject(root, "keeps_views", p->keeps_views);
    cJSON_AddBoolToObject(root, "shares_views", p->shares_views);
    cJSON_AddNumberToObject(root, "expected_seconds", seconds);
    if (t->total > 0)
        cli_json_add(cJSON_AddObjectToObject(root, "predicted"), {"read", t->read},
                     {"upload", t->upload}, {"filter", t->filter}, {"share", t->share},
                     {"backproject", t->backproject}, {"fetch", t->fetch}, {"write", t->write},
                     {"total", t->total}, {"gups", t->gups});
    return root;
}

static fbp_status part_of(const fbp_plan *plan, size_t k, struct fbp_part *out)
{
    *out = (struct fbp_part){.struct_size = sizeof *out};
    return fbp_plan_part(plan, k, out);
}

static int json_parts(cJSON *root, const fbp_plan *plan)
{
    const struct fbp_plan_summary *p = fbp_plan_info(plan);

    if (p->n_parts == 0)
        return 0;
    cJSON_AddNumberToObject(root, "part", (double)p->part);
    cJSON *list = cJSON_AddArrayToObject(root, "parts");
    for (size_t k = 1; k <= p->n_parts; k++) {
        struct fbp_part part;
        if (part_of(plan, k, &part) != FBP_OK)
            return cli_fail();
        cJSON *one = cJSON_CreateObject(), *ranges = cJSON_AddArrayToObject(one, "slices");
        const double slices[2] = {(double)part.slices[0], (double)part.slices[1]};
        cJSON_AddItemToArray(ranges, cJSON_CreateDoubleArray(slices, 2));
        cJSON_AddNumberToObject(one, "updates", (double)part.updates);
        cJSON_AddItemToArray(list, one);
    }
    return 0;
}

int plan_print(const fbp_plan *plan, bool json)
{
    const struct fbp_plan_summary *p = fbp_plan_info(plan);
    static struct plan_lines lines;
    double seconds;
    char a[40];

    if (fbp_plan_estimate(plan, &seconds) != FBP_OK)
        return cli_fail();
    if (json) {
        cJSON *root = plan_json(p, seconds);
        if (json_parts(root, plan) == 0)
            return cli_json(root, false);
        cJSON_Delete(root);
        return 1;
    }
    plan_tell(p, &lines);
    plan_put(&lines, "time", "about %s", cli_seconds(a, sizeof a, seconds));
    plan_print_lines(&lines);
    for (size_t k = 1; k <= p->n_parts; k++) {
        struct fbp_part part;
        if (part_of(plan, k, &part) != FBP_OK)
            return cli_fail();
        printf("%-9s %zu of %zu%s: slices %zu to %zu, %.4g giga-updates\n", "part", k, p->n_parts,
               k == p->part ? " (this one)" : "", part.slices[0], part.slices[1] - 1,
               (double)part.updates * 1e-9);
    }
    return 0;
}

static const struct opt table[] = {
    OPT(R, scan, .name = "scan.json", .positional = true, .required = true,
        .help = "scan file, or any other input of fbp recon"),
    OPT(R, output, .name = "output", .letter = 'o', .arg = "VOLUME",
        .help =
            "name that fbp recon will get; the format of the output changes the memory (OME-Zarr)"
            " and the ends of parts. fbp plan writes nothing"),
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
    const int parsed = opt_parse(self, &a, argc, argv);
    char *kept;

    progress.quiet = a.quiet;
    if (!a.part)
        team_let_first_speak();
    OPT_TRY(parsed);
    OPT_TRY(adjust_check(self, a.adjust));
    OPT_TRY(recon_check_part(self, &a));
    OPT_TRY(recon_check_planned(self, &a));
    OPT_TRY(recon_choose_part(self, &a));
    recon_complete(&a);
    int rc = recon_name_scan(&a, &kept);
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
    .summary = "print what recon would do: memory, slabs, reads, time",
    .usage = "scan.json [options]",
    .about =
        "Takes the options of fbp recon, and reads only the headers of the files. If fbp recon "
        "would fail, fbp plan fails with the same message.",
    .examples = "  fbp plan scan.json\n"
                "  fbp plan scan.json --size 2048 --memory 4G\n"
                "  fbp plan scan.json --size 2048 --part 3/16\n",
    COMMAND_OPTS(table),
    .groups = recon_groups,
    .run = run,
};
