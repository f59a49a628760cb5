/** @file bench_program.h  Start of the program fbp-bench for `fbp bench` and `fbp rabbitct`; used
 * by commands.c and cmd_info.c. */
#ifndef FBP_CLI_BENCH_PROGRAM_H
#define FBP_CLI_BENCH_PROGRAM_H

#include <stdbool.h>

/** True if `word` is the first word of a command of fbp-bench: "bench" or "rabbitct". */
bool bench_program_has(const char *word);

/** Replace this process by fbp-bench, from the folder of the running executable, with the arguments
 *  argv[argc].  Returns only after a failure: 1, after an error message. */
int bench_program_run(int argc, char **argv);

#endif /* FBP_CLI_BENCH_PROGRAM_H */
