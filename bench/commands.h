/** @file commands.h  The program fbp-bench: benchmarks of fbp, and the jobs of five papers. */
#ifndef FBP_BENCH_COMMANDS_H
#define FBP_BENCH_COMMANDS_H

#include "program.h"

extern const struct program program_bench;

#endif /* FBP_BENCH_COMMANDS_H */
