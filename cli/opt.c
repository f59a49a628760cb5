#include "opt.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_WORD = 40 };

static bool takes_value(const struct opt *o)
{
    return o->type != OPT_BOOL && o->type != OPT_INTFLAG;
}

int opt_usage(const struct command *command, const char *fmt, ...)
{
    va_list ap;

    fprintf(stderr, "fbp: %s: ", command->name);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fprintf(stderr, "; see fbp %s --help\n", command->name);
    return OPT_USAGE;
}

/* ---- nearest name ---- */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t edit_distance(const char *a, const char *b)
{
    const size_t na = strlen(a), nb = strlen(b);
    size_t row[MAX_WORD + 1];

    if (na > MAX_WORD || nb > MAX_WORD)
        return MAX_WORD;
    for (size_t j = 0; j <= nb; j++)
        row[j] = j;
    for (size_t i = 1; i <= na; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            const size_t swap = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = least(swap, least(row[j], row[j - 1]) + 1);
        }
    }
    return row[nb];
}

const char *opt_nearest(const char *word, const char *(*name)(const void *list, size_t i),
                        const void *list, size_t n)
{
    const char *best = NULL;
    size_t bound = strlen(word) / 2 + 2;

    for (size_t i = 0; i < n; i++) {
        const char *candidate = name(list, i);
        const size_t dist = candidate ? edit_distance(word, candidate) : bound;
        if (dist < bound) {
            bound = dist;
            best = candidate;
        }
    }
    return best;
}

static const char *option_name(const void *list, size_t i)
{
    const struct opt *o = (const struct opt *)list + i;
    return o->positional ? NULL : o->name;
}

/* ---- values ---- */

static bool in_range(const struct opt *o, double v)
{
    if (!isfinite(v))
        return false;
    if (o->min < o->max)
        return v >= o->min && v <= o->max;
    return o->type == OPT_DOUBLE || o->type == OPT_DOUBLES || (v >= 0 && v < 0x1p53);
}

/* Plain decimal numbers only: strtod would also take "inf", "nan" and hexadecimal. */
static bool read_number(const char *text, const char **end, double *out)
{
    char *e;

    if (!isdigit((unsigned char)text[strspn(text, "+-.")]) || 
        strncasecmp(text + strspn(text, "+-"), "0x", 2) == 0)
        return false;
    errno = 0;
    *out = strtod(text, &e);
    *end = e;
    return e != text && errno == 0;
}

static bool read_whole(const char *text, const char **end, double *out)
{
    return read_number(text, end, out) && *out == floor(*out);
}

static double suffix(const char **end)
{
    static const char letters[] = "KMGT";
    const char *at = **end ? strchr(letters, toupper((unsigned char)**end)) : NULL;

    if (!at)
        return 1;
    ++*end;
    if (strcmp(*end, "iB") == 0)
        *end += 2;
    return ldexp(1, 10 * (int)(at - letters + 1));
}

/* Numbers joined by the separator the metavariable shows; returns how many, 0 if malformed. */
static size_t read_list(const struct opt *o, const char *text, double v[8])
{
    const char separator = strchr(o->arg, ',') ? ',' : 'x';
    const bool whole = o->type == OPT_SIZES;

    for (size_t n = 0; n < o->count && n < 8; text++) {
        const char *end;
        if (!(whole ? read_whole : read_number)(text, &end, &v[n]) || !in_range(o, v[n]))
            return 0;
        n++;
        text = end;
        if (*text == '\0')
            return n;
        if (*text != separator)
            return 0;
    }
    return 0;
}

static bool set_list(const struct opt *o, const char *text, void *field)
{
    double v[8];
    const size_t n = read_list(o, text, v);

    if (n != o->count && !(n == 1 && strchr(o->arg, '|')))
        return false;
    for (size_t i = 0; i < o->count; i++) {
        const double value = v[n == 1 ? 0 : i];
        if (o->type == OPT_SIZES)
            ((size_t *)field)[i] = (size_t)value;
        else
            ((double *)field)[i] = value;
    }
    return true;
}

static bool set_enum(const struct opt *o, const char *text, void *field)
{
    for (unsigned i = 0; o->names[i]; i++)
        if (*text && strcmp(text, o->names[i]) == 0) {
            *(unsigned *)field = i;
            return true;
        }
    return false;
}

static bool set_number(const struct opt *o, const char *text, void *field)
{
    const char *end;
    double v;

    if (o->type == OPT_DOUBLE || o->type == OPT_BYTES) {
        if (!read_number(text, &end, &v))
            return false;
    } else if (!read_whole(text, &end, &v)) {
        return false;
    }
    if (o->type == OPT_BYTES)
        v = floor(v * suffix(&end));
    if (*end || !in_range(o, v) || (o->type == OPT_INT && v > INT_MAX))
        return false;
    if (o->type == OPT_DOUBLE)
        *(double *)field = v;
    else if (o->type == OPT_INT)
        *(int *)field = (int)v;
    else
        *(size_t *)field = (size_t)v;
    return true;
}

static bool set_value(const struct opt *o, const char *text, void *args)
{
    void *field = (char *)args + o->offset;

    switch (o->type) {
    case OPT_STRING:
        *(const char **)field = text;
        return *text != '\0';
    case OPT_BOOL:
        *(bool *)field = true;
        return true;
    case OPT_INTFLAG:
        *(int *)field = 1;
        return true;
    case OPT_SIZES:
    case OPT_DOUBLES:
        return set_list(o, text, field);
    case OPT_ENUM:
        return set_enum(o, text, field);
    case OPT_INT:
    case OPT_SIZE:
    case OPT_BYTES:
    case OPT_DOUBLE:
        return set_number(o, text, field);
    }
    return false;
}

/* "a whole number from 1 to 16" */
static void describe(const struct opt *o, char *buf, size_t n)
{
    static const char *const noun[] = {
        [OPT_STRING] = "text",       [OPT_INT] = "a whole number",
        [OPT_SIZE] = "a whole number", [OPT_BYTES] = "bytes with an optional suffix K, M, G or T",
        [OPT_DOUBLE] = "a number",   [OPT_SIZES] = "whole numbers",
        [OPT_DOUBLES] = "numbers",
    };
    int len = 0;

    if (o->type == OPT_ENUM) {
        len = snprintf(buf, n, "one of");
        for (size_t i = 0, k = 0; o->names[i] && (size_t)len < n; i++)
            if (*o->names[i])
                len += snprintf(buf + len, n - (size_t)len, "%s%s", k++ ? ", " : " ", o->names[i]);
        return;
    }
    len = snprintf(buf, n, "%s", noun[o->type]);
    if (o->min < o->max && (size_t)len < n)
        snprintf(buf + len, n - (size_t)len, " from %.10g to %.10g", o->min, o->max);
}

static int apply(const struct command *c, const struct opt *o, const char *text, void *args)
{
    char expected[300];

    if (set_value(o, text, args))
        return OPT_GO_ON;
    describe(o, expected, sizeof expected);
    return opt_usage(c, "%s%s: expected %s%s%s, got \"%s\"", o->positional ? "" : "--", o->name,
                     o->arg ? o->arg : "", o->arg ? ", " : "", expected, text);
}

/* ---- words ---- */

struct parser {
    const struct command *command;
    void *args;
    int argc, i;
    char **argv;
    bool *seen; /* by option */
};

static const struct opt *find(const struct command *c, const char *name, size_t len, char letter)
{
    for (size_t i = 0; i < c->n_opts; i++) {
        const struct opt *o = &c->opts[i];
        if (o->positional)
            continue;
        if (letter ? o->letter == letter : strlen(o->name) == len && !strncmp(o->name, name, len))
            return o;
    }
    return NULL;
}

static int take_option(struct parser *p, const char *word)
{
    const struct command *c = p->command;
    const bool is_long = word[1] == '-';
    const char *name = word + 1 + is_long, *equals = is_long ? strchr(name, '=') : NULL;
    const size_t len = equals ? (size_t)(equals - name) : strlen(name);
    const struct opt *o = find(c, name, len, is_long ? '\0' : name[0]);
    const char *value = equals ? equals + 1 : NULL;
    char bare[MAX_WORD + 1];

    if (!o) {
        snprintf(bare, sizeof bare, "%.*s", (int)least(len, MAX_WORD), name);
        const char *near = opt_nearest(bare, option_name, c->opts, c->n_opts);
        if (near)
            return opt_usage(c, "unknown option %s: did you mean --%s?", word, near);
        return opt_usage(c, "unknown option %s", word);
    }
    p->seen[o - c->opts] = true;
    if (!is_long && name[1]) {
        if (!takes_value(o))
            return opt_usage(c, "-%c takes no value: write options apart from each other",
                             o->letter);
        value = name + 1;
    }
    if (!takes_value(o))
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

/* ---- help ---- */

enum { HELP_COLUMN = 28, HELP_WIDTH = 79 };

/* Print words from column `at`, wrapped, continuation lines indented to `indent`. */
static size_t wrap(FILE *f, const char *text, size_t at, size_t indent)
{
    while (*text) {
        const size_t len = strcspn(text, " ");
        if (at > indent && at + 1 + len > HELP_WIDTH) {
            fprintf(f, "\n%*s", (int)indent, "");
            at = indent;
        } else if (at > indent) {
            fputc(' ', f);
            at++;
        }
        fprintf(f, "%.*s", (int)len, text);
        at += len;
        text += len + strspn(text + len, " ");
    }
    return at;
}

static void help_line(FILE *f, const struct opt *o)
{
    char extra[400], left[120];
    int n;

    if (o->positional)
        n = snprintf(left, sizeof left, "  %s", o->name);
    else if (o->letter)
        n = snprintf(left, sizeof left, "  -%c, --%s", o->letter, o->name);
    else
        n = snprintf(left, sizeof left, "      --%s", o->name);
    if (o->arg && !o->positional && takes_value(o))
        n += snprintf(left + n, sizeof left - (size_t)n, " %s", o->arg);
    if (n + 2 > HELP_COLUMN)
        fprintf(f, "%s\n%*s", left, HELP_COLUMN, "");
    else
        fprintf(f, "%-*s", HELP_COLUMN, left);
    size_t at = wrap(f, o->help, HELP_COLUMN, HELP_COLUMN);
    if (o->type == OPT_ENUM) {
        describe(o, extra, sizeof extra);
        fputc(':', f);
        at = wrap(f, extra, at + 1, HELP_COLUMN);
    }
    if (o->fallback) {
        snprintf(extra, sizeof extra, "[%s]", o->fallback);
        wrap(f, extra, at, HELP_COLUMN);
    }
    fputc('\n', f);
}

void opt_help(FILE *f, const struct command *c)
{
    fprintf(f, "fbp %s: %s\n\nUsage: ", c->name, c->summary);
    const size_t start = strlen("Usage: fbp ") + strlen(c->name) + 1;
    fprintf(f, "fbp %s", c->name);
    wrap(f, c->usage, start - 1, strlen("Usage: "));
    fputs("\n\n", f);
    if (c->about) {
        wrap(f, c->about, 0, 0);
        fputs("\n\n", f);
    }
    for (size_t i = 0; i < c->n_opts; i++)
        help_line(f, &c->opts[i]);
    fprintf(f, "  -h, --help                show this help\n");
    if (c->examples)
        fprintf(f, "\nExamples:\n%s", c->examples);
}
