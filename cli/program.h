/** @file program.h  Main function of the programs fbp (main.c) and fbp-bench, signals that stop a
 * command, and the start of fbp-bench from fbp. Implemented in program.c and commands.c.
 * Used by: bench/, cli/, serve/. */
#ifndef FBP_CLI_PROGRAM_H
#define FBP_CLI_PROGRAM_H

#include "cli.h"

/** A program: the texts of its help, and its commands. */
struct program {
    const char *title; /**< first line of the help */
    const char *more;  /**< last lines of the help */
    const struct command *const *commands;
    size_t n_commands;
    bool starts_bench; /**< true: the commands "bench" and "rabbitct" start the program fbp-bench */
};

extern const struct program program_fbp;

/** Find and run the command that argv names; returns the exit status. */
int program_main(const struct program *program, int argc, char **argv);

/** Replace this process by fbp-bench, from the folder of the running executable, with the arguments
 * argv[argc].  Returns only if this fails: 1, after an error message. */
int program_start_bench(int argc, char **argv);

/** Handle SIGINT, SIGTERM and SIGHUP (unless ignored, as under nohup): the first cancels the
 * running calls of the library, and the command cleans up; a second one ends the process. SIGXFSZ
 * is ignored: a write beyond the limit of file size then fails. */
void signals_start(void);

/** Exit status after a signal: 128 + number of the first signal; 0: no signal was received. */
int signals_status(void);

#endif /* FBP_CLI_PROGRAM_H */
