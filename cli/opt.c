/* Parses the command line of a command by its option table (opt_parse(), opt.h): long and short
 * options, positional arguments, aliases (words.c); prints errors about wrong usage (opt_usage()),
 * such as "did you mean --voxel?".
 * Used by: bench/, cli/. */
#include "opt.h"
#include "cli.h"
#include "say.h"
#include "words.h"

#include "base/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_WORD = 40 }; /* greatest length of an option name in a message [bytes] */

const char *opt_nearest(const char *word, const char *(*name)(const void *list, size_t i),
                        const void *list, size_t n)
{
    const char *best = NULL;
    size_t bound = (strlen(word) + 2) / 3 + 1; /* a third of the letters may be wrong */

    for (size_t i = 0; i < n; i++) {
        const char *candidate = name(list, i);
        const size_t dist = candidate ? fbp_edit_distance(word, candidate) : bound;
        if (dist < bound) {
            bound = dist;
            best = candidate;
        }
    }
    return best;
}

int opt_usage(const struct command *command, const char *fmt, ...)
{
    char text[1000], line[1200];

    FBP_PRINT_ARGUMENTS(text, sizeof text, fmt);
    snprintf(line, sizeof line, "%s: %s; see fbp %s --help", command->name, text, command->name);
    say_error(line);
    return OPT_USAGE;
}

static const char *option_name(const void *list, size_t i)
{
    const struct opt *o = (const struct opt *)list + i;
    return o->positional ? NULL : o->name;
}

static int apply(const struct command *c, const struct opt *o, const char *text, void *args)
{
    char expected[300];

    if (opt_set_value(o, text, args))
        return OPT_GO_ON;
    if (o->type == OPT_WORDS && *text) {
        say_error("out of memory for the options; close other programs");
        return 1;
    }
    opt_describe(o, expected, sizeof expected);
    return opt_usage(c, "%s%s: expected %s%s%s, got \"%s\"", o->positional ? "" : "--", o->name,
                     o->arg ? o->arg : "", o->arg ? ", " : "", expected, text);
}

struct parser {
    const struct command *command;
    void *args;
    int argc, i;
    char **argv;
    bool *seen; /* [command->n_opts]; true: the option was given */
};

const struct opt *opt_find(const struct command *c, const char *name, size_t len)
{
    for (size_t i = 0; i < c->n_opts; i++) {
        const struct opt *o = &c->opts[i];
        if (!o->positional && strlen(o->name) == len && strncmp(o->name, name, len) == 0)
            return o;
    }
    return NULL;
}

/* Handle an option name that the command does not have but the table of aliases (words.c) may have.
 * word: as given; name: without dashes. Sets *o to the option that the alias means; *o stays NULL
 * if the alias means no option. An unknown name is an error. */
static int take_meaning(struct parser *p, const char *word, const char *name, const struct opt **o)
{
    const struct command *c = p->command;
    const struct word_meaning meaning = word_meaning(c, name);

    switch (meaning.kind) {
    case WORD_OPTION:
        *o = meaning.option;
        return OPT_GO_ON;
    case WORD_IGNORED:
        return OPT_GO_ON;
    case WORD_HELP:
        opt_help(stdout, c, false);
        return OPT_DONE;
    case WORD_VERSION:
        opt_version(stdout);
        return OPT_DONE;
    case WORD_SENTENCE:
        return opt_usage(c, "%s: %s", word, meaning.sentence);
    case WORD_UNKNOWN:
        break;
    }
    const char *near = opt_nearest(name, option_name, c->opts, c->n_opts);
    if (near)
        return opt_usage(c, "unknown option %s; did you mean --%s?", word, near);
    return opt_usage(c, "unknown option %s", word);
}

static const struct opt *find_letter(const struct command *c, char letter)
{
    for (size_t i = 0; i < c->n_opts; i++)
        if (c->opts[i].letter == letter)
            return &c->opts[i];
    return NULL;
}

/* True if a word is an option, not a value of the option before it: "-5" and "-" are values. */
static bool is_option(const struct command *c, const char *word)
{
    if (word[0] != '-' || !word[1])
        return false;
    return word[1] == '-' || word[1] == 'h' || find_letter(c, word[1]);
}

/* Store the value of option o, which was given as `word`. value: text after '=' or after the
 * letter; NULL: the value is the next word of the command line. */
static int take_value(struct parser *p, const struct opt *o, const char *word, const char *value)
{
    const struct command *c = p->command;

    p->seen[o - c->opts] = true;
    if (!opt_takes_value(o))
        return value ? opt_usage(c, "%s takes no value", word) : apply(c, o, "1", p->args);
    if (!value) {
        if (p->i + 1 >= p->argc)
            return opt_usage(c, "%s: the value is missing; expected %s", word,
                             o->arg ? o->arg : o->name);
        value = p->argv[++p->i];
        if (is_option(c, value))
            return opt_usage(c, "%s: the value is missing before %.40s; expected %s", word, value,
                             o->arg ? o->arg : o->name);
    }
    return apply(c, o, value, p->args);
}

static int take_long(struct parser *p, const char *word)
{
    const char *equals = strchr(word, '=');
    const size_t len = equals ? (size_t)(equals - word) : strlen(word);
    const struct opt *o = opt_find(p->command, word + 2, len - 2);
    char bare[MAX_WORD + 1];

    snprintf(bare, sizeof bare, "%.*s", len < MAX_WORD ? (int)len : MAX_WORD, word);
    if (!o) {
        const int rc = take_meaning(p, word, bare + 2, &o);
        if (rc != OPT_GO_ON || !o)
            return rc;
    }
    return take_value(p, o, bare, equals ? equals + 1 : NULL);
}

/* Handle a short option, such as "-o FILE" or "-oFILE". A long name with one dash ("-output") is an
 * error, not the file "utput"; "-help" prints the help. */
static int take_short(struct parser *p, const char *word)
{
    const struct command *c = p->command;
    const char letter[3] = {'-', word[1], '\0'};
    const struct opt *o = find_letter(c, word[1]);

    if (word[2] && word_meaning(c, word + 1).kind == WORD_HELP)
        return take_meaning(p, word, word + 1, &o);
    if (word[2] && word_meaning(c, word + 1).kind != WORD_UNKNOWN)
        return opt_usage(c, "unknown option %s; did you mean -%s?", word, word);
    if (!o) {
        const int rc = take_meaning(p, word, word[2] ? word + 1 : letter + 1, &o);
        if (rc != OPT_GO_ON || !o)
            return rc;
    }
    if (word[2] && !opt_takes_value(o))
        return opt_usage(c, "%s takes no value; separate options by spaces", letter);
    return take_value(p, o, letter, word[2] ? word + 2 : NULL);
}

/* Returns whether several inputs are allowed: a word contains "%s", or ends in null: or hash:. */
static bool takes_several(const struct parser *p)
{
    for (int i = 0; i < p->argc; i++)
        if (strstr(p->argv[i], "%s") || cli_ends_with(p->argv[i], "null:") ||
            cli_ends_with(p->argv[i], "hash:"))
            return true;
    return false;
}

static int take_positional(struct parser *p, const char *word)
{
    const struct command *c = p->command;
    size_t n_numbered = 0;
    bool several = false;

    for (size_t i = 0; i < c->n_opts; i++) {
        if (!c->opts[i].positional)
            continue;
        several = c->opts[i].type == OPT_WORDS;
        if (!p->seen[i] || (several && takes_several(p))) {
            p->seen[i] = true;
            return apply(c, &c->opts[i], word, p->args);
        }
    }
    /* if several are file names with a digit before the extension, a shell expanded a pattern */
    for (int i = 0; i < p->argc; i++) {
        const char *dot = strrchr(p->argv[i], '.');
        n_numbered +=
            p->argv[i][0] != '-' && dot && dot > p->argv[i] && isdigit((unsigned char)dot[-1]);
    }
    if (n_numbered > 2)
        return opt_usage(
            c,
            "unexpected argument \"%s\"; to name several files, give their folder, or a pattern in "
            "quotes such as 'views/%%04d.tif 1 360', or a scan file (fbp init FOLDER writes one)",
            word);
    const struct opt *output = opt_find(c, "output", strlen("output"));
    bool has_output = !output || p->seen[output - c->opts];
    for (int i = p->i; i < p->argc && !has_output; i++)
        has_output = strncmp(p->argv[i], "-o", 2) == 0 || strncmp(p->argv[i], "--output", 8) == 0;
    if (!has_output)
        return opt_usage(c, "unexpected argument \"%s\"; did you mean -o %s?", word, word);
    if (several)
        return opt_usage(
            c,
            "unexpected argument \"%s\"; to reconstruct several scans, give %%s in the name of the "
            "output, such as -o out/%%s.mha",
            word);
    return opt_usage(c, "unexpected argument \"%s\"; expected fbp %s %s", word, c->name, c->usage);
}

static int parse_words(struct parser *p)
{
    const struct command *c = p->command;
    bool only_positional = false;

    /* Argument "help" alone ("fbp recon help") prints the help, unless a file has this name. */
    if (p->argc == 1 && strcmp(p->argv[0], "help") == 0 && access("help", F_OK) != 0) {
        opt_help(stdout, c, false);
        return OPT_DONE;
    }

    for (p->i = 0; p->i < p->argc; p->i++) {
        const char *word = p->argv[p->i];
        int rc;
        if (!only_positional && strcmp(word, "--") == 0) {
            only_positional = true;
            continue;
        }
        const bool all = strcmp(word, "--help-all") == 0;
        if (!only_positional && (all || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)) {
            opt_help(stdout, c, all);
            return OPT_DONE;
        }
        if (only_positional || word[0] != '-' || !word[1])
            rc = take_positional(p, word);
        else
            rc = word[1] == '-' ? take_long(p, word) : take_short(p, word);
        if (rc != OPT_GO_ON)
            return rc;
    }
    for (size_t i = 0; i < c->n_opts; i++) {
        const struct opt *o = &c->opts[i];
        if (!o->required || p->seen[i])
            continue;
        if (o->positional)
            return opt_usage(c, "%s is missing; expected fbp %s %s", o->name, c->name, c->usage);
        if (o->letter)
            return opt_usage(c, "-%c %s is missing", o->letter, o->arg);
        return opt_usage(c, "--%s %s is missing", o->name, o->arg);
    }
    return OPT_GO_ON;
}

int opt_parse(const struct command *command, void *args, int argc, char **argv)
{
    struct parser p = {.command = command, .args = args, .argc = argc, .argv = argv};

    p.seen = calloc(command->n_opts + 1, sizeof *p.seen);
    if (!p.seen) {
        say_error("out of memory for the options; close other programs");
        return 1;
    }
    const int rc = parse_words(&p);
    free(p.seen);
    return rc;
}
