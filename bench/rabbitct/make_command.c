/* Command `fbp rabbitct make`: a RabbitCT data set from a scan, or from a simulated one.
 * Used by: bench/commands.c. */
#include "bench/common/bench.h"
#include "bench/rabbitct/text.h"
#include "cli.h"
#include "recon.h"
#include "say.h"

#include "backend/backend.h"
#include "phantom/shapes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct make_args {
    const char *scan, *output, *phantom;
    size_t views, detector[2], references;
    double pitch_mm, sod_mm, sdd_mm, arc_deg, half_mm, scale, mu_water;
    struct fbp_recon_params p;
    bool force, quiet, json;
};

static const double rad = 3.14159265358979323846 / 180;

#define M struct make_args
// clang-format off
static const struct opt table[] = {
    OPT(M, scan, .name = "scan.json", .positional = true,
        .help = "cone-beam scan to make the data set from; without it, a scan is simulated"),
    OPT(M, output, .name = "output", .letter = 'o', .arg = "FILE", .required = true,
        .help = "data set to write: .rctd is version 2, .rct version 1"),
    OPT(M, references, .name = "references", .arg = "N", .min = 0, .max = 4, .fallback = "3",
        .help = "number of references, of 128^3, 256^3, 512^3 and 1024^3 voxels"),
    OPT(M, views, .name = "views", .arg = "K", .min = 2, .max = 1e6, .fallback = "496",
        .help = "number of simulated views"),
    OPT(M, detector, .name = "detector", .arg = "UxV", .min = 1, .max = 65535,
        .fallback = "1248x960", .help = "columns x rows of the simulated detector"),
    OPT(M, pitch_mm, .name = "pitch", .arg = "MM", .min = FBP_PITCH_MM_MIN, .max = FBP_PITCH_MM_MAX,
        .fallback = "0.308 1248/U", .help = "distance between detector pixels"),
    OPT(M, sod_mm, .name = "sod", .arg = "MM", .min = 230, .max = 1e6, .fallback = "745",
        .help = "distance from source to rotation axis"),
    OPT(M, sdd_mm, .name = "sdd", .arg = "MM", .min = 231, .max = 1e6, .fallback = "1196",
        .help = "distance from source to detector"),
    OPT(M, arc_deg, .name = "arc", .arg = "DEG", .min = 1, .max = 360, .fallback = "198",
        .help = "angle that the views cover"),
    OPT(M, phantom, .name = "phantom", .arg = "NAME|FILE", .list = fbp_phantom_name,
        .fallback = "shepp-logan",
        .help = "phantom to simulate, as for fbp simulate"),
    OPT(M, half_mm, .name = "half", .arg = "MM", .min = 1e-3, .max = 1e3, .fallback = "100",
        .help = "half the side of the cube that the phantom fills"),
    OPT(M, scale, .name = "scale", .arg = "S", .min = -FBP_SCALE_MAX, .max = FBP_SCALE_MAX, .fallback = "0.02",
        .help = "factor for its densities [1/mm]"),
    OPT(M, mu_water, .name = "water", .arg = "MU", .min = FBP_MU_MIN, .max = FBP_MU_MAX, .fallback = "0.02",
        .help = "attenuation that becomes grey value 1000 [1/mm]"),
    OPT(M, p.device, .name = "device", .arg = "NAME", .list = fbp_device_name, .fallback = "auto",
        .help = "where to compute the references"),
    OPT(M, p.n_threads, .name = "threads", .arg = "N", .min = 0, .max = FBP_THREADS_MAX,
        .fallback = "all cores", .help = "number of threads"),
    FORCE_OPTION(M, force),
    OPT(M, json, .name = "json", .help = "print one JSON object"),
    OPT(M, quiet, .name = "quiet", .letter = 'q', .help = "print only errors"),
};
// clang-format on
#undef M

static fbp_status make_views(const struct make_args *a, const struct fbp_panel *panel,
                             struct fbp_view *views)
{
    double *angles = malloc(a->views * sizeof *angles);

    if (!angles)
        return FBP_ERR_NOMEM;
    for (size_t k = 0; k < a->views; k++)
        angles[k] = (double)k * a->arc_deg / (double)(a->views - 1) * rad;
    const struct fbp_circle circle = {.struct_size = sizeof circle,
                                      .kind = FBP_CONE,
                                      .n_views = a->views,
                                      .angles_rad = angles,
                                      .sod_mm = &a->sod_mm,
                                      .sdd_mm = &a->sdd_mm,
                                      .n_sod = 1,
                                      .n_sdd = 1,
                                      .pitch_mm = {a->pitch_mm, a->pitch_mm}};
    const fbp_status st = fbp_c_arm_views(&circle, panel, views);
    free(angles);
    return st;
}

/* Simulate a scan; its projections are written to `path`. */
static fbp_status simulate(const struct make_args *a, const char *path, struct fbp_scan *scan)
{
    struct fbp_phantom phantom = {0};

    *scan = (struct fbp_scan){.struct_size = sizeof(struct fbp_scan),
                              .kind = FBP_CONE,
                              .n_views = a->views,
                              .panel = {a->detector[0], a->detector[1]},
                              .row_order = FBP_ROWS_BOTTOM_UP,
                              .views = calloc(a->views, sizeof *scan->views),
                              .projections = malloc(strlen(path) + 1)};
    if (!scan->views || !scan->projections)
        return FBP_ERR_NOMEM;
    memcpy(scan->projections, path, strlen(path) + 1);
    fbp_status st = make_views(a, &scan->panel, scan->views);
    if (st == FBP_OK)
        st = fbp_phantom_create(&phantom, a->phantom, a->half_mm, a->scale);
    if (st == FBP_OK)
        st = fbp_phantom_simulate(&phantom, scan, path,
                                  fbp_simulate_params(.seed = 1, .n_threads = a->p.n_threads));
    fbp_phantom_clear(&phantom);
    return st;
}

static int report(const struct make_args *a)
{
    struct fbp_rabbitct_info i;

    if (fbp_rabbitct_probe(a->output, &i) != FBP_OK)
        return cli_fail();
    if (a->json)
        return rabbitct_info(a->output, true);
    if (!a->quiet)
        printf("%s: version %d, %zu views of %zu x %zu pixels, %zu references\n",
               say_name(a->output), i.version, i.n_views, i.n_columns, i.n_rows, i.n_references);
    return 0;
}

/* Make a temporary folder in the folder of the output, whose disk has room for it. */
static int make_place(const struct make_args *a, struct workplace *place)
{
    const char *slash = strrchr(a->output, '/');
    char *folder = slash ? strndup(a->output, (size_t)(slash - a->output + 1)) : strdup(".");
    const int rc =
        folder ? workplace_make(place, folder) : cli_error("out of memory: close other programs");

    free(folder);
    return rc;
}

static int make(const struct make_args *a)
{
    const struct fbp_rabbitct_make m = {.struct_size = sizeof m,
                                        .version = cli_ends_with(a->output, ".rct") ? 1 : 2,
                                        .n_references = a->references,
                                        .mu_water = a->mu_water,
                                        .params = &a->p};
    struct fbp_scan scan = {.struct_size = sizeof scan};
    struct workplace place; /* of the stand-in's views */

    if (!a->scan && make_place(a, &place) != 0)
        return 1;
    fbp_status st =
        a->scan ? fbp_scan_load(&scan, a->scan, NULL) : simulate(a, place.volume, &scan);
    const int kept = st != FBP_OK ? 0
                                  : cli_check_files(&(struct cli_files){.force = a->force,
                                                                        .scan = &scan,
                                                                        .inputs = {a->phantom},
                                                                        .outputs = {a->output}});
    if (st == FBP_OK && kept == 0)
        cli_say_uncertain(&scan, a->quiet);
    if (st == FBP_OK && kept == 0)
        st = fbp_rabbitct_create(a->output, &scan, &m);
    if (!a->scan)
        workplace_remove(&place);
    fbp_scan_clear(&scan);
    return kept != 0 ? kept : st == FBP_OK ? report(a) : cli_fail();
}

/* The name of an option for simulated scans that was given with a scan; NULL: none. */
static const char *idle_option(const struct make_args *a, const struct make_args *defaults)
{
    const struct {
        const char *name;
        bool given;
    } options[] = {
        {"views", a->views != defaults->views},
        {"detector", memcmp(a->detector, defaults->detector, sizeof a->detector) != 0},
        {"pitch", a->pitch_mm > 0},
        {"sod", fabs(a->sod_mm - defaults->sod_mm) > 0},
        {"sdd", fabs(a->sdd_mm - defaults->sdd_mm) > 0},
        {"arc", fabs(a->arc_deg - defaults->arc_deg) > 0},
        {"phantom", strcmp(a->phantom, defaults->phantom) != 0},
        {"half", fabs(a->half_mm - defaults->half_mm) > 0},
        {"scale", fabs(a->scale - defaults->scale) > 0},
    };

    for (size_t i = 0; a->scan && i < sizeof options / sizeof *options; i++)
        if (options[i].given)
            return options[i].name;
    return NULL;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct progress progress;
    const struct make_args defaults = {
        .phantom = "shepp-logan",
        .views = 496,
        .detector = {1248, 960},
        .references = 3,
        .sod_mm = 745,
        .sdd_mm = 1196,
        .arc_deg = 198,
        .half_mm = 100,
        .scale = 0.02,
        .mu_water = 0.02,
        .p = *fbp_recon_params(.callbacks.progress = progress_update)};
    struct make_args a = defaults;
    int rc = opt_parse(self, &a, argc, argv);

    if (rc != OPT_GO_ON)
        return rc;
    const char *idle = idle_option(&a, &defaults);
    if (idle)
        return opt_usage(self, "--%s is for a simulated scan: omit the option, or omit %s", idle,
                         a.scan);
    if (!cli_ends_with(a.output, ".rct") && !cli_ends_with(a.output, ".rctd"))
        return opt_usage(self, "-o: expected a name that ends in .rct or .rctd, got \"%s\"",
                         a.output);
    if (a.sdd_mm <= a.sod_mm)
        return opt_usage(self, "--sdd: expected more than --sod, %g mm, got \"%g\"", a.sod_mm,
                         a.sdd_mm);
    if (a.pitch_mm <= 0)
        a.pitch_mm = 0.308 * 1248 / (double)a.detector[0];
    a.p.callbacks.user = &progress;
    progress_start(&progress, a.views, true);
    rc = make(&a);
    progress_end(&progress);
    return rc;
}

const struct command cmd_rabbitct_make = {
    .name = "rabbitct make",
    .summary = "make a RabbitCT data set from a scan, or simulate one",
    .usage = "[scan.json] -o FILE [options]",
    .about = "A simulated data set has the trajectory of a C-arm, as in fbp simulate "
             "--trajectory c-arm, and a phantom. Views are weighted and filtered in double "
             "precision. References are reconstructed from them with --precision exact.",
    .examples = "  fbp rabbitct make -o rabbit.rctd\n"
                "  fbp rabbitct make scan.json -o scan.rctd --references 2\n",
    COMMAND_OPTS(table),
    .run = run,
};
