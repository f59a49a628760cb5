/** @file opt.h  Option tables: one per parameter struct, for parsing, help, man pages and tests.
 * Used by every command.
 *
 * The compiler derives the type of an option from the struct field that the option fills. The
 * parser derives the form of a list from the metavariable that the help shows: "UxV"        two
 * numbers joined by x "N|NxMxL"    one number for all of them, or as many as the field holds,
 * joined by x "LO,HI"      numbers joined by commas "A,B,..."    the same, from one number to as
 * many as the field holds; missing ones become 0 "X|auto"     a number, or the word "auto", stored
 * as INFINITY; also "LO,HI|auto", "X|nan" "FROM:TO"    a range; either end is optional; "K|FROM:TO"
 * also accepts one number
 */
#ifndef FBP_CLI_OPT_H
#define FBP_CLI_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum opt_type {
    OPT_STRING,
    OPT_BOOL, /**< bool, set to true by the option's presence */
    OPT_INT,
    OPT_SIZE,
    OPT_BYTES, /**< size_t with an optional suffix K, M, G or T: powers of 1024 */
    OPT_DOUBLE,
    OPT_SIZES,   /**< size_t[] */
    OPT_DOUBLES, /**< double[] */
    OPT_RANGES,  /**< struct opt_range[], joined by commas */
    OPT_ENUM,    /**< unsigned: index of the given name; an empty name cannot be chosen */
};

/** A range of whole numbers, from `first` to `end` - 1. */
struct opt_range {
    size_t first, end; /**< end 0: no upper limit */
    bool given;
    bool single; /**< one number was given; end is first + 1 */
};

struct opt {
    enum opt_type type;
    size_t offset, bytes;     /**< offset and size of the field in the struct */
    const char *name;         /**< without dashes; name of a positional argument in the help */
    char letter;              /**< short name, such as 'o' for -o; 0: none */
    const char *arg;          /**< metavariable, such as "MM" */
    double min, max;          /**< inclusive; both 0: any finite number that the field can hold */
    const char *const *names; /**< NULL-terminated; OPT_STRING: proposals only */
    const char *(*list)(size_t i); /**< name i, in place of `names` (choices.h) */
    bool positional, required;
    const char *fallback; /**< default, for the help */
    const char *help;
};

// clang-format off
#define OPT_FIELD(S, f) .offset = offsetof(S, f), .bytes = sizeof(((S *)0)->f)
/** A row of a table; the type comes from the field. */
#define OPT(S, f, ...) \
    {.type = _Generic(((S *)0)->f, const char *: OPT_STRING, bool: OPT_BOOL, int: OPT_INT, \
                      size_t: OPT_SIZE, double: OPT_DOUBLE, size_t *: OPT_SIZES, \
                      double *: OPT_DOUBLES, unsigned: OPT_ENUM, \
                      struct opt_range: OPT_RANGES, struct opt_range *: OPT_RANGES), \
     OPT_FIELD(S, f), __VA_ARGS__}
/** A row for a size_t that counts bytes. */
#define OPT_BYTE_COUNT(S, f, ...) \
    {.type = _Generic(((S *)0)->f, size_t: OPT_BYTES), OPT_FIELD(S, f), __VA_ARGS__}
// clang-format on

/** Options below one heading of the help: names separated by spaces, in the order of the help.
 * Names that a command does not have are skipped. */
struct opt_group {
    const char *title;
    const char *common; /**< shown by --help */
    const char *rare;   /**< shown by --help-all only; NULL: none */
};

/** A command: help texts, option table, and the function that runs it. */
struct command {
    const char *name;    /**< "recon"; "geometry show" for a sub-command */
    const char *alias;   /**< another name, which help texts do not list; NULL: none */
    const char *summary; /**< one line, no full stop */
    const char *usage;   /**< arguments after "fbp NAME" */
    const char *about;   /**< a paragraph; \n begins a line; NULL: none */
    const char *examples;
    const struct opt *opts;
    size_t n_opts;
    const struct opt_group *groups; /**< ends with a NULL title; NULL: one list of all options */
    int (*run)(const struct command *self, int argc, char **argv);
};

#define COMMAND_OPTS(table) .opts = (table), .n_opts = sizeof(table) / sizeof *(table)

enum { OPT_GO_ON = -1, OPT_DONE = 0, OPT_USAGE = 2 };
enum { OPT_ABOUT = 1200 }; /* bytes of a buffer for opt_about() */

/**
 * Fill `args` (which holds the defaults) from argv[0..argc), the words after the command's name.
 * @return OPT_GO_ON; OPT_DONE: help or version was printed; OPT_USAGE: wrong usage, reported on
 *         standard error; 1: out of memory, reported.
 */
int opt_parse(const struct command *command, void *args, int argc, char **argv);

/** Report wrong usage of a command, with a hint at --help; returns OPT_USAGE. */
int opt_usage(const struct command *command, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/** The option with the long name name[len]; NULL: the command has none. */
const struct opt *opt_find(const struct command *command, const char *name, size_t len);
bool opt_takes_value(const struct opt *opt);
/** Name of choice i; "": choice i cannot be chosen; NULL: i is beyond the last. */
const char *opt_choice(const struct opt *opt, size_t i);
/** Convert `text` and store it in the option's field of `args`; false: malformed or out of range.
 */
bool opt_set_value(const struct opt *opt, const char *text, void *args);
/** Describe valid values in buf, such as "a whole number from 1 to 16". */
void opt_describe(const struct opt *opt, char *buf, size_t n);

/** Print the help of a command; all: also the rare options of its groups. */
void opt_help(FILE *f, const struct command *command, bool all);
/** Is `name` in `names`, a list separated by spaces? */
bool opt_is_listed(const char *names, const char *name);
/** Help text of an option with alias and choices, without the default; returns buf. */
char *opt_about(const struct opt *opt, char *buf, size_t n);
/** Print the version and the optional formats: "fbp 1.2.3 (with …; without …)". */
void opt_version(FILE *f);

/** Candidate name(list, i), i < n, with the smallest edit distance to `word`; NULL: none is close.
 * A name NULL is skipped. */
const char *opt_nearest(const char *word, const char *(*name)(const void *list, size_t i),
                        const void *list, size_t n);

#endif /* FBP_CLI_OPT_H */
