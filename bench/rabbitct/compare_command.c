/* Command `fbp rabbitct compare`: the error of a volume against a reference of the RabbitCT
 * benchmark.
 * Used by: bench/commands.c. */
#include "bench/rabbitct/text.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

struct compare_args {
    const char *volume, *reference;
    double hu[2], tolerance;
    bool json;
};

#define C struct compare_args
static const struct opt table[] = {
    OPT(C, volume, .name = "volume", .positional = true, .required = true,
        .help = "a runner's .vol, which contains grey values, or a volume that fbp wrote"),
    OPT(C, reference, .name = "reference", .positional = true, .required = true,
        .help = "a data set with references, or a single reference (.vol)"),
    OPT(C, hu, .name = "hu", .arg = "SCALE,OFFSET", .min = -1e12, .max = 1e12,
        .fallback = "the data set's",
        .help = "converts a volume f that is not in grey values: grey value = SCALE f + OFFSET"),
    OPT(C, tolerance, .name = "tolerance", .arg = "RMSE", .min = 0, .max = FBP_VALUE_MAX,
        .fallback = "none", .help = "exit with status 1 if the rmse is greater"),
    OPT(C, json, .name = "json", .help = "print one JSON object"),
};
#undef C

/* The side of a cube of floats; 0 if the file is none. */
static size_t side_of(const char *path)
{
    struct stat file;

    if (stat(path, &file) != 0)
        return 0;
    const size_t n = (size_t)lround(cbrt((double)file.st_size / sizeof(float)));
    return (uint64_t)n * n * n * sizeof(float) == (uint64_t)file.st_size ? n : 0;
}

static fbp_status open_volume(const char *path, bool grey, fbp_source **out)
{
    const size_t n = grey ? side_of(path) : 0;
    const struct fbp_raw raw = {.type = FBP_F32, .n = {n, n, n}};

    return fbp_source_open(out, path, n ? &raw : NULL);
}

/* Find the scale of grey values; false: an error was reported. */
static bool find_scale(const struct compare_args *a, float hu[2])
{
    struct fbp_rabbitct_info info;

    hu[0] = (float)a->hu[0];
    hu[1] = (float)a->hu[1];
    if (!isnan(a->hu[0]))
        return true;
    if (cli_ends_with(a->reference, ".vol")) {
        cli_error("%s: a reference file lacks the scale of grey values: give --hu SCALE,OFFSET",
                  a->reference);
        return false;
    }
    if (fbp_rabbitct_probe(a->reference, &info) != FBP_OK) {
        cli_fail();
        return false;
    }
    hu[0] = info.hu[0];
    hu[1] = info.hu[1];
    return true;
}

static int judge(const struct compare_args *a, const struct fbp_rabbitct_error *e)
{
    if (a->json) {
        cJSON *root = cJSON_CreateObject();
        rabbitct_json(root, e);
        cli_json(root, false);
    } else {
        rabbitct_print(e);
    }
    if (a->tolerance >= 0 && !(e->rmse <= a->tolerance))
        return cli_error("%s: the rmse %.6g against %s exceeds the tolerance %.6g", a->volume,
                         e->rmse, a->reference, a->tolerance);
    return 0;
}

static int compare(const struct compare_args *a, fbp_source *source, const float *hu)
{
    const size_t *n = fbp_source_info(source)->n, voxels = n[0] * n[1] * n[2];
    struct fbp_rabbitct_error e;
    int rc = 1;

    if (n[0] != n[1] || n[0] != n[2] || !rabbitct_is_size(n[0]))
        return cli_error("%s: found %zu x %zu x %zu voxels, expected 128^3, 256^3, 512^3 or 1024^3",
                         a->volume, n[0], n[1], n[2]);
    uint16_t *reference = rabbitct_load_reference(a->reference, n[0]);
    float *volume = malloc(voxels * sizeof *volume);
    if (reference && !volume)
        rc = cli_error("out of memory for a volume of %zu^3 voxels: close other programs", n[0]);
    if (reference && volume) {
        rc = fbp_source_read(source, 0, n[2], 0, n[1], FBP_F32, volume) == FBP_OK ? 0 : cli_fail();
        if (rc == 0) {
            fbp_rabbitct_compare(volume, reference, voxels, hu, &e);
            rc = judge(a, &e);
        }
    }
    free(reference);
    free(volume);
    return rc;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct compare_args a = {.tolerance = -1, .hu = {NAN, NAN}};
    fbp_source *source = NULL;
    float hu[2];
    int rc = opt_parse(self, &a, argc, argv);

    if (rc != OPT_GO_ON)
        return rc;
    const bool grey = cli_ends_with(a.volume, ".vol");
    if (!grey && !find_scale(&a, hu))
        return 1;
    if (open_volume(a.volume, grey, &source) != FBP_OK)
        return cli_fail();
    rc = compare(&a, source, grey ? NULL : hu);
    fbp_source_close(&source);
    return rc;
}

const struct command cmd_rabbitct_compare = {
    .name = "rabbitct compare",
    .summary = "the error of a volume as RabbitCT defines it, in HU",
    .usage = "VOLUME REFERENCE [options]",
    .about = "Values are rounded to whole grey values from 0 to 4095. Prints the root mean "
             "square of the difference from the reference, the greatest difference, the peak "
             "signal-to-noise ratio (peak 4095), and how many voxels differ by 0, 1, ..., 9, or "
             "by 10 and more.",
    .examples = "  fbp rabbitct compare result.rctd.vol rabbitct_512-v2.rctd\n"
                "  fbp rabbitct compare volume.mha rabbitct_512-v2.rctd --json\n",
    COMMAND_OPTS(table),
    .run = run,
};
