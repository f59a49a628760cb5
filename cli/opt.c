#include "opt.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_WORD = 40 }; /* of an option that a message repeats */

int opt_usage(const struct command *command, const char *fmt, ...)
{
    va_list ap;

    fprintf(stderr, "fbp: %s: ", command->name);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap); // NOLINT(clang-analyzer-valist.Uninitialized): it is not
    va_end(ap);
    fprintf(stderr, "; see fbp %s --help\n", command->name);
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
    opt_describe(o, expected, sizeof expected);
    return opt_usage(c, "%s%s: expected %s%s%s, got \"%s\"", o->positional ? "" : "--", o->name,
                     o->arg ? o->arg : "", o->arg ? ", " : "", expected, text);
}

struct parser {
    const struct command *command;
    void *args;
    int argc, i;
    char **argv;
    bool *seen; /* by option */
};

static const struct opt *find_long(const struct command *c, const char *name, size_t len)
{
    for (size_t i = 0; i < c->n_opts; i++) {
        const struct opt *o = &c->opts[i];
        if (!o->positional && strlen(o->name) == len && strncmp(o->name, name, len) == 0)
            return o;
    }
    return NULL;
}

static const struct opt *find_letter(const struct command *c, char letter)
{
    for (size_t i = 0; i < c->n_opts; i++)
        if (c->opts[i].letter == letter)
            return &c->opts[i];
    return NULL;
}

static int take_option(struct parser *p, const char *word)
{
    const struct command *c = p->command;
    const bool is_long = word[1] == '-';
    const char *name = word + 1 + is_long, *equals = is_long ? strchr(name, '=') : NULL;
    const size_t len = equals ? (size_t)(equals - name) : strlen(name);
    const struct opt *o = is_long ? find_long(c, name, len) : find_letter(c, name[0]);
    const char *value = equals ? equals + 1 : NULL;
    char bare[MAX_WORD + 1];

    if (!o) {
        snprintf(bare, sizeof bare, "%.*s", len < MAX_WORD ? (int)len : MAX_WORD, name);
        const char *near = opt_nearest(bare, option_name, c->opts, c->n_opts);
        if (near)
            return opt_usage(c, "unknown option %s: did you mean --%s?", word, near);
        return opt_usage(c, "unknown option %s", word);
    }
    p->seen[o - c->opts] = true;
    if (!is_long && name[1]) {
        if (!opt_takes_value(o))
            return opt_usage(c, "-%c takes no value: write options apart from each other",
                             o->letter);
        value = name + 1;
    }
    if (!opt_takes_value(o))
        return value ? opt_usage(c, "--%s takes no value", o->name) : apply(c, o, "1", p->args);
    if (!value) {
        if (p->i + 1 >= p->argc)
            return opt_usage(c, "%s: a value is missing: expected %s", word, o->arg);
        value = p->argv[++p->i];
    }
    return apply(c, o, value, p->args);
}

static int take_positional(struct parser *p, const char *word)
{
    const struct command *c = p->command;

    for (size_t i = 0; i < c->n_opts; i++)
        if (c->opts[i].positional && !p->seen[i]) {
            p->seen[i] = true;
            return apply(c, &c->opts[i], word, p->args);
        }
    return opt_usage(c, "one argument too many: \"%s\": expected fbp %s %s", word, c->name,
                     c->usage);
}

static int check_required(const struct parser *p)
{
    const struct command *c = p->command;

    for (size_t i = 0; i < c->n_opts; i++) {
        const struct opt *o = &c->opts[i];
        if (!o->required || p->seen[i])
            continue;
        if (o->positional)
            return opt_usage(c, "%s is missing: expected fbp %s %s", o->name, c->name, c->usage);
        if (o->letter)
            return opt_usage(c, "-%c %s is missing", o->letter, o->arg);
        return opt_usage(c, "--%s %s is missing", o->name, o->arg);
    }
    return OPT_GO_ON;
}

static int parse_words(struct parser *p)
{
    bool only_positional = false;

    for (p->i = 0; p->i < p->argc; p->i++) {
        const char *word = p->argv[p->i];
        int rc;
        if (!only_positional && strcmp(word, "--") == 0) {
            only_positional = true;
            continue;
        }
        if (!only_positional && (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)) {
            opt_help(stdout, p->command);
            return OPT_DONE;
        }
        if (only_positional || word[0] != '-' || !word[1])
            rc = take_positional(p, word);
        else
            rc = take_option(p, word);
        if (rc != OPT_GO_ON)
            return rc;
    }
    return check_required(p);
}

int opt_parse(const struct command *command, void *args, int argc, char **argv)
{
    struct parser p = {.command = command, .args = args, .argc = argc, .argv = argv};

    p.seen = calloc(command->n_opts + 1, sizeof *p.seen);
    if (!p.seen) {
        fputs("fbp: out of memory\n", stderr);
        return 1;
    }
    const int rc = parse_words(&p);
    free(p.seen);
    return rc;
}
