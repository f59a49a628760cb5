/** @file opt.h  One option table per parameter struct: for parsing, for the help, for tests.
 *
 * The type of an option comes from the field it fills, so table and struct cannot disagree.  What
 * a list looks like comes from its metavariable, so help and parser cannot disagree:
 *     "UxV"        two numbers joined by x
 *     "N|NxMxL"    one number for all of them, or as many as the field holds, joined by x
 *     "LO,HI"      numbers joined by commas
 *     "A,B,..."    the same, as many as are wanted and the field holds; the others become 0
 *     "X|auto"     a number, or the word, which becomes INFINITY; so with "LO,HI|auto", "X|nan"
 *     "FROM:TO"    a range, of which either end may be left out; with "K|FROM:TO" one number, too
 */
#ifndef FBP_CLI_OPT_H
#define FBP_CLI_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum opt_type {
    OPT_STRING,
    OPT_BOOL,    /**< bool, set to true by the option's presence */
    OPT_INTFLAG, /**< the same for an int */
    OPT_INT,
    OPT_SIZE,
    OPT_BYTES, /**< size_t with an optional suffix K, M, G or T: powers of 1024 */
    OPT_DOUBLE,
    OPT_SIZES,   /**< size_t[] */
    OPT_DOUBLES, /**< double[] */
    OPT_RANGES,  /**< struct opt_range[], joined by commas */
    OPT_ENUM,    /**< by name; value = index of the name; an empty name cannot be chosen */
};

/** Whole numbers from `first` on, `end` excluded. */
struct opt_range {
    size_t first, end; /**< end 0: as far as there are any */
    bool given;
    bool single; /**< one number was given; end is the next */
};

struct opt {
    enum opt_type type;
    size_t offset, bytes;     /**< of the field */
    const char *name;         /**< without the dashes; what the help calls a positional argument */
    char letter;              /**< 'o' for -o; 0 = none */
    const char *arg;          /**< metavariable, with the unit where there is one */
    double min, max;          /**< inclusive; both 0: any finite number the field holds */
    const char *const *names; /**< OPT_ENUM: ends with NULL; of OPT_STRING: what is proposed */
    const char *(*list)(size_t i); /**< names from a list of the library (choices.h) instead */
    bool positional, required;
    const char *fallback; /**< default, for the help */
    const char *help;
};

// clang-format off
#define OPT_FIELD(S, f) .offset = offsetof(S, f), .bytes = sizeof(((S *)0)->f)
/** Type from the field. */
#define OPT(S, f, ...) \
    {.type = _Generic(((S *)0)->f, const char *: OPT_STRING, bool: OPT_BOOL, int: OPT_INT, \
                      size_t: OPT_SIZE, double: OPT_DOUBLE, size_t *: OPT_SIZES, \
                      double *: OPT_DOUBLES, unsigned: OPT_ENUM, \
                      struct opt_range: OPT_RANGES, struct opt_range *: OPT_RANGES), \
     OPT_FIELD(S, f), __VA_ARGS__}
/** An int that is a flag. */
#define OPT_SWITCH(S, f, ...) \
    {.type = _Generic(((S *)0)->f, int: OPT_INTFLAG), OPT_FIELD(S, f), __VA_ARGS__}
/** A size_t that counts bytes. */
#define OPT_BYTE_COUNT(S, f, ...) \
    {.type = _Generic(((S *)0)->f, size_t: OPT_BYTES), OPT_FIELD(S, f), __VA_ARGS__}
// clang-format on

/** Options under one heading of the help, by their names with spaces between them, in the order of
 *  the help.  Names that a command does not have are skipped. */
struct opt_group {
    const char *title;
    const char *common; /**< shown by --help */
    const char *rare;   /**< shown by --help-all only; NULL: none */
};

/** A command: what it does, its options, and the function that does it. */
struct command {
    const char *name;    /**< "recon"; "geometry show" for a sub-command */
    const char *summary; /**< one line, no full stop */
    const char *usage;   /**< arguments after "fbp NAME" */
    const char *about;   /**< a paragraph, in which \n begins a line; may be NULL */
    const char *examples;
    const struct opt *opts;
    size_t n_opts;
    const struct opt_group *groups; /**< ends with a NULL title; NULL: one list of all options */
    int (*run)(const struct command *self, int argc, char **argv);
};

#define COMMAND_OPTS(table) .opts = (table), .n_opts = sizeof(table) / sizeof *(table)

enum { OPT_GO_ON = -1, OPT_DONE = 0, OPT_USAGE = 2 };
enum { OPT_ABOUT = 1200 }; /* room for what opt_about() says */

/**
 * Fill `args` (which holds the defaults) from argv[0..argc), the words after the command's name.
 * @return OPT_GO_ON, or the exit status of a command that is over: help was asked for, or the
 *         usage was wrong and a line on standard error said so.
 */
int opt_parse(const struct command *command, void *args, int argc, char **argv);

/** Say what is wrong with the usage of a command; returns OPT_USAGE. */
int opt_usage(const struct command *command, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

bool opt_takes_value(const struct opt *opt);
/** Name i that can be chosen, "" where none can; NULL beyond the last. */
const char *opt_choice(const struct opt *opt, size_t i);
/** Put `text` into the option's field of `args`; false if it is malformed or out of range. */
bool opt_set_value(const struct opt *opt, const char *text, void *args);
/** What a value must be, such as "a whole number from 1 to 16". */
void opt_describe(const struct opt *opt, char *buf, size_t n);

/** Print the help of a command; `all`: with the rare options of its groups. */
void opt_help(FILE *f, const struct command *command, bool all);
/** Does a list of names with spaces between them contain this one? */
bool opt_is_listed(const char *names, const char *name);
/** What the help says of an option, but for its default; returns buf. */
char *opt_about(const struct opt *opt, char *buf, size_t n);
/** "fbp 1.2.3" */
void opt_version(FILE *f);

/** The candidate nearest to `word`, NULL if none is close. */
const char *opt_nearest(const char *word, const char *(*name)(const void *list, size_t i),
                        const void *list, size_t n);

#endif /* FBP_CLI_OPT_H */
