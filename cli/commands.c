/* The table of the commands of the program fbp (program_fbp), which main.c passes to
 * program_main().  Also contains program_start_bench(), which replaces this process by the program
 * fbp-bench: for `fbp bench`, `fbp rabbitct` and `fbp info FILE.rct`, which that program runs.
 * Used by: cmd_info.c, main.c, program.c. */
#include "program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern const struct command cmd_simulate, cmd_recon, cmd_plan, cmd_compare, cmd_view, cmd_info,
    cmd_init, cmd_devices, cmd_calibrate, cmd_geometry_show, cmd_geometry_check,
    cmd_geometry_convert, cmd_tune;

static const struct command *const all[] = {
    &cmd_recon,   &cmd_plan,      &cmd_simulate,      &cmd_init,           &cmd_view,
    &cmd_compare, &cmd_info,      &cmd_geometry_show, &cmd_geometry_check, &cmd_geometry_convert,
    &cmd_devices, &cmd_calibrate, &cmd_tune,
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
    .starts_bench = true,
};

int program_start_bench(int argc, char **argv)
{
    static const char name[] = "fbp-bench";
    char path[4096], **words = calloc((size_t)argc + 2, sizeof *words);

    if (!words)
        return cli_error("out of memory for the arguments of fbp-bench; close other programs");
    words[0] = path;
    memcpy(words + 1, argv, (size_t)argc * sizeof *words);
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(path, '/');
    errno = ENOENT;
    if (slash && (size_t)(slash + 1 - path) + sizeof name <= sizeof path) {
        memcpy(slash + 1, name, sizeof name);
        execv(path, words);
    }
    const int error = errno;
    free(words);
    if (error == ENOENT)
        return cli_error("the program fbp-bench is not installed in the folder of fbp; install the "
                         "package fbp-bench, or build fbp from source with -DFBP_BENCH=ON");
    return cli_error("%s: cannot be started: %s; reinstall fbp-bench", path, strerror(error));
}
