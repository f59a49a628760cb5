/* Command `fbp init` (cmd_init): writes a first scan file for the data in a folder, from the
 * guesses of fbp_folder_guess().
 * Used by: commands.c. */
#include "choices.h"
#include "cli.h"

#include "fbp/folder.h"

#include "scan/folder/folder.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct init_args {
    const char *folder, *output;
    unsigned kind; /* --kind: 1 + enum fbp_kind; 0: not given */
    double pitch, sod, sdd, arc, i0;
    bool sinograms;
    bool force; /* replace an older scan file */
    bool json, quiet;
};

#define I struct init_args
static const struct opt table[] = {
    OPT(I, folder, .name = "folder", .positional = true, .required = true,
        .help = "folder with the data of a scan; its subfolders are searched, too"),
    OPT(I, output, .name = "output", .letter = 'o', .arg = "SCAN.json",
        .fallback = "standard output", .help = "scan file to write"),
    OPT(I, kind, .name = "kind", .arg = "KIND", .list = choices_kind_or_none, .fallback = "cone",
        .help = "geometry of the rays, if you know it"),
    OPT(I, pitch, .name = "pitch", .arg = "MM", .min = FBP_PITCH_MM_MIN, .max = FBP_PITCH_MM_MAX,
        .help = "distance between detector pixels"),
    OPT(I, sod, .name = "sod", .arg = "MM", .min = FBP_DISTANCE_MM_MIN, .max = FBP_DISTANCE_MM_MAX,
        .help = "distance from source to rotation axis"),
    OPT(I, sdd, .name = "sdd", .arg = "MM", .min = FBP_DISTANCE_MM_MIN, .max = FBP_DISTANCE_MM_MAX,
        .help = "distance from source to detector"),
    OPT(I, arc, .name = "arc", .arg = "DEG", .min = 1e-3, .max = 36000,
        .help = "angle that the views cover"),
    OPT(I, i0, .name = "i0", .arg = "I0", .min = 1e-30, .max = 1e30,
        .help = "intensity of the beam without an object, if there are no flats"),
    OPT(I, sinograms, .name = "sinograms",
        .help = "the projections are stored as one sinogram per detector row, [row][view][column]"),
    OPT(I, force, .name = "force", .help = "replace an existing scan file"),
    OPT(I, json, .name = "json", .help = "print one JSON object that contains the scan file"),
    OPT(I, quiet, .name = "quiet", .letter = 'q', .help = "print only errors"),
};
#undef I

/* Write to `target` the folder of the new scan file: that of the argument of -o, else that of the
 * file to which standard output is redirected, else ".". */
static int find_base(const struct init_args *args, char target[PATH_MAX])
{
    struct stat info;

    target[0] = '\0';
    if (args->output) {
        snprintf(target, PATH_MAX, "%s", args->output);
    } else if (fstat(STDOUT_FILENO, &info) != 0) {
        return cli_error(
            "standard output: cannot find out where it is redirected to: %s; give -o FILE",
            strerror(errno));
    } else if (S_ISREG(info.st_mode)) {
        const ssize_t n = readlink("/proc/self/fd/1", target, PATH_MAX - 1);
        target[n > 0 ? n : 0] = '\0';
    }
    char *slash = strrchr(target, '/');
    if (slash)
        slash[slash == target] = '\0';
    else
        snprintf(target, PATH_MAX, ".");
    return 0;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct init_args a = {0}, *args = &a;
    char base[PATH_MAX], *text;

    OPT_TRY(opt_parse(self, args, argc, argv));
    const struct fbp_folder_known known = {.struct_size = sizeof known,
                                           .kind = args->kind,
                                           .pitch_mm = args->pitch,
                                           .sod_mm = args->sod,
                                           .sdd_mm = args->sdd,
                                           .arc_deg = args->arc,
                                           .i0 = args->i0,
                                           .sinograms = args->sinograms,
                                           .base = base,
                                           .log = cli_log,
                                           .user = &args->quiet};
    if (args->output && !cli_ends_with(args->output, ".json"))
        return opt_usage(self, "-o: expected a name that ends in .json, got \"%s\"", args->output);
    if (find_base(args, base) != 0)
        return 1;
    if (fbp_folder_guess(&text, args->folder, &known) != FBP_OK)
        return cli_fail();
    cJSON *scan = cJSON_Parse(text);
    free(text);
    if (!scan)
        return cli_error("out of memory for a scan file; close other programs");
    if (!args->json)
        return args->output ? cli_json_save(scan, args->output, args->force)
                            : cli_json(scan, false);
    cJSON *report = cJSON_CreateObject();
    cJSON_AddItemToObject(report, "scan", args->output ? cJSON_Duplicate(scan, true) : scan);
    if (args->output) {
        cJSON_AddStringToObject(report, "output", args->output);
        if (cli_json_save(scan, args->output, args->force) != 0) {
            cJSON_Delete(report);
            return 1;
        }
    }
    return cli_json(report, false);
}

const struct command cmd_init = {
    .name = "init",
    .summary = "inspect a folder and write a first scan file",
    .usage = "FOLDER [options] > SCAN.json",
    .about =
        "Finds the projections (the largest array, or the largest series of numbered files), finds "
        "darks, flats, bad pixels and angles by their names, and finds geometry files that fit. A "
        "folder is recognized as EPR imaging by a .DSC file with its .DTA file, by prj.mat, or by "
        "a list of directions in the same folder. Each guess is printed on standard error, and "
        "written as a comment in the file. If you know a value, give it as an option.",
    .examples = "  fbp init scan/ > scan.json\n"
                "  fbp init scan/ --pitch 0.2 --sod 410.66 --sdd 553.74 -o scan/scan.json\n",
    COMMAND_OPTS(table),
    .run = run,
};
