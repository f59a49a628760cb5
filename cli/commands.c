/* The table of all commands of fbp; main() passes it to program_main(). */
#include "bench_program.h"
#include "program.h"

extern const struct command cmd_simulate, cmd_recon, cmd_plan, cmd_compare, cmd_view, cmd_info,
    cmd_init, cmd_devices, cmd_geometry_show, cmd_geometry_check, cmd_geometry_convert;

static const struct command *const all[] = {
    &cmd_recon,   &cmd_plan, &cmd_simulate,      &cmd_init,           &cmd_view,
    &cmd_compare, &cmd_info, &cmd_geometry_show, &cmd_geometry_check, &cmd_geometry_convert,
    &cmd_devices,
};

const struct program program_fbp = {
    .title = "fbp: filtered backprojection, from measured projections to a volume in 1/mm",
    .more = "  fbp bench, rabbitct   benchmarks, if the program fbp-bench is installed\n\n"
            "A first reconstruction, of a simulated scan:\n"
            "  fbp simulate --size 128 --views 180 -o scan.json\n"
            "  fbp recon scan.json -o volume.mha\n"
            "  fbp view volume.mha -o volume.png --window 0,0.4\n",
    .commands = all,
    // NOLINTNEXTLINE(bugprone-sizeof-expression): a table of pointers
    .n_commands = sizeof all / sizeof *all,
    .is_other = bench_program_has,
    .run_other = bench_program_run,
};
