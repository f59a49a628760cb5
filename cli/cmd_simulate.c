/* Command `fbp simulate` (cmd_simulate), which commands.c lists and program.c runs: simulates a
 * scan of a phantom by exact integrals. Benchmarks make their scans by simulate_scan(), too, with
 * the parameters of simulate_defaults.
 * Used by: bench/common/, bench/papers/okitsu2008/, bench/pipeline/, cli/. */
#include "choices.h"
#include "cli.h"
#include "say.h"
#include "simulate.h"

#include "base/base.h"
#include "geometry/directions.h"
#include "geometry/kind.h"
#include "geometry/view.h"
#include "phantom/shapes.h"
#include "scan/file/text.h"
#include "scan/format/importers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const trajectories[] = {"circle", "c-arm", NULL};
enum { CIRCLE, C_ARM };

static const double rad = 3.14159265358979323846 / 180;

const struct simulate_args simulate_defaults = {
    .phantom = "shepp-logan", .sod_mm = 750, .sdd_mm = 1200, .arc_deg = NAN, .scale = 1, .seed = 1};

#define S struct simulate_args
// clang-format off
static const struct opt table[] = {
    OPT(S, output, .name = "output", .letter = 'o', .arg = "SCAN.json|PRJ.mat", .required = true,
        .help = "scan file to write; the projections are written beside it, as SCAN.mha. With --kind "
        "planes also a MAT file with the arrays P, B and G, the format of EPR laboratories"),
    OPT(S, size, .name = "size", .arg = "N", .min = 1, .max = 65536, .required = true,
        .help = "the volume is a cube with N voxels on each side"),
    OPT(S, views, .name = "views", .arg = "K", .min = 1, .max = 1e6,
        .help = "number of projections; --kind planes has --directions instead"),
    OPT(S, phantom, .name = "phantom", .arg = "NAME|FILE", .list = fbp_phantom_name,
        .fallback = "shepp-logan",
        .help = "shepp-logan, shepp-logan-original, defrise, ball, soft-ball, ellipsoid, "
                "ellipsoids, bottle or tubes, or a text file with a line \"x y z a b c turn density\" for each ellipsoid (mm, "
                "degrees, 1/mm), or a phantom file of RTK or LEAP (docs/phantoms.md)"),
    OPT(S, kind, .name = "kind", .arg = "KIND", .list = fbp_kind_listed, .fallback = "cone",
        .help = "geometry of the rays; planes: plane integrals (EPR imaging)"),
    OPT(S, trajectory, .name = "trajectory", .arg = "NAME", .names = trajectories,
        .fallback = "circle", .help = "path of the source; c-arm: an arc with small deviations from a circle"),
    OPT(S, arc_deg, .name = "arc", .arg = "DEG", .min = -360, .max = 360,
        .fallback = "360; c-arm 198",
        .help = "angle that the views cover; negative: clockwise"),
    OPT(S, start_deg, .name = "start", .arg = "DEG", .min = -360, .max = 360,
        .fallback = "0", .help = "angle of the first view"),
    OPT(S, detector, .name = "detector", .arg = "UxV", .min = 1, .max = 65536,
        .fallback = "1.5 N x 1.5 N",
        .help = "columns x rows of the detector; with one row the beam is a fan"),
    OPT(S, voxel_mm, .name = "voxel", .arg = "MM", .min = FBP_PITCH_MM_MIN, .max = FBP_PITCH_MM_MAX,
        .fallback = "256/N", .help = "size of a voxel"),
    OPT(S, pitch_mm, .name = "pitch", .arg = "MM", .min = FBP_PITCH_MM_MIN, .max = FBP_PITCH_MM_MAX,
        .fallback = "voxel SDD/SOD", .help = "distance between detector pixels"),
    OPT(S, sod_mm, .name = "sod", .arg = "MM", .min = FBP_DISTANCE_MM_MIN, .max = FBP_DISTANCE_MM_MAX,
        .fallback = "750", .help = "distance from source to rotation axis"),
    OPT(S, sdd_mm, .name = "sdd", .arg = "MM", .min = FBP_DISTANCE_MM_MIN, .max = FBP_DISTANCE_MM_MAX,
        .fallback = "1200", .help = "distance from source to detector"),
    OPT(S, offset_mm, .name = "offset", .arg = "U_MM,V_MM", .min = -FBP_PLACE_MM_MAX, .max = FBP_PLACE_MM_MAX,
        .fallback = "0,0",
        .help = "shift of the panel's centre along its rows and columns [mm]"),
    OPT(S, tilt_deg, .name = "tilt", .arg = "A,B,C", .min = -80, .max = 80,
        .fallback = "0,0,0",
        .help = "rotate the detector about its rows by A, then about its columns by B, then about its"
        " normal by C; each axis has moved with the rotations before [deg]"),
    OPT(S, scale, .name = "scale", .arg = "S", .min = -FBP_SCALE_MAX, .max = FBP_SCALE_MAX,
        .fallback = "1", .help = "factor of the phantom's densities, which are in 1/mm (with --kind planes in 1/mm^3)"),
    OPT(S, noise_i0, .name = "noise", .arg = "I0", .min = FBP_NOISE_MIN, .max = FBP_NOISE_MAX,
        .fallback = "none",
        .help = "add Poisson noise of I0 photons per pixel to the line integrals"),
    OPT(S, noise_sd, .name = "noise-sd", .arg = "SD", .min = 0, .max = FBP_NOISE_SD_MAX,
        .fallback = "0",
        .help = "add Gaussian noise of this standard deviation, in the unit of the projections"),
    OPT(S, at_centres, .name = "at-centres",
        .help = "plane integrals at the centres of the samples, instead of means over the width of "
        "each sample (--kind planes)"),
    OPT(S, type, .name = "output-type", .arg = "NAME", .list = choices_sample_type,
        .fallback = "float32", .help = "type of the projections; float64 for plane integrals"),
    OPT(S, seed, .name = "seed", .arg = "N", .fallback = "1", .help = "seed of the noise"),
    OPT(S, truth, .name = "truth", .arg = "FILE",
        .help = "also write the phantom itself, as means over voxels; with --frames, the first frame"),
    OPT(S, unit, .name = "unit", .arg = "NAME", .list = fbp_unit_name, .fallback = "mm",
        .help = "unit of length in the values of --truth, as in fbp recon"),
    OPT(S, directions, .name = "directions", .arg = "SET:N|FILE",
        .help = "for --kind planes (EPR imaging): solid-angle:18 (rings of equal solid angle), "
                "linear-angle:18x18 (rings x directions in each), fibonacci:208 (a spiral), or "
                "a file with three numbers per direction (CSV, NPY, MAT)"),
    OPT(S, order, .name = "order", .arg = "NAME", .list = fbp_direction_order_name,
        .fallback = "plain",
        .help = "order of the views of a set of --directions: plain: ring after ring; flip: every "
        "second ring backwards; msps: each view as far as possible from the views before"),
    OPT(S, pole, .name = "pole", .arg = "AXIS", .list = fbp_pole_name, .fallback = "z",
        .help = "axis of the rings of --directions"),
    OPT(S, samples, .name = "samples", .arg = "S", .min = 1, .max = 65536,
        .fallback = "sqrt(3) N, even",
        .help = "number of samples per view of --kind planes; their distance is --pitch"),
    OPT(S, gradient, .name = "gradient", .arg = "G/CM", .min = FBP_GRADIENT_MIN, .max = FBP_GRADIENT_MAX,
        .fallback = "1",
        .help = "with -o PRJ.mat: field gradient of all views, which determines the frequency of each"
        " sample"),
    OPT(S, frames, .name = "frames", .arg = "D", .min = 1, .max = 65536,
        .fallback = "1",
        .help = "number of rows per view of --kind planes: one row per delay, while the densities "
        "decay"),
    OPT(S, decay, .name = "decay", .arg = "T", .min = FBP_DECAY_MIN, .max = FBP_DECAY_MAX,
        .fallback = "D/2",
        .help = "with --frames: in frame k the density of body i (from 1) is multiplied by "
                "exp(-k/(T i))"),
    OPT(S, threads, .name = "threads", .arg = "N", .min = 0, .max = FBP_THREADS_MAX,
        .fallback = "all cores", .help = "number of threads"),
    FORCE_OPTION(S, force),
    OPT(S, json, .name = "json", .help = "print one JSON object"),
    OPT(S, quiet, .name = "quiet", .letter = 'q', .help = "print only errors"),
};
// clang-format on
#undef S

/* Parse a set of directions such as "solid-angle:18", "linear-angle:18x14" or "fibonacci:208";
 * false: the text must be the path of a file of directions. */
static bool parse_set(const char *text, struct fbp_directions *out)
{
    const char *name, *colon = strchr(text, ':');
    char rest;

    for (size_t i = 0; colon && (name = fbp_direction_set_name(i)); i++)
        if (strlen(name) == (size_t)(colon - text) && strncmp(name, text, strlen(name)) == 0) {
            out->set = (enum fbp_direction_set)i;
            // NOLINTNEXTLINE(cert-err34-c): what does not fit becomes a number that is refused
            const int n = sscanf(colon + 1, "%zux%zu%c", &out->n[0], &out->n[1], &rest);
            return (n == 1 && !strchr(colon, 'x')) || n == 2;
        }
    return false;
}

/* Make the *n unit vectors of --directions, --order and --pole; the caller frees them. */
static fbp_status make_directions(const struct simulate_args *a, double (**out)[3], size_t *n)
{
    struct fbp_directions set = {.struct_size = sizeof set,
                                 .order = (enum fbp_direction_order)a->order,
                                 .pole = (enum fbp_pole)a->pole};

    *out = NULL;
    if (!parse_set(a->directions, &set)) {
        const fbp_status loaded = fbp_directions_load(a->directions, out, n);
        for (size_t k = 0; loaded == FBP_OK && k < *n; k++) {
            double *x = (*out)[k];
            const double length = hypot(hypot(x[0], x[1]), x[2]);
            for (int i = 0; length > 0 && i < 3; i++)
                x[i] /= length;
        }
        return loaded;
    }
    FBP_TRY(fbp_directions_make(&set, NULL, n));
    *out = calloc(*n, sizeof **out);
    return *out ? fbp_directions_make(&set, *out, NULL) : FBP_ERR_NOMEM;
}

static bool has_source(const struct simulate_args *a)
{
    return fbp_kind_has_source((enum fbp_kind)a->kind);
}

/* True if the output is a MAT file with P, B and G (plane integrals), not a scan and an array. */
static bool is_prj(const struct simulate_args *a)
{
    return cli_ends_with(a->output, ".mat");
}

/* Write the true volume if requested, the projections, and last the scan file, because it names the
 * projections. A MAT file contains projections and directions, so no scan file is written. */
static fbp_status write_scan(const struct simulate_args *a, const struct fbp_phantom *phantom,
                             const struct fbp_circle *circle, const struct fbp_scan *scan)
{
    const bool tilted = a->tilt_deg[0] != 0 || a->tilt_deg[1] != 0 || a->tilt_deg[2] != 0;
    const bool as_circle = a->trajectory == CIRCLE && !tilted && !a->directions;
    const struct fbp_sink_params how = {.struct_size = sizeof how, .type = a->type};
    struct fbp_simulate_params params = {.struct_size = sizeof params,
                                         .noise_i0 = a->noise_i0,
                                         .noise_sd = a->noise_sd,
                                         .seed = a->seed,
                                         .n_threads = a->threads,
                                         .at_centres = a->at_centres,
                                         .decay = a->decay,
                                         .in_double = a->type == FBP_F64};

    fbp_status st = FBP_OK;

    if (is_prj(a))
        FBP_TRY(fbp_scan_sink_prj(&params.sink, a->output, scan, a->gradient > 0 ? a->gradient : 1,
                                  &how));
    if (a->truth)
        st = fbp_phantom_volume(phantom, &scan->volume, scan->kind, (enum fbp_unit)a->unit,
                                a->truth, a->threads);
    if (st == FBP_OK)
        st = fbp_phantom_simulate(phantom, scan, is_prj(a) ? NULL : scan->projections, &params);
    if (st == FBP_OK && !is_prj(a))
        st = fbp_scan_save(scan, a->output, as_circle ? circle : NULL);
    fbp_sink_close(&params.sink);
    return st;
}

/* Fill *scan from the options; fbp_scan_clear() frees its members. */
static fbp_status make_scan(const struct simulate_args *a, struct fbp_circle *circle,
                            double (*direction)[3], struct fbp_scan *scan)
{
    /* true: the detector has one row, so the volume has one slice */
    const bool slice = a->detector[1] == 1 && !direction;
    const size_t stem = strlen(a->output) - (is_prj(a) ? 0 : strlen(".json"));

    *scan = (struct fbp_scan){
        .struct_size = sizeof(struct fbp_scan),
        .kind = (enum fbp_kind)a->kind,
        .n_views = a->views,
        .panel = {a->detector[0], a->detector[1]},
        .row_order = FBP_ROWS_BOTTOM_UP,
        .views = calloc(a->views, sizeof *scan->views),
        .projections = malloc(stem + sizeof ".mha"),
        .volume = {.n = {a->size, a->size, slice ? 1 : a->size},
                   .voxel_mm = {a->voxel_mm, a->voxel_mm, a->voxel_mm}},
    };
    if (!scan->views || !scan->projections)
        return FBP_ERR_NOMEM;
    sprintf(scan->projections, "%.*s%s", (int)stem, a->output, is_prj(a) ? "" : ".mha");
    if (!direction)
        return a->trajectory == C_ARM ? fbp_c_arm_views(circle, &scan->panel, scan->views)
                                      : fbp_circle_views(circle, scan->views);
    /* Plane integrals: the samples of each view are symmetric about the origin. */
    const double first = -((double)a->detector[0] - 1) / 2 * a->pitch_mm;
    for (size_t k = 0; k < scan->n_views; k++)
        fbp_plane_view(direction[k], a->pitch_mm, first, a->detector[0], &scan->views[k]);
    return FBP_OK;
}

static int report(const struct simulate_args *a, const struct fbp_scan *scan)
{
    const char *output = say_name(a->output), *phantom = say_name(a->phantom);
    char grid[120], frames[40] = "";

    cli_grid(grid, sizeof grid, &scan->volume);
    if (scan->panel.n_rows > 1)
        snprintf(frames, sizeof frames, ", at %zu delays", scan->panel.n_rows);
    if (!a->json && !a->quiet && !fbp_kind_has_lines(scan->kind))
        printf("%s: plane integrals along %zu directions, %zu samples of %.6g mm each%s, of %s in "
               "%s\n",
               output, scan->n_views, scan->panel.n_columns, a->pitch_mm, frames, phantom, grid);
    else if (!a->json && !a->quiet)
        printf("%s: %zu views of %zu x %zu pixels over %.6g degrees, of %s in %s\n", output,
               scan->n_views, scan->panel.n_columns, scan->panel.n_rows, a->arc_deg, phantom, grid);
    if (!a->json)
        return 0;
    const double sides[2] = {a->pitch_mm, a->pitch_mm};
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "output", a->output);
    cJSON_AddStringToObject(root, "projections", scan->projections);
    if (a->truth)
        cJSON_AddStringToObject(root, "truth", a->truth);
    cJSON_AddStringToObject(root, "phantom", a->phantom);
    cJSON_AddStringToObject(root, "kind", fbp_kind_name(scan->kind));
    cli_json_views(root, scan);
    cli_json_numbers(root, "pitch_mm", sides, 2);
    cli_json_sizes(root, "size", scan->volume.n, 3);
    cli_json_numbers(root, "voxel_mm", scan->volume.voxel_mm, 3);
    return cli_json(root, false);
}

int simulate_scan(struct simulate_args *a)
{
    struct fbp_phantom phantom = {0};
    struct fbp_scan scan = {.struct_size = sizeof scan};
    int rc = 0;

    double(*direction)[3] = NULL, *angles = NULL;
    fbp_status st = FBP_OK;

    /* replace missing options by defaults: voxels of a cube of 256 mm, pixels, detector, arc */
    if (a->voxel_mm <= 0)
        a->voxel_mm = 256.0 / (double)a->size;
    if (a->pitch_mm <= 0)
        a->pitch_mm = a->voxel_mm * (has_source(a) ? a->sdd_mm / a->sod_mm : 1);
    if (!fbp_kind_has_lines((enum fbp_kind)a->kind)) {
        a->detector[0] =
            a->samples ? a->samples : (size_t)(2 * ceil(sqrt(3) * (double)a->size / 2));
        a->detector[1] = a->frames ? a->frames : 1;
    }
    if (a->detector[0] == 0)
        a->detector[0] = a->detector[1] = (3 * a->size + 1) / 2;
    if (isnan(a->arc_deg))
        a->arc_deg = a->trajectory == C_ARM ? 198 : 360;
    if (a->directions)
        st = make_directions(a, &direction, &a->views);
    /* Angles of the views [rad]: a C-arm has views at both ends, a circle only at the first. */
    const size_t intervals = a->trajectory == C_ARM && a->views > 1 ? a->views - 1 : a->views;
    if (st == FBP_OK)
        angles = malloc(a->views * sizeof *angles);
    for (size_t k = 0; angles && k < a->views; k++)
        angles[k] = (a->start_deg + (double)k * a->arc_deg / (double)intervals) * rad;
    struct fbp_circle circle = {
        .struct_size = sizeof circle,
        .kind = (enum fbp_kind)a->kind,
        .n_views = a->views,
        .angles_rad = angles,
        .sod_mm = &a->sod_mm,
        .sdd_mm = &a->sdd_mm,
        .n_sod = 1,
        .n_sdd = 1,
        .pitch_mm = {a->pitch_mm, a->pitch_mm},
        .offset_mm = {a->offset_mm[0], a->offset_mm[1]},
        .tilt_rad = {a->tilt_deg[0] * rad, a->tilt_deg[1] * rad, a->tilt_deg[2] * rad},
    };
    if (st == FBP_OK)
        st = angles ? make_scan(a, &circle, direction, &scan) : FBP_ERR_NOMEM;
    if (st == FBP_OK)
        st = fbp_phantom_create(&phantom, a->phantom, a->voxel_mm * (double)a->size / 2, a->scale);
    if (st == FBP_OK &&
        cli_check_files(&(struct cli_files){
            .force = a->force,
            .inputs = {a->phantom, a->directions},
            .outputs = {a->output, is_prj(a) ? NULL : scan.projections, a->truth}}) != 0)
        rc = 1;
    else if (st == FBP_OK)
        st = write_scan(a, &phantom, &circle, &scan);
    if (rc == 0)
        rc = st == FBP_OK ? report(a, &scan)
             : st == FBP_ERR_NOMEM && !*fbp_message()
                 ? cli_error("out of memory for the simulation; close other programs")
                 : cli_fail();
    fbp_phantom_clear(&phantom);
    fbp_scan_clear(&scan);
    free(direction);
    free(angles);
    return rc;
}

/* Distance of the volume's corners from the rotation axis [mm]. */
static double reach_mm(const struct simulate_args *a)
{
    return (a->voxel_mm > 0 ? a->voxel_mm * (double)a->size : 256) / 2 * sqrt(2);
}

/* Check the options that apply only to plane integrals, or only to line integrals. */
static int check_kind(const struct command *self, const struct simulate_args *a)
{
    struct fbp_directions set;

    if (a->gradient > 0 && !cli_ends_with(a->output, ".mat"))
        return opt_usage(
            self, "--gradient applies to MAT files only; give -o PRJ.mat, or omit --gradient");
    if (a->decay > 0 && a->frames < 2)
        return opt_usage(self, "--decay needs several frames; give --frames D, too");
    if (fbp_kind_has_lines((enum fbp_kind)a->kind)) {
        if (a->frames)
            return opt_usage(self,
                             "--frames applies to plane integrals only; give --kind planes, too");
        if (cli_ends_with(a->output, ".mat"))
            return opt_usage(self,
                             "-o %s: MAT files are written for plane integrals only; give --kind "
                             "planes, or a name that ends in .json",
                             a->output);
        if (a->directions || a->samples || a->order || a->pole)
            return opt_usage(self, "%s applies to plane integrals only; give --kind planes, too",
                             a->directions ? "--directions"
                             : a->samples  ? "--samples"
                             : a->order    ? "--order"
                                           : "--pole");
        return a->views ? OPT_GO_ON : opt_usage(self, "--views K is missing");
    }
    if (!a->directions)
        return opt_usage(self, "--kind planes needs --directions, such as solid-angle:18, or a "
                               "file of them");
    if (!parse_set(a->directions, &set) && !strchr(a->directions, '.') &&
        access(a->directions, F_OK) != 0)
        return opt_usage(self,
                         "--directions: \"%s\" is neither a set (such as solid-angle:18, "
                         "linear-angle:18x18 or fibonacci:208) nor a file",
                         a->directions);
    if (a->views || a->detector[0])
        return opt_usage(self, "%s does not apply to plane integrals; use %s",
                         a->views ? "--views" : "--detector",
                         a->views ? "--directions" : "--samples");
    return OPT_GO_ON;
}

static int check(const struct command *self, const struct simulate_args *a)
{
    if (!cli_ends_with(a->output, ".json") && !is_prj(a))
        return opt_usage(self,
                         "-o: expected a name that ends in .json, or in .mat for plane integrals, "
                         "got \"%s\"",
                         a->output);
    if (a->truth && !cli_is_volume(a->truth))
        return opt_usage(self, "--truth: expected a name that ends in %s, got \"%s\"",
                         cli_volumes(), a->truth);
    if (fabs(a->arc_deg) <= 0)
        return opt_usage(self, "--arc: expected an angle other than 0");
    OPT_TRY(check_kind(self, a));
    if (!has_source(a) && a->trajectory == C_ARM)
        return opt_usage(self, "--trajectory c-arm needs a source; use --kind cone");
    if (has_source(a) && a->sod_mm <= reach_mm(a))
        return opt_usage(
            self,
            "--sod: expected more than %.4g mm, the extent of the volume from the axis, got \"%g\"",
            reach_mm(a), a->sod_mm);
    if (has_source(a) && a->sdd_mm < a->sod_mm)
        return opt_usage(self, "--sdd: expected %g mm (--sod) or more, got \"%g\"", a->sod_mm,
                         a->sdd_mm);
    return OPT_GO_ON;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct simulate_args a = simulate_defaults;

    OPT_TRY(opt_parse(self, &a, argc, argv));
    OPT_TRY(check(self, &a));
    return simulate_scan(&a);
}

const struct command cmd_simulate = {
    .name = "simulate",
    .summary = "simulate a scan of a phantom, by exact integrals",
    .usage = "--size N --views K -o SCAN.json [options]",
    .about = "The phantom fills a cube of 256 mm side length (or N times --voxel). The source "
             "starts at (SOD, 0, 0) and turns counter-clockwise as seen from +z. Plane integrals "
             "(--kind planes) have --directions instead of --views.",
    .examples = "  fbp simulate --size 128 --views 180 -o scan.json --truth truth.mha\n"
                "  fbp simulate --phantom defrise --size 256 --views 360 --trajectory c-arm \\\n"
                "      --noise 1e5 -o carm.json\n"
                "  fbp simulate --kind planes --directions solid-angle:18 --size 64 -o epr.json\n",
    COMMAND_OPTS(table),
    .run = run,
};
