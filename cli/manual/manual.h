/** @file manual.h  Man pages and shell completion, generated from the option tables of the
 * commands. manual_run() handles these forms of `fbp help`, which the help text does not list:
 *
 *     fbp help --commands               names of the commands, one per line
 *     fbp help --man [COMMAND]          man page of a command; without COMMAND, of fbp
 *     fbp help --completion bash|zsh|fish
 * Used by: completion.c, manual.c, cli/program.c.
 */
#ifndef FBP_CLI_MANUAL_H
#define FBP_CLI_MANUAL_H

#include "cli.h"

/** Handle the arguments argv[argc] after "fbp help". Returns the exit status; OPT_GO_ON: nothing
 * was printed, because the arguments have none of the forms at the top of manual.h. */
int manual_run(int argc, char **argv);

/** Print the completion script for the shell bash (manual_bash()), zsh or fish. */
void manual_bash(FILE *f);
void manual_zsh(FILE *f);
void manual_fish(FILE *f);

#endif /* FBP_CLI_MANUAL_H */
