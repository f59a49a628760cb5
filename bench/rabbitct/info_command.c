/* Command `fbp rabbitct info`: the contents of a RabbitCT data set or result. */
#include "bench/rabbitct/text.h"

struct info_args {
    const char *file;
    bool json;
};

static const struct opt table[] = {
    OPT(struct info_args, file, .name = "file", .positional = true, .required = true,
        .help = "a data set (.rctd, .rct), or the result of a runner"),
    OPT(struct info_args, json, .name = "json", .help = "print one JSON object"),
};

static int run(const struct command *self, int argc, char **argv)
{
    struct info_args a = {0};
    const int rc = opt_parse(self, &a, argc, argv);

    return rc == OPT_GO_ON ? rabbitct_info(a.file, a.json) : rc;
}

const struct command cmd_rabbitct_info = {
    .name = "rabbitct info",
    .summary = "what is in a RabbitCT data set or result",
    .usage = "FILE [options]",
    .examples = "  fbp rabbitct info rabbitct_512-v2.rctd\n",
    COMMAND_OPTS(table),
    .run = run,
};
