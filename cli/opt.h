/** @file opt.h  Commands and their option tables: a row (struct opt) fills one field of a parameter
 * struct. The tables serve to parse the command line (opt.c, opt_value.c), and to print help
 * (opt_help.c), man pages and shell completion.
 *
 * The type of the struct field that an option fills determines the type of the option. The form of
 * a list follows from the metavariable that the help shows:
 *
 * - "UxV": two numbers joined by x; "N|NxMxL": one number for all, or as many as the field holds
 * - "LO,HI": numbers joined by commas; "A,B,...": one number or more, missing ones become 0
 * - "X|auto": a number, or the word "auto", which is stored as INFINITY; also "LO,HI|auto", "X|nan"
 * - "FROM:TO": a range, either end of which may be missing; "K|FROM:TO": a range or one number
 * Used by: cli.h, opt.c, opt_value.c, words.h.
 */
#ifndef FBP_CLI_OPT_H
#define FBP_CLI_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum opt_type {
    OPT_STRING,
    OPT_BOOL, /**< bool, set to true if the option is given */
    OPT_INT,
    OPT_SIZE,
    OPT_BYTES, /**< a size_t, with an optional suffix K, M, G or T: powers of 1024 */
    OPT_DOUBLE,
    OPT_SIZES,
    OPT_DOUBLES,
    OPT_RANGES, /**< struct opt_range[], separated by commas */
    OPT_ENUM,   /**< unsigned: index of the name in the option's list */
    OPT_WORDS,  /**< struct opt_words: a positional argument that can be given several times */
};

/** Words of a repeated argument; the caller frees the list. */
struct opt_words {
    const char **list;
    size_t n;
};

/** A range of whole numbers, from `first` to `end` - 1. */
struct opt_range {
    size_t first, end; /**< end of the range; 0: no upper limit */
    bool given;
    bool single; /**< true: one number was given instead of a range, and end is first + 1 */
};

struct opt {
    enum opt_type type;
    size_t offset, bytes; /**< offset and size of the struct field that the option fills [bytes] */
    const char *name; /**< name without dashes; of a positional argument, its name in the help */
    char letter;      /**< short name, such as 'o' for -o; 0: none */
    const char *arg;  /**< metavariable, such as "MM" */
    double min, max; /**< valid range; both 0: any double, or whole numbers from 0 (OPT_BYTES: 1) */
    const char *const *
        names; /**< permitted values, ending with NULL; if the type is OPT_STRING, only proposals */
    const char *(*list)(
        size_t i); /**< function that returns permitted value i, instead of `names` (choices.h) */
    bool positional, required;
    const char *fallback; /**< default as the help prints it; NULL: none */
    const char *help;
};

// clang-format off
#define OPT_FIELD(S, f) .offset = offsetof(S, f), .bytes = sizeof(((S *)0)->f)
/** A row of an option table for the field f of struct S, whose type determines the option's. */
#define OPT(S, f, ...) \
    {.type = _Generic(((S *)0)->f, const char *: OPT_STRING, bool: OPT_BOOL, int: OPT_INT, \
                      size_t: OPT_SIZE, double: OPT_DOUBLE, size_t *: OPT_SIZES, \
                      double *: OPT_DOUBLES, unsigned: OPT_ENUM, struct opt_words: OPT_WORDS, \
                      struct opt_range: OPT_RANGES, struct opt_range *: OPT_RANGES), \
     OPT_FIELD(S, f), __VA_ARGS__}
/** A row of an option table for a size_t f that counts bytes; accepts values such as 600M. */
#define OPT_BYTE_COUNT(S, f, ...) \
    {.type = _Generic(((S *)0)->f, size_t: OPT_BYTES), OPT_FIELD(S, f), __VA_ARGS__}
// clang-format on

/** Options below one heading of the help of a command: option names separated by spaces, in the
 * order of the help. Names of options that the command does not have are skipped. */
struct opt_group {
    const char *title;
    const char *common; /**< shown by --help */
    const char *rare;   /**< names of options that only --help-all prints; NULL: none */
};

/** A command: help texts, option table, and the function that runs it. */
struct command {
    /** name, such as "recon"; of a sub-command two words, such as "geometry show" */
    const char *name;
    const char *alias;   /**< further name of the command, which is not in the help; NULL: none */
    const char *summary; /**< one line for the list of commands, without a full stop */
    const char *usage;   /**< form of the arguments after "fbp NAME" */
    const char *about;   /**< description, a paragraph; \n begins a line; NULL: none */
    const char *examples;
    const struct opt *opts;
    size_t n_opts;
    const struct opt_group *groups; /**< headings of the help, ending with NULL; NULL: one list */
    int (*run)(const struct command *self, int argc, char **argv);
};

#define COMMAND_OPTS(table) .opts = (table), .n_opts = sizeof(table) / sizeof *(table)

enum { OPT_GO_ON = -1, OPT_DONE = 0, OPT_USAGE = 2 };
enum { OPT_ABOUT = 1200 }; /* size of a buffer for opt_about() [bytes] */

/**
 * Parse argv[0..argc), the words after the command's name, and store the values in `args`, which
 * holds the defaults.
 * @return OPT_GO_ON; OPT_DONE: help or version was printed; OPT_USAGE: wrong usage, reported on
 *         standard error; 1: out of memory, reported.
 */
int opt_parse(const struct command *command, void *args, int argc, char **argv);

/** Evaluate `expr`, and return its value from the calling function unless it is OPT_GO_ON. */
#define OPT_TRY(expr)                \
    do {                             \
        const int opt_try_ = (expr); \
        if (opt_try_ != OPT_GO_ON)   \
            return opt_try_;         \
    } while (0)

/** Print an error about wrong usage, with a reference to --help; returns OPT_USAGE. */
int opt_usage(const struct command *command, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/** The option whose long name is the first len bytes of `name`; NULL: no such option. */
const struct opt *opt_find(const struct command *command, const char *name, size_t len);
bool opt_takes_value(const struct opt *opt);
/** Permitted value i of an option; "": value i cannot be given; NULL: beyond the last. */
const char *opt_choice(const struct opt *opt, size_t i);
/** Convert `text` to the option's field in `args`; false: malformed or out of range. */
bool opt_set_value(const struct opt *opt, const char *text, void *args);
/** Write to buf[n] the valid values of an option, such as "a whole number from 1 to 16". */
void opt_describe(const struct opt *opt, char *buf, size_t n);

/** Print the help of a command; all: with the rare options, as for --help-all. */
void opt_help(FILE *f, const struct command *command, bool all);
/** True if the list `names`, whose words are separated by spaces, contains the word `name`. */
bool opt_is_listed(const char *names, const char *name);
/** Write to buf[n] the help of an option with alias and values, without default; returns buf. */
char *opt_about(const struct opt *opt, char *buf, size_t n);
/** Print the version and the optional formats: "fbp 1.2.3 (with …; without …)". */
void opt_version(FILE *f);

/** Get the candidate name(list, i), i < n, with the smallest edit distance to `word`; NULL: none is
 * close to it. Candidates that are NULL are skipped. */
const char *opt_nearest(const char *word, const char *(*name)(const void *list, size_t i),
                        const void *list, size_t n);

#endif /* FBP_CLI_OPT_H */
