/* Command `fbp rabbitct convert`: a RabbitCT data set as another version, or in separate files.
 * Used by: bench/commands.c. */
#include "bench/rabbitct/text.h"
#include "cli.h"

#include <string.h>

struct convert_args {
    const char *data, *output, *split;
    bool force, json;
};

#define C struct convert_args
static const struct opt table[] = {
    OPT(C, data, .name = "data", .positional = true, .required = true,
        .help = "the data set (.rctd, .rct)"),
    OPT(C, output, .name = "output", .letter = 'o', .arg = "FILE",
        .help = "data set to write: .rct is version 1, .rctd version 2"),
    FORCE_OPTION(C, force),
    OPT(C, split, .name = "split", .arg = "FOLDER",
        .help = "write RabbitInput.rct, RabbitGeometry.rct and one ReferenceL.vol for each "
                "reference into this folder, which is created if it is missing"),
    OPT(C, json, .name = "json", .help = "print one JSON object"),
};
#undef C

static int split(const struct convert_args *a)
{
    static const char *const names[] = {"RabbitInput.rct",  "RabbitGeometry.rct",
                                        "Reference128.vol", "Reference256.vol",
                                        "Reference512.vol", "Reference1024.vol"};
    struct cli_files files = {.force = a->force, .inputs = {a->data}};
    static char paths[sizeof names / sizeof *names][4200];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(paths[i], sizeof paths[i], "%s/%s", a->split, names[i]);
        files.outputs[i] = paths[i];
    }
    if (cli_check_files(&files) != 0)
        return 1;
    return fbp_rabbitct_split(a->data, a->split) == FBP_OK ? 0 : cli_fail();
}

static int report(const struct convert_args *a)
{
    cJSON *root = a->json ? cJSON_CreateObject() : NULL;

    if (root)
        cJSON_AddStringToObject(root, a->split ? "split" : "output",
                                a->split ? a->split : a->output);
    return a->json ? cli_json(root, false) : 0;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct convert_args a = {0};
    const int rc = opt_parse(self, &a, argc, argv);

    if (rc != OPT_GO_ON)
        return rc;
    if (!a.output == !a.split)
        return opt_usage(
            self, "-o and --split: expected exactly one of both: give -o FILE or --split FOLDER");
    if (a.split)
        return split(&a) == 0 ? report(&a) : 1;
    if (!cli_ends_with(a.output, ".rct") && !cli_ends_with(a.output, ".rctd"))
        return opt_usage(self, "-o: expected a name that ends in .rct or .rctd, got \"%s\"",
                         a.output);
    if (cli_check_files(
            &(struct cli_files){.force = a.force, .inputs = {a.data}, .outputs = {a.output}}) != 0)
        return 1;
    const int version = cli_ends_with(a.output, ".rct") ? 1 : 2;
    return fbp_rabbitct_convert(a.data, a.output, version) == FBP_OK ? report(&a) : cli_fail();
}

const struct command cmd_rabbitct_convert = {
    .name = "rabbitct convert",
    .summary = "convert a RabbitCT data set, or split it",
    .usage = "DATA -o FILE | --split FOLDER",
    .about = "Views, matrices and references do not change; only the header does.",
    .examples = "  fbp rabbitct convert rabbitct_512-v2.rctd -o rabbitct_512.rct\n"
                "  fbp rabbitct convert rabbitct_512-v2.rctd --split RabbitInput\n",
    COMMAND_OPTS(table),
    .run = run,
};
