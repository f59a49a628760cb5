/** @file words.h  Words that people try, as they know them from other programs, and what they mean
 * here: one table for all commands.
 */
#ifndef FBP_CLI_WORDS_H
#define FBP_CLI_WORDS_H

#include "opt.h"

/** What a word is. */
enum word_kind {
    WORD_UNKNOWN,
    WORD_OPTION,   /**< another name of an option, or of the first positional argument */
    WORD_IGNORED,  /**< what the program does without being asked */
    WORD_HELP,     /**< another spelling of --help */
    WORD_VERSION,  /**< of --version */
    WORD_SENTENCE, /**< known, but no option: what to do instead */
};

struct word_meaning {
    enum word_kind kind;
    const struct opt *option;
    const char *sentence;
};

/** A row of the table. */
struct word {
    const char *words;   /**< without dashes, in lower case, blanks between them */
    const char *options; /**< names, the first that a command has counts; "." a positional one */
    const char
        *sentence;       /**< where the command has none of them; NULL: the word is unknown there */
    enum word_kind kind; /**< WORD_UNKNOWN: by the members above */
    bool shown;          /**< the help of the option names the first of the words */
};

/** The table, for its tests. */
extern const struct word word_table[];
extern const size_t word_table_length;

/** What does --WORD (or -W) mean to a command whose options do not have this name?  '_' is '-', and
 *  capitals are small letters, unless the word is a single letter. */
struct word_meaning word_meaning(const struct command *c, const char *text);

/** Another name of an option that its help mentions; false: there is none. */
bool word_shown(const char *option, char *buf, size_t n);

/** The name that is meant by one of another program's, such as "hanning": "hann"; else `text`. */
const char *word_value(const char *text);

/** The command that is meant by a first word that is none, such as "reconstruct"; NULL. */
const char *word_command(const char *word);

#endif /* FBP_CLI_WORDS_H */
