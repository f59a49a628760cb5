/** @file words.h  Aliases: names of options, values and commands in other programs, and their
 * meaning in fbp. One table for all commands. Used by opt.c, opt_value.c, opt_help.c and program.c.
 */
#ifndef FBP_CLI_WORDS_H
#define FBP_CLI_WORDS_H

#include "opt.h"

/** Meaning of a word. */
enum word_kind {
    WORD_UNKNOWN,
    WORD_OPTION,   /**< alias of an option or of the first positional argument */
    WORD_IGNORED,  /**< accepted without effect: the default behaviour */
    WORD_HELP,     /**< another spelling of --help */
    WORD_VERSION,  /**< another spelling of --version */
    WORD_SENTENCE, /**< no option; a sentence states what to do instead */
};

struct word_meaning {
    enum word_kind kind;
    const struct opt *option;
    const char *sentence;
};

/** A row of the table of aliases. */
struct word {
    const char *words;    /**< aliases without dashes, in lower case, separated by spaces */
    const char *options;  /**< the first that the command has is used; ".": positional */
    const char *sentence; /**< message if the command has none of them; NULL: unknown word */
    enum word_kind kind;  /**< WORD_UNKNOWN: the members above determine the kind */
    bool shown;           /**< the help of the option mentions the first alias */
};

/** The table, for its tests. */
extern const struct word word_table[];
extern const size_t word_table_length;

/** Meaning of --WORD (or -W), without dashes, for a command that has no option of this name. '_'
 * counts as '-'; capitals count as small letters, except for a single letter. */
struct word_meaning word_meaning(const struct command *c, const char *text);

/** Write to buf the alias that the help of an option mentions; false: none. */
bool word_shown(const char *option, char *buf, size_t n);

/** Name in fbp of a value that has another name elsewhere ("hanning": "hann"); otherwise `text`. */
const char *word_value(const char *text);

/** Command for a name of another program, such as "reconstruct": "recon"; NULL: none. */
const char *word_command(const char *word);

#endif /* FBP_CLI_WORDS_H */
