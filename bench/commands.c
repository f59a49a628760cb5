/* Table of all commands of the program fbp-bench; main.c passes it to program_main().
 * Used by: main.c. */
#include "bench/commands.h"

extern const struct command cmd_bench_follow, cmd_bench_host, cmd_bench_kernel, cmd_bench_links,
    cmd_bench_pipeline, cmd_bench_predict, cmd_bench_s0, cmd_bench_s1, cmd_bench_s2, cmd_bench_s3,
    cmd_bench_s4, cmd_bench_write, cmd_rabbitct_make, cmd_rabbitct_run, cmd_rabbitct_compare,
    cmd_rabbitct_convert, cmd_rabbitct_info;

static const struct command *const all[] = {
    &cmd_bench_follow,   &cmd_bench_host,    &cmd_bench_kernel,     &cmd_bench_links,
    &cmd_bench_pipeline, &cmd_bench_predict, &cmd_bench_write,      &cmd_bench_s0,
    &cmd_bench_s3,       &cmd_bench_s2,      &cmd_bench_s1,         &cmd_bench_s4,
    &cmd_rabbitct_make,  &cmd_rabbitct_run,  &cmd_rabbitct_compare, &cmd_rabbitct_convert,
    &cmd_rabbitct_info,
};

const struct program program_bench = {
    .title = "fbp-bench: benchmarks of fbp; `fbp bench` and `fbp rabbitct` start it",
    .more = "\nTables and figures of the five papers, and which of their steps still pay: "
            "docs/papers.md\n",
    .commands = all,
    // NOLINTNEXTLINE(bugprone-sizeof-expression): a table of pointers
    .n_commands = sizeof all / sizeof *all,
};
