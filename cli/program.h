/** @file program.h  Main function of the programs fbp (main.c) and fbp-bench, each a table of
 * commands. */
#ifndef FBP_CLI_PROGRAM_H
#define FBP_CLI_PROGRAM_H

#include "cli.h"

struct program {
    const char *title; /**< first line of the help */
    const char *more;  /**< last lines of the help */
    const struct command *const *commands;
    size_t n_commands;
    /** Is this first word a command of another program? NULL: never. */
    bool (*is_other)(const char *word);
    /** Replace this process by that program; returns an exit status only after a failure. */
    int (*run_other)(int argc, char **argv);
};

extern const struct program program_fbp;

/** Find and run the command that argv names; returns the exit status. */
int program_main(const struct program *program, int argc, char **argv);

#endif /* FBP_CLI_PROGRAM_H */
