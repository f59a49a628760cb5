/* Prints the completion script for fish: one line per option.  manual.c calls manual_fish() for
 * `fbp help --completion fish`. */
#include "manual/manual.h"

#include <string.h>

/* Print text in single quotes, with quotes and backslashes escaped. */
static void quote(FILE *f, const char *text)
{
    fputc('\'', f);
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            fputc('\\', f);
        fputc(*text, f);
    }
    fputc('\'', f);
}

static const char head[] =
    "# Completion of fbp in fish.  Made by: fbp help --completion fish\n"
    "# The words after fbp (and help) so far, without the one that is being written.\n"
    "function __fbp_words\n"
    "    set -l words (commandline -opc)\n"
    "    set -e words[1]\n"
    "    test \"$words[1]\" = help; and set -e words[1]\n"
    "    string join \\n -- $words\n"
    "end\n"
    "# Are these words all there is?\n"
    "function __fbp_after\n"
    "    set -l words (__fbp_words)\n"
    "    test \"$words\" = \"$argv\"\n"
    "end\n"
    "# Do they begin with these?\n"
    "function __fbp_in\n"
    "    set -l words (__fbp_words)\n"
    "    set -l n (count $argv)\n"
    "    test (count $words) -ge $n; and test \"$words[1..$n]\" = \"$argv\"\n"
    "end\n"
    "complete -c fbp -f\n"
    "complete -c fbp -n __fbp_after -a help -d 'what a command takes, with examples'\n";

/* Print the completion of a command's name, which has one or two words. */
static void lead(FILE *f, size_t c)
{
    const struct command *command = commands[c];
    const size_t len = manual_first_word(command->name);
    const bool is_group = command->name[len] != '\0';

    if (manual_is_first(c)) {
        fprintf(f, "complete -c fbp -n __fbp_after -a %.*s -d ", (int)len, command->name);
        quote(f, is_group ? "several commands" : command->summary);
        fputc('\n', f);
    }
    if (is_group) {
        fprintf(f, "complete -c fbp -n '__fbp_after %.*s' -a %s -d ", (int)len, command->name,
                command->name + len + 1);
        quote(f, command->summary);
        fputc('\n', f);
    }
}

static void option(FILE *f, const struct command *c, const struct opt *o)
{
    const enum manual_value value = manual_value_of(o);
    char about[OPT_ABOUT];

    fprintf(f, "complete -c fbp -n '__fbp_in %s'", c->name);
    if (o->positional) {
        fputs(" -F\n", f);
        return;
    }
    fprintf(f, " -l %s", o->name);
    if (o->letter)
        fprintf(f, " -s %c", o->letter);
    if (value != MANUAL_NONE)
        fputs(value == MANUAL_PATH || value == MANUAL_BOTH ? " -r -F" : " -x", f);
    if (value == MANUAL_CHOICE || value == MANUAL_BOTH) {
        fputs(" -a '", f);
        manual_choices(f, o);
        fputc('\'', f);
    }
    fputs(" -d ", f);
    quote(f, opt_about(o, about, sizeof about));
    fputc('\n', f);
}

void manual_fish(FILE *f)
{
    fputs(head, f);
    for (size_t c = 0; c < n_commands; c++) {
        lead(f, c);
        for (size_t i = 0; i < commands[c]->n_opts; i++)
            option(f, commands[c], &commands[c]->opts[i]);
        fprintf(f, "complete -c fbp -n '__fbp_in %s' -l help -s h -d 'show the help'\n",
                commands[c]->name);
        if (commands[c]->groups)
            fprintf(f, "complete -c fbp -n '__fbp_in %s' -l help-all -d 'show all options'\n",
                    commands[c]->name);
    }
}
