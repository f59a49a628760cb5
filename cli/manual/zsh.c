/* Prints the completion script for zsh: one list for _arguments per command.  manual.c calls
 * manual_zsh() for `fbp help --completion zsh`. */
#include "manual/manual.h"

#include <string.h>

/* Print text for [...] of a single-quoted argument, escaped. */
static void put(FILE *f, const char *text)
{
    for (; *text; text++)
        if (*text == '\'')
            fputs("'\\''", f);
        else if (strchr("[]:\\", *text))
            fprintf(f, "\\%c", *text);
        else
            fputc(*text, f);
}

static void put_action(FILE *f, const struct opt *o)
{
    switch (manual_value_of(o)) {
    case MANUAL_NONE:
        break;
    case MANUAL_OTHER:
        fputc(' ', f); /* any value */
        break;
    case MANUAL_CHOICE:
        fputc('(', f);
        manual_choices(f, o);
        fputc(')', f);
        break;
    case MANUAL_PATH:
        fputs("_files", f);
        break;
    case MANUAL_BOTH:
        fputs("{compadd -- ", f);
        manual_choices(f, o);
        fputs("; _files}", f);
        break;
    }
}

/* Print 'name[about]:value:action'; "=" follows a long name, "+" a short one. */
static void option(FILE *f, const char *name, bool is_long, const struct opt *o)
{
    const bool valued = manual_value_of(o) != MANUAL_NONE;
    char about[OPT_ABOUT];

    fprintf(f, "            '%s%s[", name, !valued ? "" : is_long ? "=" : "+");
    put(f, opt_about(o, about, sizeof about));
    fputc(']', f);
    if (valued) {
        fputc(':', f);
        put(f, o->arg ? o->arg : o->name);
        fputc(':', f);
        put_action(f, o);
    }
    fputs("' \\\n", f);
}

static void arguments(FILE *f, const struct command *c)
{
    char name[80];

    fprintf(f, "    '%s')\n        _arguments \\\n", c->name);
    for (size_t i = 0; i < c->n_opts; i++) {
        const struct opt *o = &c->opts[i];
        if (o->positional) {
            fputs("            ':", f);
            put(f, o->name);
            fputs(":_files' \\\n", f);
            continue;
        }
        snprintf(name, sizeof name, "--%s", o->name);
        option(f, name, true, o);
        if (o->letter)
            option(f, (char[]){'-', o->letter, '\0'}, false, o);
    }
    if (c->groups)
        fputs("            '(- *)'--help-all'[show all options]' \\\n", f);
    fputs("            '(- *)'{-h,--help}'[show the help]' ;;\n", f);
}

/* Print names and summaries of the commands that begin with `prefix`, for _describe; prefix "":
 * first words of all commands. */
static void describe(FILE *f, const char *prefix)
{
    const size_t len = strlen(prefix);

    fputs("names=(", f);
    for (size_t i = 0; i < n_commands; i++) {
        const char *name = commands[i]->name;
        const size_t word = manual_first_word(name);
        if (strncmp(name, prefix, len) != 0 || (len == 0 && !manual_is_first(i)))
            continue;
        fprintf(f, "\n        '%.*s:", len ? (int)strlen(name + len) : (int)word, name + len);
        put(f, len || !name[word] ? commands[i]->summary : "several commands");
        fputc('\'', f);
    }
    fputs(")\n", f);
}

static void groups(FILE *f)
{
    char prefix[40];

    for (size_t i = 0; i < n_commands; i++) {
        const char *name = commands[i]->name;
        const size_t len = manual_first_word(name);
        if (!name[len] || !manual_is_first(i))
            continue;
        snprintf(prefix, sizeof prefix, "%.*s ", (int)len, name);
        fprintf(f, "    %.*s)\n        if ((CURRENT == 2)); then\n        ", (int)len, name);
        describe(f, prefix);
        fputs("        _describe command names\n        return\n        fi\n"
              "        command=\"$words[1] $words[2]\"\n"
              "        shift words\n        ((CURRENT--)) ;;\n",
              f);
    }
}

void manual_zsh(FILE *f)
{
    fputs("#compdef fbp\n# Completion of fbp in zsh.  Made by: fbp help --completion zsh\n\n"
          "local -a names\nlocal command curcontext=\"$curcontext\"\n"
          "shift words\n((CURRENT--))\n"
          "if [[ $words[1] == help ]] && ((CURRENT > 1)); then\n"
          "    shift words\n    ((CURRENT--))\nfi\n"
          "if ((CURRENT == 1)); then\n    ",
          f);
    describe(f, "");
    fputs("    names+=('help:what a command takes, with examples')\n"
          "    _describe command names\n    return\nfi\n"
          "command=$words[1]\ncase $command in\n",
          f);
    groups(f);
    fputs("esac\ncase $command in\n", f);
    for (size_t c = 0; c < n_commands; c++)
        arguments(f, commands[c]);
    fputs("esac\n", f);
}
