/** @file manual.h  Man pages and shell completion, generated from the option tables of the
 * commands. program.c calls manual_run() for arguments of `fbp help` that the help text does not
 * list:
 *
 *     fbp help --commands               names of the commands, one per line
 *     fbp help --man [COMMAND]          man page of a command; without COMMAND, of fbp
 *     fbp help --completion bash|zsh|fish
 */
#ifndef FBP_CLI_MANUAL_H
#define FBP_CLI_MANUAL_H

#include "cli.h"

/** Handle the arguments after "fbp help"; returns the exit status, or OPT_GO_ON if they are none of
 *  the above. */
int manual_run(int argc, char **argv);

/** Print a man page, in macros of man(7); command NULL: the page of fbp. */
void manual_page(FILE *f, const struct command *command);

/** Print the completion script for a shell. */
void manual_bash(FILE *f);
void manual_zsh(FILE *f);
void manual_fish(FILE *f);

/** Kinds of values of an option, for completion. */
enum manual_value {
    MANUAL_NONE,   /**< no value */
    MANUAL_OTHER,  /**< a number or any word */
    MANUAL_CHOICE, /**< one of the option's choices */
    MANUAL_PATH,   /**< path of a file or folder */
    MANUAL_BOTH,   /**< a choice or a path */
};
enum manual_value manual_value_of(const struct opt *opt);

/** Print the option's choices, separated by blanks. */
void manual_choices(FILE *f, const struct opt *opt);

/** True if no earlier command has the same first word: lists of first words contain "geometry" once
 *  for "geometry show" and the other commands of that group. */
bool manual_is_first(size_t command);
/** Length of the first word of a command's name [bytes]. */
size_t manual_first_word(const char *name);

#endif /* FBP_CLI_MANUAL_H */
