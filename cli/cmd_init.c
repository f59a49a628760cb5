#include "choices.h"
#include "init.h"

#define I struct init_known
static const struct opt table[] = {
    OPT(I, folder, .name = "folder", .positional = true, .required = true,
        .help = "folder with the data of a scan; its subfolders are searched, too"),
    OPT(I, output, .name = "output", .letter = 'o', .arg = "SCAN.json",
        .fallback = "standard output", .help = "scan file to write"),
    OPT(I, kind, .name = "kind", .arg = "KIND", .list = choices_kind_or_none, .fallback = "cone",
        .help = "kind of geometry, if you know it"),
    OPT(I, pitch, .name = "pitch", .arg = "MM", .min = FBP_PITCH_MM_MIN, .max = FBP_PITCH_MM_MAX,
        .help = "distance between detector pixels"),
    OPT(I, sod, .name = "sod", .arg = "MM", .min = FBP_DISTANCE_MM_MIN, .max = FBP_DISTANCE_MM_MAX,
        .help = "distance from source to rotation axis"),
    OPT(I, sdd, .name = "sdd", .arg = "MM", .min = FBP_DISTANCE_MM_MIN, .max = FBP_DISTANCE_MM_MAX,
        .help = "distance from source to detector"),
    OPT(I, arc, .name = "arc", .arg = "DEG", .min = 1e-3, .max = 36000,
        .help = "angle that the views cover"),
    OPT(I, force, .name = "force", .help = "replace an existing scan file"),
    OPT(I, json, .name = "json", .help = "print one JSON object that contains the scan file"),
    OPT(I, quiet, .name = "quiet", .letter = 'q', .help = "print only errors"),
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
        "Finds the projections (the largest array, or the largest series of numbered files), "
        "finds darks, flats, bad pixels and angles by their names, and finds geometry files that "
        "fit. A folder of EPR imaging is known by a .DSC with its .DTA, by prj.mat, or by "
        "directions "
        "in a list beside the array. Each guess is printed on standard error, and written as a "
        "comment in the file. If "
        "you know a value, give it as an option.",
    .examples = "  fbp init scan/ > scan.json\n"
                "  fbp init scan/ --pitch 0.2 --sod 410.66 --sdd 553.74 -o scan/scan.json\n",
    COMMAND_OPTS(table),
    .run = run,
};
