/** @file manual.h  Man pages, and completion for shells: made from the option tables of the
 * commands, with words before a command's name that the help does not list:
 *
 *     fbp help --commands               the commands, one a line
 *     fbp help --man [COMMAND]          a page for man, of fbp itself without a command
 *     fbp help --completion bash|zsh|fish
 */
#ifndef FBP_CLI_MANUAL_H
#define FBP_CLI_MANUAL_H

#include "cli.h"

/** The words after "fbp help"; the exit status, OPT_GO_ON if they ask for nothing of the above. */
int manual_run(int argc, char **argv);

/** A page in the language of man; command NULL: of fbp itself. */
void manual_page(FILE *f, const struct command *command);

void manual_bash(FILE *f);
void manual_zsh(FILE *f);
void manual_fish(FILE *f);

/** What can stand in an option's place. */
enum manual_value {
    MANUAL_NONE,   /**< it takes no value */
    MANUAL_OTHER,  /**< a number or a word of which nothing is known */
    MANUAL_CHOICE, /**< one of the option's names */
    MANUAL_PATH,   /**< a file or a folder */
    MANUAL_BOTH,   /**< a name or a file */
};
enum manual_value manual_value_of(const struct opt *opt);

/** Print the names that can be chosen, blanks between them. */
void manual_choices(FILE *f, const struct opt *opt);

/** Is this the first command that begins with its first word?  Prints nothing; "bench" stands for
 *  "bench S0" and "bench S1" in lists of first words. */
bool manual_is_first(size_t command);
/** The length of a command's first word; all of it where it has only one. */
size_t manual_first_word(const char *name);

#endif /* FBP_CLI_MANUAL_H */
