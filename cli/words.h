/** @file words.h  Aliases: names of options and commands in other programs, and their
 * meaning in fbp, for parsing, help and error messages. One table of option names serves all
 * commands. Implemented in words.c.
 * Used by: cli/.
 */
#ifndef FBP_CLI_WORDS_H
#define FBP_CLI_WORDS_H

#include "opt.h"

/** Meaning of an option name on the command line that the command does not have. */
enum word_kind {
    WORD_UNKNOWN,
    WORD_OPTION,   /**< alias of an option of the command, or of its first positional argument */
    WORD_IGNORED,  /**< accepted without effect: requests the default */
    WORD_HELP,     /**< another spelling of --help */
    WORD_VERSION,  /**< another spelling of --version */
    WORD_SENTENCE, /**< no option of fbp; `sentence` states what to do instead */
};

struct word_meaning {
    enum word_kind kind;
    const struct opt *option;
    const char *sentence;
};

/** A row of the table of aliases. */
struct word {
    const char *words; /**< aliases without dashes, lower case unless one letter; blanks between */
    const char *options; /**< names of options of fbp, separated by spaces: the alias means the
                            option that the command has; ".": its first positional argument */
    /** error message if the command has none of `options`; NULL: the alias is then unknown */
    const char *sentence;
    /** kind of the aliases; WORD_UNKNOWN: the kind depends on the command: WORD_OPTION if it has
     * one of `options`, otherwise WORD_SENTENCE or, if `sentence` is NULL, WORD_UNKNOWN */
    enum word_kind kind;
    bool shown; /**< true: the help of the option mentions the first alias */
};

/** The table of aliases; exported for its tests. */
extern const struct word word_table[];
extern const size_t word_table_length;

/** Find the meaning of --WORD or -W, given without dashes, for a command that has no option of this
 * name. '_' counts as '-'; upper case counts as lower case, except for a single letter. */
struct word_meaning word_meaning(const struct command *c, const char *text);

/** Write to buf[n] the alias that the help of `option` mentions; false: none. */
bool word_shown(const char *option, char *buf, size_t n);

/** Translate a command of other programs ("reconstruct": "recon"); NULL: unknown. */
const char *word_command(const char *word);

#endif /* FBP_CLI_WORDS_H */
