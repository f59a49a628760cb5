/* Command `fbp info` (cmd_info), which commands.c lists and program.c runs: describes an array
 * file (size, type, spacing, unit, range of values), a scan file or a geometry file.
 * Used by: commands.c. */
#include "cli.h"
#include "program.h"
#include "say.h"

#include "fbp/geometry_file.h"

#include "array/file/bytes.h"
#include "base/text.h"
#include "geometry/kind.h"
#include "scan/file/scan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct info_args {
    const char *file;
    bool header, json, quiet;
};

#define I struct info_args
static const struct opt table[] = {
    OPT(I, file, .name = "file", .positional = true, .required = true,
        .help = "a volume or projections ({read}, or a pattern or a folder of such files), a scan "
                "file (.json), or a geometry file of another program"),
    OPT(I, header, .name = "header",
        .help = "read only the header, and do not print the range of values"),
    OPT(I, json, .name = "json", .help = "print one JSON object"),
    OPT(I, quiet, .name = "quiet", .letter = 'q',
        .help = "print only the result, without warnings"),
};
#undef I

/* Least, greatest and mean of the finite values of an array, and the number of all other values. */
struct range {
    double min, max, mean;
    size_t not_finite;
};

static int read_range(fbp_source *src, struct range *r)
{
    const struct fbp_array_info *info = fbp_source_info(src);
    size_t count = 0, rows = 1;
    double sum = 0;

    /* Choose the rows per call of fbp_source_read(): about 1 MiB, at least one row. */
    while (rows < info->n[1] && rows * info->n[0] < 1 << 18)
        rows++;
    float *buf = malloc(rows * info->n[0] * sizeof *buf);
    if (!buf)
        return cli_error("out of memory for %zu rows of %zu values; close other programs", rows,
                         info->n[0]);
    *r = (struct range){.min = INFINITY, .max = -INFINITY};
    for (size_t z = 0; z < info->n[2]; z++)
        for (size_t y = 0; y < info->n[1]; y += rows) {
            const size_t n = info->n[1] - y < rows ? info->n[1] - y : rows;
            if (fbp_source_read(src, z, 1, y, n, FBP_F32, buf) != FBP_OK) {
                free(buf);
                return cli_fail();
            }
            for (size_t i = 0; i < n * info->n[0]; i++) {
                if (!isfinite(buf[i])) {
                    r->not_finite++;
                    continue;
                }
                r->min = fmin(r->min, (double)buf[i]);
                r->max = fmax(r->max, (double)buf[i]);
                sum += (double)buf[i];
                count++;
            }
        }
    free(buf);
    r->mean = sum / (double)count;
    return 0;
}

static uint64_t array_bytes(const struct fbp_array_info *i)
{
    return (uint64_t)i->n[0] * i->n[1] * i->n[2] * fbp_type_size(i->type);
}

static size_t frames_of(const struct fbp_array_info *i)
{
    return i->time_points > 1 ? i->time_points : 1;
}

static int array_json(const char *path, const struct fbp_array_info *i, const struct range *r)
{
    cJSON *root = cJSON_CreateObject();

    cJSON_AddStringToObject(root, "file", path);
    cJSON_AddStringToObject(root, "format", i->format);
    cJSON_AddStringToObject(root, "type", fbp_type_name(i->type));
    const size_t size[3] = {i->n[0], i->n[1], i->n[2] / frames_of(i)};
    cli_json_sizes(root, "size", size, 3);
    if (frames_of(i) > 1)
        cJSON_AddNumberToObject(root, "frames", (double)i->time_points);
    if (i->has_spacing) {
        cli_json_numbers(root, "spacing_mm", i->spacing_mm, 3);
        cli_json_numbers(root, "origin_mm", i->origin_mm, 3);
    }
    cJSON_AddStringToObject(root, "unit", i->unit);
    if (i->scale != 0)
        cli_json_add(root, {"scale", i->scale}, {"offset", i->offset});
    if (i->history[0])
        cJSON_AddStringToObject(root, "history", i->history);
    if (i->taken[0])
        cJSON_AddStringToObject(root, "files", i->taken);
    cJSON_AddStringToObject(root, "row_order",
                            i->row_order == FBP_ROWS_TOP_DOWN ? "top-down" : "bottom-up");
    cJSON_AddNumberToObject(root, "bytes", (double)array_bytes(i));
    if (r)
        cli_json_add(root, {"min", r->min}, {"max", r->max}, {"mean", r->mean},
                     {"not_finite", (double)r->not_finite});
    return cli_json(root, false);
}

static int array_text(const char *path, const struct fbp_array_info *i, const struct range *r)
{
    char bytes[24];

    printf("file     %s (%s)\n", say_name(path), i->format);
    if (i->taken[0])
        printf("files    %s\n", say_name(i->taken));
    printf("size     %zu x %zu x %zu %s, %s\n", i->n[0], i->n[1], i->n[2] / frames_of(i),
           fbp_type_name(i->type), fbp_bytes_text(bytes, sizeof bytes, array_bytes(i)));
    if (frames_of(i) > 1)
        printf("frames   %zu of that size\n", i->time_points);
    if (i->has_spacing) {
        printf("spacing  %.6g x %.6g x %.6g mm\n", i->spacing_mm[0], i->spacing_mm[1],
               i->spacing_mm[2]);
        printf("origin   (%.6g, %.6g, %.6g) mm, the centre of the first voxel\n", i->origin_mm[0],
               i->origin_mm[1], i->origin_mm[2]);
    } else {
        printf("spacing  not in the file\n");
    }
    printf("unit     %s\n", i->unit[0] ? say_name(i->unit) : "not in the file");
    if (i->history[0])
        printf("history  %s\n", say_name(i->history));
    if (i->scale != 0)
        printf("scale    value = %.9g * number + %.9g\n", i->scale, i->offset);
    if (r)
        printf("values   from %.6g to %.6g, mean %.6g\n", r->min, r->max, r->mean);
    if (r && r->not_finite)
        printf("         %zu are not finite\n", r->not_finite);
    return 0;
}

static int scan_json(const char *path, const struct fbp_scan *s, const struct fbp_grid *g)
{
    cJSON *root = cJSON_CreateObject();

    cJSON_AddStringToObject(root, "file", path);
    cJSON_AddStringToObject(root, "format", "scan");
    cJSON_AddStringToObject(root, "kind", fbp_kind_name(s->kind));
    if (s->projections)
        cJSON_AddStringToObject(root, "projections", s->projections);
    cli_json_views(root, s);
    if (!fbp_kind_has_lines(s->kind))
        cJSON_AddNumberToObject(root, "frames", (double)s->panel.n_rows);
    cJSON_AddBoolToObject(root, "intensities", fbp_scan_is_intensity(s));
    cJSON_AddBoolToObject(root, "filtered", s->filtered);
    cli_json_grid(root, g);
    cJSON *assumed = cJSON_AddObjectToObject(root, "assumed");
    for (size_t i = 0; i < s->n_assumed; i++)
        cJSON_AddStringToObject(assumed, s->assumed[i].key, s->assumed[i].why);
    return cli_json(root, false);
}

static int scan_text(const char *path, const struct fbp_scan *s, const struct fbp_grid *g)
{
    char grid[120];

    const bool lines = fbp_kind_has_lines(s->kind);
    char frames[60] = "";

    if (!lines && s->panel.n_rows > 1)
        snprintf(frames, sizeof frames, ", %zu frames (delays) of each", s->panel.n_rows);
    printf("scan         %s, %s%s\n", say_name(path),
           lines ? fbp_kind_name(s->kind) : "plane integrals (EPR imaging)",
           !lines                 ? ""
           : s->panel.n_rows == 1 ? " beam, one row"
                                  : " beam");
    printf("projections  %s\n",
           s->projections ? say_name(s->projections) : "not named in the file");
    if (lines)
        printf("views        %zu of %zu x %zu pixels\n", s->n_views, s->panel.n_columns,
               s->panel.n_rows);
    else
        printf("views        %zu of %zu samples%s\n", s->n_views, s->panel.n_columns, frames);
    if (s->projections)
        printf("values       %s\n", s->filtered ? "filtered views: only backprojected"
                                    : fbp_scan_is_intensity(s) ? "intensities: -log is applied"
                                    : lines                    ? "line integrals"
                                                               : "plane integrals");
    printf("volume       %s%s\n", cli_grid(grid, sizeof grid, g),
           s->volume.n[0] ? "" : ", worked out from the detector");
    printf("more         fbp geometry check %s\n", say_name(path));
    return 0;
}

static int show_scan(const struct info_args *a, struct fbp_scan *s)
{
    struct fbp_grid g = s->volume;
    const bool known = g.n[0] || fbp_grid_default(fbp_scan_views(s), &g) == FBP_OK;
    const int rc = known ? (a->json ? scan_json : scan_text)(a->file, s, &g) : cli_fail();
    cli_say_uncertain(s, a->quiet);
    fbp_scan_clear(s);
    return rc;
}

/* Print the header of an array file and, without --header, the range of its values, then one line
 * about the scan that the file contains, if any. Closes src. */
static int array_info(const struct info_args *a, fbp_source *src)
{
    const struct fbp_array_info *info = fbp_source_info(src);
    struct fbp_scan scan = {.struct_size = sizeof scan};
    struct range range = {0};
    const struct range *r = a->header ? NULL : &range;
    int rc = r ? read_range(src, &range) : 0;

    if (info->missing[0])
        say_warning(a->quiet, "%s", info->missing);
    /* A MAT, HDF5 or BES3T file may contain a whole scan. A path FILE:ARRAY requests one array
     * only; no file of this name exists. Without a scan, scan.n_views stays 0. */
    const bool is_mat = strcmp(info->format, "mat") == 0;
    if (rc == 0 && access(a->file, F_OK) == 0 &&
        (is_mat || strcmp(info->format, "hdf5") == 0 || strcmp(info->format, "bes3t") == 0)) {
        const fbp_status st = fbp_scan_load(&scan, a->file, NULL);
        rc = st == FBP_ERR_IO || st == FBP_ERR_NOMEM ? cli_fail() : 0;
    }
    /* A MAT file with a scan of plane integrals (EPR) is described as a scan, because none of its
     * arrays P, B and G describes the scan alone. */
    if (rc == 0 && is_mat && scan.n_views > 0 && !fbp_kind_has_lines(scan.kind)) {
        fbp_source_close(&src);
        return show_scan(a, &scan);
    }
    if (rc == 0)
        rc = (a->json ? array_json : array_text)(a->file, info, r);
    if (rc == 0 && scan.n_views > 0) {
        cli_say_uncertain(&scan, a->quiet);
        if (!a->json)
            printf("scan     complete, %zu views; use fbp recon %s, or fbp geometry check %s\n",
                   scan.n_views, say_name(a->file), say_name(a->file));
    }
    fbp_scan_clear(&scan);
    fbp_source_close(&src);
    return rc;
}

/* Load a scan file or, if this fails, a geometry file of another program. */
static fbp_status load_scan(struct fbp_scan *scan, const char *path)
{
    return fbp_scan_load(scan, path, NULL) == FBP_OK ? FBP_OK
                                                     : fbp_geometry_load(scan, path, NULL, NULL);
}

/* Describe a file: as an array, else as a scan or a geometry. If the file has a known array format
 * but is invalid, and is no scan either, the error of the array reader is printed. */
static int file_info(const struct info_args *a)
{
    struct fbp_scan scan = {.struct_size = sizeof scan};
    fbp_source *src = NULL;
    fbp_status st = fbp_source_open(&src, a->file, NULL);

    if (st == FBP_OK)
        return array_info(a, src);
    if (st != FBP_ERR_UNSUPPORTED && st != FBP_ERR_INVALID)
        return cli_fail();
    char why[4096];
    snprintf(why, sizeof why, "%s", fbp_message());
    const bool known = st == FBP_ERR_INVALID || !strstr(why, "unknown array format");
    st = known ? fbp_scan_load(&scan, a->file, NULL) : load_scan(&scan, a->file);
    if (st == FBP_OK)
        return show_scan(a, &scan);
    return known || st == FBP_ERR_UNSUPPORTED ? cli_error("%s", why) : cli_fail();
}

static int run(const struct command *self, int argc, char **argv)
{
    struct info_args a = {0};
    struct fbp_scan scan = {.struct_size = sizeof scan};

    OPT_TRY(opt_parse(self, &a, argc, argv));
    if (cli_ends_with(a.file, ".rctd") || cli_ends_with(a.file, ".rct")) {
        /* Files of the benchmark RabbitCT are printed by `fbp-bench rabbitct info`. */
        char *file = (char *)(uintptr_t)a.file;
        char *words[] = {"rabbitct", "info", a.json ? "--json" : "--", a.json ? "--" : file, file};
        return program_start_bench(4 + a.json, words);
    }
    if (!cli_ends_with(a.file, ".json"))
        return file_info(&a);
    if (load_scan(&scan, a.file) == FBP_OK)
        return show_scan(&a, &scan);
    (void)!fbp_scan_load(&scan, a.file, NULL); /* fbp_message() now states why it is no scan file */
    return cli_fail();
}

const struct command cmd_info = {
    .name = "info",
    .summary = "describe a file: size, type, spacing, unit, range of values",
    .usage = "FILE [options]",
    .examples = "  fbp info volume.mha\n"
                "  fbp info scan.json --json\n"
                "  fbp info geometry.xml\n",
    COMMAND_OPTS(table),
    .run = run,
};
