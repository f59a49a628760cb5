/* Prints --help and --help-all from the option tables (opt.h), prints --version, and composes the
 * help text of one option (opt_about()), also for man pages and shell completion.
 * Used by: cli/, manual/. */
#include "choices.h"
#include "words.h"

#include "fbp/types.h"

#include <string.h>

enum { HELP_COLUMN = 28, HELP_WIDTH = 79 };

/* Print the words of a text from column `at` on, wrapped at HELP_WIDTH, indented to column
 * `indent`; a line feed begins a new line. Returns the column behind the last word. */
static size_t wrap(FILE *f, const char *text, size_t at, size_t indent)
{
    for (bool begins = false; *text;) {
        const size_t len = strcspn(text, " \n");
        if (at > indent && (begins || at + 1 + len > HELP_WIDTH)) {
            fprintf(f, "\n%*s", (int)indent, "");
            at = indent;
        } else if (at > indent) {
            fputc(' ', f);
            at++;
        }
        fprintf(f, "%.*s", (int)len, text);
        at += len;
        text += len;
        begins = *text == '\n';
        text += strspn(text, " \n");
    }
    return at;
}

char *opt_about(const struct opt *o, char *buf, size_t n)
{
    const char *name, *before = " (";
    char other[40];
    size_t len = strlen(cli_with_formats(o->help, buf, n));

    if (!o->positional && word_shown(o->name, other, sizeof other) && len < n)
        snprintf(buf + len, n - len, " (also --%s)", other);
    if (o->type != OPT_ENUM)
        return buf;
    len = strlen(buf); /* append the permitted values, as in " (cone, parallel)" */
    for (size_t i = 0; (name = opt_choice(o, i)) && len < n; i++)
        if (*name) {
            len += (size_t)snprintf(buf + len, n - len, "%s%s", before, name);
            before = ", ";
        }
    if (len < n)
        snprintf(buf + len, n - len, ")");
    return buf;
}

static void help_line(FILE *f, const struct opt *o)
{
    char about[OPT_ABOUT], extra[400], left[120];
    int n;

    if (o->positional)
        n = snprintf(left, sizeof left, "  %s", o->name);
    else if (o->letter)
        n = snprintf(left, sizeof left, "  -%c, --%s", o->letter, o->name);
    else
        n = snprintf(left, sizeof left, "      --%s", o->name);
    if (o->arg && !o->positional && opt_takes_value(o))
        n += snprintf(left + n, sizeof left - (size_t)n, " %s", o->arg);
    if (n + 2 > HELP_COLUMN)
        fprintf(f, "%s\n%*s", left, HELP_COLUMN, "");
    else
        fprintf(f, "%-*s", HELP_COLUMN, left);
    const size_t at = wrap(f, opt_about(o, about, sizeof about), HELP_COLUMN, HELP_COLUMN);
    if (o->fallback) {
        snprintf(extra, sizeof extra, "[default: %s]", o->fallback);
        if (at + 1 + strlen(extra) > HELP_WIDTH) /* no line break inside the default */
            fprintf(f, "\n%*s%s", HELP_COLUMN, "", extra);
        else
            fprintf(f, " %s", extra);
    }
    fputc('\n', f);
}

void opt_version(FILE *f)
{
    static const char with[] = FBP_WITH, without[] = FBP_WITHOUT;

    fprintf(f, "fbp %s (with %s%s%s)\n", fbp_version(), *with ? with : "no optional format",
            *without ? "; without " : "", without);
}

bool opt_is_listed(const char *names, const char *name)
{
    for (const char *at = names; at && *at; at += strspn(at, " ")) {
        const size_t n = strcspn(at, " ");
        if (strlen(name) == n && strncmp(at, name, n) == 0)
            return true;
        at += n;
    }
    return false;
}

/* Print the help of the options in the list `names` (separated by spaces), in its order. */
static void help_lines(FILE *f, const struct command *c, const char *names)
{
    for (const char *at = names; at && *at; at += strspn(at, " ")) {
        const size_t n = strcspn(at, " ");
        const struct opt *o = opt_find(c, at, n);
        if (o)
            help_line(f, o);
        at += n;
    }
}

static bool has_one_of(const struct command *c, const char *names)
{
    for (size_t i = 0; i < c->n_opts; i++)
        if (opt_is_listed(names, c->opts[i].name))
            return true;
    return false;
}

void opt_help(FILE *f, const struct command *c, bool all)
{
    const size_t start = strlen("Usage: fbp ") + strlen(c->name) + 1;
    size_t n_rare = 0;

    fprintf(f, "fbp %s: %s\n\nUsage: ", c->name, c->summary);
    fprintf(f, "fbp %s", c->name);
    wrap(f, c->usage, start - 1, strlen("Usage: "));
    fputs("\n\n", f);
    if (c->about) {
        wrap(f, c->about, 0, 0);
        fputs("\n\n", f);
    }
    for (size_t i = 0; i < c->n_opts; i++)
        if (!c->groups || c->opts[i].positional)
            help_line(f, &c->opts[i]);
    for (const struct opt_group *g = c->groups; g && g->title; g++) {
        for (size_t i = 0; i < c->n_opts; i++)
            n_rare += opt_is_listed(g->rare, c->opts[i].name);
        if (!has_one_of(c, g->common) && !(all && has_one_of(c, g->rare)))
            continue;
        fprintf(f, "\n%s:\n", g->title);
        help_lines(f, c, g->common);
        help_lines(f, c, all ? g->rare : NULL);
    }
    fprintf(f, "  -h, --help                show this help\n");
    if (n_rare > 0)
        fprintf(f, "      --help-all            show all options%s\n",
                all ? "" : ", also the rare ones");
    if (n_rare > 0 && !all)
        fprintf(f, "\n%zu more options are shown by fbp %s --help-all.\n", n_rare, c->name);
    if (c->examples)
        fprintf(f, "\nExamples:\n%s", c->examples);
}
