#include "rabbitct.h"

struct convert_args {
    const char *data, *output, *split;
};

#define C struct convert_args
static const struct opt table[] = {
    OPT(C, data, .name = "data", .positional = true, .required = true,
        .help = "the data set (.rctd, .rct)"),
    OPT(C, output, .name = "output", .letter = 'o', .arg = "FILE",
        .help = "data set to write: .rct is version 1, .rctd version 2"),
    OPT(C, split, .name = "split", .arg = "FOLDER",
        .help = "write RabbitInput.rct, RabbitGeometry.rct and a ReferenceL.vol a reference"),
};
#undef C

static int run(const struct command *self, int argc, char **argv)
{
    struct convert_args a = {0};
    const int rc = opt_parse(self, &a, argc, argv);

    if (rc != OPT_GO_ON)
        return rc;
    if (!a.output == !a.split)
        return opt_usage(self, "give either -o FILE or --split FOLDER");
    if (a.split)
        return fbp_rabbitct_split(a.data, a.split) == FBP_OK ? 0 : cli_fail();
    if (!cli_ends_with(a.output, ".rct") && !cli_ends_with(a.output, ".rctd"))
        return opt_usage(self, "-o: expected a name that ends in .rct or .rctd, got \"%s\"",
                         a.output);
    const int version = cli_ends_with(a.output, ".rct") ? 1 : 2;
    return fbp_rabbitct_convert(a.data, a.output, version) == FBP_OK ? 0 : cli_fail();
}

const struct command cmd_rabbitct_convert = {
    .name = "rabbitct convert",
    .summary = "a RabbitCT data set as the other version, or in parts",
    .usage = "DATA -o FILE | --split FOLDER",
    .about = "Views, matrices and references stay as they are; only the header changes.",
    .examples = "  fbp rabbitct convert rabbitct_512-v2.rctd -o rabbitct_512.rct\n"
                "  fbp rabbitct convert rabbitct_512-v2.rctd --split RabbitInput\n",
    COMMAND_OPTS(table),
    .run = run,
};
