#include "cli.h"

const struct command *const commands[] = {
    &cmd_recon,
    &cmd_plan,
    &cmd_simulate,
    &cmd_init,
    &cmd_view,
    &cmd_compare,
    &cmd_info,
    &cmd_geometry_show,
    &cmd_geometry_check,
    &cmd_geometry_convert,
    &cmd_bench_follow,
    &cmd_bench_host,
    &cmd_bench_kernel,
    &cmd_bench_links,
    &cmd_bench_pipeline,
    &cmd_bench_s0,
    &cmd_bench_s1,
    &cmd_bench_s2,
    &cmd_bench_s3,
    &cmd_bench_s4,
    &cmd_bench_write,
    &cmd_devices,
    &cmd_rabbitct_make,
    &cmd_rabbitct_run,
    &cmd_rabbitct_compare,
    &cmd_rabbitct_convert,
};
// NOLINTNEXTLINE(bugprone-sizeof-expression): a table of pointers
const size_t n_commands = sizeof commands / sizeof *commands;
