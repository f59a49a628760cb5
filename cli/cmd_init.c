#include "init.h"

static const char *const kinds[] = {"", "cone", "parallel", NULL};

#define I struct init_known
static const struct opt table[] = {
    OPT(I, folder, .name = "folder", .positional = true, .required = true,
        .help = "where the data of a scan are; folders in it are looked into, too"),
    OPT(I, output, .name = "output", .letter = 'o', .arg = "SCAN.json",
        .fallback = "standard output", .help = "scan file to write"),
    OPT(I, kind, .name = "kind", .arg = "KIND", .names = kinds, .fallback = "cone",
        .help = "what is known already: cone or parallel beam"),
    OPT(I, pitch, .name = "pitch", .arg = "MM", .min = FBP_PITCH_MM_MIN, .max = FBP_PITCH_MM_MAX,
        .help = "distance of the detector's pixels"),
    OPT(I, sod, .name = "sod", .arg = "MM", .min = FBP_DISTANCE_MM_MIN, .max = FBP_DISTANCE_MM_MAX,
        .help = "source to rotation axis"),
    OPT(I, sdd, .name = "sdd", .arg = "MM", .min = FBP_DISTANCE_MM_MIN, .max = FBP_DISTANCE_MM_MAX,
        .help = "source to detector"),
    OPT(I, arc, .name = "arc", .arg = "DEG", .min = 1e-3, .max = 36000,
        .help = "angle that the views cover"),
    OPT(I, force, .name = "force", .help = "replace a scan file that is there already"),
    OPT(I, json, .name = "json", .help = "print one JSON object, in which the scan file is"),
    OPT(I, quiet, .name = "quiet", .letter = 'q', .help = "say nothing but errors"),
};
#undef I

static int run(const struct command *self, int argc, char **argv)
{
    struct init_known known = {0};
    struct init_folder folder = {0};
    int rc = opt_parse(self, &known, argc, argv);

    if (rc != OPT_GO_ON)
        return rc;
    if (known.output && !cli_ends_with(known.output, ".json"))
        return opt_usage(self, "-o: expected a name that ends in .json, got \"%s\"", known.output);
    rc = init_look(known.folder, known.quiet, &folder);
    if (rc == 0)
        rc = init_write(&folder, &known);
    init_clear(&folder);
    return rc;
}

const struct command cmd_init = {
    .name = "init",
    .summary = "look at a folder and guess its scan file",
    .usage = "FOLDER [options] > SCAN.json",
    .about =
        "Finds projections (the largest array, or series of numbered files), darks, flats, bad "
        "pixels and angles by their names, and geometry files that fit.  What it assumes it "
        "says, on standard error and as comments in the file; what is known can be told.",
    .examples = "  fbp init scan/ > scan.json\n"
                "  fbp init scan/ --pitch 0.2 --sod 410.66 --sdd 553.74 -o scan/scan.json\n",
    COMMAND_OPTS(table),
    .run = run,
};
