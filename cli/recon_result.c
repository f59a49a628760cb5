/* Prints the results of a reconstruction as text (recon_print()) and as JSON (recon_print_json()),
 * for `fbp recon`. Also members of JSON objects and notes (recon_note()) that `fbp plan` and the
 * page of --report share.
 * Used by: cmd_plan.c, cmd_recon.c, report.c. */
#include "recon.h"
#include "say.h"

#include "array/file/bytes.h"
#include "pipeline/job.h"

#include <inttypes.h>
#include <string.h>

/* End a printed line about a slice or a box: detector rows [first, end) that its voxels need. */
static void print_rows(FILE *f, const size_t rows[2])
{
    if (rows[0] < rows[1])
        fprintf(f, ", from detector rows %zu to %zu\n", rows[0], rows[1] - 1);
    else
        fprintf(f, ", beyond all detector rows\n");
}

cJSON *recon_json_box(cJSON *root, const struct fbp_plan_summary *p)
{
    cJSON *box = cJSON_AddObjectToObject(root, "roi");

    cli_json_sizes(box, "x", p->box[0], 2);
    cli_json_sizes(box, "y", p->box[1], 2);
    cli_json_sizes(box, "z", p->box[2], 2);
    cli_json_sizes(box, "of", p->whole.n, 3);
    return box;
}

void recon_json_kernel(cJSON *root, const struct fbp_plan_summary *p)
{
    cJSON_AddStringToObject(root, "kernel", p->kernel);
    cJSON_AddStringToObject(root, "isa", p->isa);
    cJSON_AddNumberToObject(root, "threads", p->n_threads);
    cJSON_AddStringToObject(root, "weights", p->weights);
    if (p->prepared[0])
        cJSON_AddStringToObject(root, "prepared", p->prepared);
}

double recon_region_share(const struct fbp_plan_summary *p)
{
    const size_t *n = p->volume.n;

    return (double)p->region_voxels / ((double)n[0] * (double)n[1] * (double)n[2]);
}

void recon_json_region(cJSON *root, const struct fbp_plan_summary *p)
{
    cJSON *out = cJSON_AddObjectToObject(root, "region");

    cli_json_add(out, {"voxels", (double)p->region_voxels}, {"share", recon_region_share(p)});
    cli_json_sizes(out, "slices", p->region_slices, 2);
    cli_json_add(out, {"saves_updates", p->region_saves_updates},
                 {"saves_rows", p->region_saves_rows});
}

/* Print lines about optional parts: corrections, box, region, axis, range, water, picture. */
static void print_extras(FILE *f, const struct recon_args *a, const struct recon_result *result)
{
    const char *picture = recon_is_picture(a) ? a->output : a->preview;
    char seconds[40];

    if (result->plan->prepared[0])
        fprintf(f, "prepared: %s\n", say_name(result->plan->prepared));
    if (result->report.ahead > 0)
        fprintf(f, "before the reconstruction: %s\n",
                cli_seconds(seconds, sizeof seconds, result->report.ahead));
    if (recon_one_slice(a)) {
        fprintf(f, "slice %zu, z = %.6g mm", a->slice.first, result->plan->volume.centre_mm[2]);
        print_rows(f, result->rows);
    }

    if (recon_is_box(a)) {
        const struct fbp_plan_summary *p = result->plan;
        const size_t(*r)[2] = p->box, *n = p->whole.n;
        fprintf(f, "voxels %zu:%zu,%zu:%zu,%zu:%zu of %zu x %zu x %zu, z = %.6g to %.6g mm",
                r[0][0], r[0][1], r[1][0], r[1][1], r[2][0], r[2][1], n[0], n[1], n[2],
                fbp_grid_coordinate(&p->whole, 2, (double)r[2][0]),
                fbp_grid_coordinate(&p->whole, 2, (double)r[2][1] - 1));
        print_rows(f, result->rows);
    }
    if (result->plan->region_voxels)
        fprintf(f, "%.3g %% of the voxels lie in the region\n",
                100 * recon_region_share(result->plan));
    if (a->has_centre)
        fprintf(f, "rotation axis on column %.6g%s\n", a->centre.column,
                a->centre.sure ? "" : ", which is NOT RELIABLE");
    if (a->p.output.auto_range)
        fprintf(f, "range of %s: %.9g to %.9g %s, the least and the greatest value\n",
                fbp_type_name(a->p.output.type), result->report.output_range[0],
                result->report.output_range[1], result->plan->unit);
    if (a->water[3] > 0)
        fprintf(f, "water: %.6g 1/mm, standard deviation %.3g (%.3g HU), %zu voxels\n",
                a->found.mean, a->found.sd, 1000 * a->found.sd / a->found.mean, a->found.n);
    if (picture)
        fprintf(f, "%s: black at %.5g, white at %.5g\n", say_name(picture), result->shown[0],
                result->shown[1]);
}

bool recon_note(const struct recon_result *result, size_t i, char *buf, size_t n)
{
    const struct fbp_report *r = &result->report;
    const struct {
        uint64_t count;
        const char *text;
    } notes[] = {{r->output_clipped, "voxels were beyond the output range and were clipped"},
                 {r->slabs_resumed, r->slabs_resumed == 1
                                        ? "slab was already computed by the interrupted run"
                                        : "slabs were already computed by the interrupted run"}};

    for (size_t k = 0; k < sizeof notes / sizeof *notes; k++)
        if (notes[k].count > 0 && i-- == 0) {
            snprintf(buf, n, "%" PRIu64 " %s", notes[k].count, notes[k].text);
            return true;
        }
    return false;
}

/* The minimum is NaN if other parts, or the resumed run, had computed everything. */
bool recon_had_all(const struct recon_args *a, const struct recon_result *result)
{
    return isnan(result->report.min) && (a->part || result->report.slabs_resumed > 0);
}

/* Print the result of a run. With -o hash:, only the hash goes to standard output. */
void recon_print(const struct recon_args *a, const struct recon_result *result)
{
    const struct fbp_report *r = &result->report;
    FILE *f = strcmp(a->output, "hash:") == 0 ? stderr : stdout;
    const char *name = recon_is_file(a->output) ? say_name(a->output) : "values";
    char t[6][24], note[200];

    if (f == stderr)
        printf("%016" PRIx64 "\n", r->hash);
    if (a->quiet)
        return;
    if (a->part)
        fprintf(f, "part %zu of %zu: ", a->p.cluster.part, a->p.cluster.n_parts);
    if (recon_had_all(a, result))
        fprintf(f, "%s%snothing remained to be computed\n", a->part ? "" : name,
                a->part ? "" : ": ");
    else
        fprintf(f, "%s: from %.5g to %.5g, mean %.5g %s\n", name, r->min, r->max, r->mean,
                result->plan->unit);
    if (a->part && recon_is_file(a->output) && r->slices_missing == 0)
        fprintf(f, "%s: all parts are complete\n", name);
    fprintf(f, "%s at %.3g GUPS: reading %s, filtering %s, backprojecting %s, writing %s\n",
            cli_seconds(t[0], sizeof t[0], r->total), r->gups,
            cli_seconds(t[1], sizeof t[1], r->read), cli_seconds(t[2], sizeof t[2], r->filter),
            cli_seconds(t[3], sizeof t[3], r->backproject),
            cli_seconds(t[4], sizeof t[4], r->write));
    if (a->p.input.follow)
        fprintf(f, "the volume was complete %s after the last view, %s after it %s; %zu batches\n",
                cli_seconds(t[0], sizeof t[0], r->volume_after_last_view),
                cli_seconds(t[1], sizeof t[1], r->output_after_last_view),
                recon_is_file(a->output) ? "the file" : "all", r->n_batches);
    print_extras(f, a, result);
    for (size_t i = 0; recon_note(result, i, note, sizeof note); i++)
        fprintf(stderr, "note: %s\n", note);
}

/* Add the findings of the checks of the views to a JSON object: truncation, dead views, bad and
 * saturated pixels, views with another exposure. */
static void json_views(cJSON *root, const struct fbp_report *r)
{
    cJSON *truncated = cJSON_AddObjectToObject(root, "truncated");

    cJSON_AddNumberToObject(truncated, "views", (double)r->truncated_views);
    if (r->truncated_views > 0) {
        cli_json_add(truncated, {"first", (double)r->truncated_first},
                     {"last", (double)r->truncated_last});
        cli_json_numbers(truncated, "ends", r->truncated, 2);
    }
    cJSON_AddNumberToObject(root, "dead_views", (double)r->dead_views);
    cli_json_add(cJSON_AddObjectToObject(root, "bad_pixels"), {"unlisted", (double)r->bad_pixels},
                 {"repaired", (double)r->repaired_pixels});
    cJSON *saturated = cJSON_AddObjectToObject(root, "saturated");
    cJSON_AddNumberToObject(saturated, "samples", (double)r->saturated);
    if (r->saturated > 0)
        cli_json_add(saturated, {"share", r->saturated_share}, {"value", r->saturated_value});
    cJSON *exposure = cJSON_AddObjectToObject(root, "other_exposure");
    cJSON_AddNumberToObject(exposure, "views", (double)r->exposure_views);
    if (r->exposure_views > 0) {
        cli_json_add(exposure, {"first", (double)r->exposure_first},
                     {"last", (double)r->exposure_last});
        cli_json_numbers(exposure, "part", r->exposure, 2);
    }
}

int recon_print_json(const struct recon_args *a, const struct recon_result *result)
{
    const struct fbp_plan_summary *p = result->plan;
    const struct fbp_report *r = &result->report;
    cJSON *root = cJSON_CreateObject();
    const bool in_double = a->p.precision == FBP_PRECISION_DOUBLE;
    const enum fbp_type type = a->p.output.type ? a->p.output.type : in_double ? FBP_F64 : FBP_F32;
    char hash[24];

    cJSON *seconds = cJSON_AddObjectToObject(root, "seconds");
    const struct fbp_device_start start = fbp_devices_start_times();
    cli_json_add(seconds, {"device_start", start.seconds}, {"device_wait", start.waited});
    cli_json_add(seconds, {"total", r->total}, {"open", r->open}, {"read", r->read},
                 {"filter", r->filter}, {"backproject", r->backproject}, {"write", r->write},
                 {"finish", r->finish});
    if (p->ahead_bytes)
        cJSON_AddNumberToObject(seconds, "ahead", r->ahead);
    cli_json_add(seconds, {"waiting_read", r->waiting_read}, {"waiting_write", r->waiting_write});
    if (p->follows) {
        cli_json_add(cJSON_AddObjectToObject(root, "after_last_view"),
                     {"volume", r->volume_after_last_view}, {"output", r->output_after_last_view});
        cli_json_add(root, {"batches", (double)r->n_batches},
                     {"last_batch_views", (double)r->last_batch});
    }
    cJSON_AddNumberToObject(root, "gups", r->gups);
    cJSON_AddStringToObject(root, "device", p->backend);
    cli_json_add(root, {"devices", (double)p->n_devices},
                 {"devices_dropped", (double)r->devices_dropped});
    recon_json_kernel(root, p);
    cJSON_AddStringToObject(root, "output", a->output);
    cJSON_AddStringToObject(root, "unit", p->unit);
    cJSON_AddStringToObject(root, "output_type", fbp_type_name(type));
    if (type != FBP_F32 && type != FBP_F64) {
        cli_json_numbers(root, "output_range", r->output_range, 2);
        cli_json_add(root, {"output_scale", r->output_scale}, {"output_offset", r->output_offset},
                     {"output_clipped", (double)r->output_clipped});
    }
    cli_json_sizes(root, "size", p->volume.n, 3);
    cli_json_numbers(root, "voxel_mm", p->volume.voxel_mm, 3);
    if (recon_one_slice(a)) {
        cJSON *slice = cJSON_AddObjectToObject(root, "slice");
        cli_json_add(slice, {"index", (double)a->slice.first}, {"z_mm", p->volume.centre_mm[2]});
        cli_json_sizes(slice, "rows", result->rows, 2);
    }
    if (recon_is_box(a))
        cli_json_sizes(recon_json_box(root, p), "rows", result->rows, 2);
    if (p->region_voxels)
        recon_json_region(root, p);
    if (a->has_centre)
        centre_json(root, &a->centre);
    if (a->water[3] > 0)
        cli_json_add(cJSON_AddObjectToObject(root, "water"), {"mean", a->found.mean},
                     {"sd", a->found.sd}, {"voxels", (double)a->found.n});
    if (a->preview || recon_is_picture(a))
        cli_json_numbers(root, "window", result->shown, 2);
    cli_json_add(root, {"min", r->min}, {"max", r->max}, {"mean", r->mean},
                 {"not_finite", (double)r->not_finite}, {"clipped", (double)r->clipped});
    json_views(root, r);
    if (a->part) {
        cli_json_add(root, {"part", (double)a->p.cluster.part},
                     {"parts", (double)a->p.cluster.n_parts},
                     {"slices_missing", (double)r->slices_missing});
    }
    cJSON_AddNumberToObject(root, "slabs_resumed", (double)r->slabs_resumed);
    cJSON_AddNumberToObject(root, "memory_peak_bytes", (double)cli_peak_bytes());
    if (strcmp(a->output, "hash:") == 0) {
        snprintf(hash, sizeof hash, "%016" PRIx64, r->hash);
        cJSON_AddStringToObject(root, "hash", hash);
    }
    return cli_json(root, false);
}
