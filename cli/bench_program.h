/** @file bench_program.h  The program fbp-bench: `fbp bench …` and `fbp rabbitct …` start it. */
#ifndef FBP_CLI_BENCH_PROGRAM_H
#define FBP_CLI_BENCH_PROGRAM_H

#include <stdbool.h>

/** Is this the first word of a command of fbp-bench? */
bool bench_program_has(const char *word);

/** Replace this process by fbp-bench, which is looked for beside this program's own file; returns 1
 *  after an error message if that is impossible. */
int bench_program_run(int argc, char **argv);

#endif /* FBP_CLI_BENCH_PROGRAM_H */
