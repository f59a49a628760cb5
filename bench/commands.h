/** @file commands.h  Table of the commands of the program fbp-bench: benchmarks of fbp and the
 * jobs of five papers. Included by main.c and by the tests of help texts. */
#ifndef FBP_BENCH_COMMANDS_H
#define FBP_BENCH_COMMANDS_H

#include "program.h"

extern const struct program program_bench;

#endif /* FBP_BENCH_COMMANDS_H */
