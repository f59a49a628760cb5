/** @file levels.h  The main loop of tests of kernels: every instruction set of this machine,
 * checked against C; main() of test_bp, test_column_double, test_line, test_orbit and
 * planes_check.h. */
#ifndef FBP_TESTS_LEVELS_H
#define FBP_TESTS_LEVELS_H

#include "base/system.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Checks the kernels for `flags` on random data of `seed`, and prints a line `name ok` or `name
 * FAIL` of each.  Returns 0 if all are right. */
typedef int test_level_fn(const char *name, unsigned flags, unsigned seed);

static inline int test_levels(int argc, char **argv, test_level_fn *test)
{
    static const struct {
        const char *name;
        unsigned flags;
    } levels[] = {{"c", 0},
                  {"avx2", FBP_CPU_AVX2},
                  {"gather", FBP_CPU_AVX2 | FBP_CPU_GATHER},
                  {"avx512", FBP_CPU_AVX2 | FBP_CPU_AVX512},
                  {"vnni", FBP_CPU_AVX2 | FBP_CPU_AVX512 | FBP_CPU_VNNI},
                  {"neon", FBP_CPU_NEON}};
    const unsigned seed = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 0) : (unsigned)time(NULL);
    const unsigned has = fbp_cpu_flags();
    int failed = 0;

    printf("seed %u\n", seed);
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        if ((levels[i].flags & has) == levels[i].flags)
            failed |= test(levels[i].name, levels[i].flags, seed);
        else
            printf("%-8s not on this machine\n", levels[i].name);
    return failed;
}

#endif /* FBP_TESTS_LEVELS_H */
