/** @file program.h  A program with commands: fbp, or fbp-bench. */
#ifndef FBP_CLI_PROGRAM_H
#define FBP_CLI_PROGRAM_H

#include "cli.h"

struct program {
    const char *title; /**< first line of the help */
    const char *more;  /**< last lines of the help */
    const struct command *const *commands;
    size_t n_commands;
    /** Is this first word a command of another program?  NULL: no word is. */
    bool (*is_other)(const char *word);
    /** Run that program with these words; returns only after a failure, with the exit status. */
    int (*run_other)(int argc, char **argv);
};

extern const struct program program_fbp;

/** Find and run the command that argv names; returns the exit status. */
int program_main(const struct program *program, int argc, char **argv);

#endif /* FBP_CLI_PROGRAM_H */
