/* Prints the completion script for bash: one shell function that lists the words of every command.
 * manual.c calls manual_bash() for `fbp help --completion bash`. */
#include "manual/manual.h"

#include <string.h>

/* Text before and after the generated cases.  Readline breaks words at '=', therefore --filter=h is
 * three words. */
static const char head[] =
    "# Completion of fbp in bash.  Made by: fbp help --completion bash\n"
    "_fbp() {\n"
    "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
    "    local -a words=(\"${COMP_WORDS[@]:1:COMP_CWORD-1}\")\n"
    "    local command= names= paths=\n"
    "    COMPREPLY=()\n"
    "    [ \"$before\" = '=' ] && before=${COMP_WORDS[COMP_CWORD-2]}\n"
    "    [ \"$word\" = '=' ] && word=\n"
    "    [ \"${words[0]-}\" = help ] && words=(\"${words[@]:1}\")\n";
static const char tail[] =
    "    [ -n \"$names\" ] && mapfile -t COMPREPLY < <(compgen -W \"$names\" -- \"$word\")\n"
    "    if [ -n \"$paths\" ]; then\n"
    "        local -a files\n"
    "        mapfile -t files < <(compgen -f -- \"$word\")\n"
    "        COMPREPLY+=(\"${files[@]}\")\n"
    "        compopt -o filenames 2>/dev/null\n"
    "    fi\n"
    "    return 0\n"
    "}\n"
    "complete -F _fbp fbp\n";

/* Print the first words of all commands, and the second words of commands that have two. */
static void first_words(FILE *f)
{
    fputs("    if [ ${#words[@]} -eq 0 ]; then\n        names='", f);
    for (size_t i = 0; i < n_commands; i++)
        if (manual_is_first(i))
            fprintf(f, "%.*s ", (int)manual_first_word(commands[i]->name), commands[i]->name);
    fputs("help --help --version'\n    else\n        case ${words[0]-} in\n", f);
    for (size_t i = 0; i < n_commands; i++) {
        const char *name = commands[i]->name;
        const size_t len = manual_first_word(name);
        if (!name[len] || !manual_is_first(i))
            continue;
        fprintf(f, "        %.*s)\n            [ ${#words[@]} -eq 1 ] && names='", (int)len, name);
        for (size_t k = i; k < n_commands; k++)
            if (strncmp(commands[k]->name, name, len + 1) == 0)
                fprintf(f, "%s ", commands[k]->name + len + 1);
        fputs("'\n            command=\"${words[0]-} ${words[1]-}\" ;;\n", f);
    }
    fputs("        *) command=${words[0]-} ;;\n        esac\n    fi\n", f);
}

/* Print the case of an option that takes a value: its choices, files, or nothing. */
static void values(FILE *f, const struct command *c, const struct opt *o)
{
    const enum manual_value value = manual_value_of(o);

    if (o->positional || value == MANUAL_NONE)
        return;
    fprintf(f, "    '%s --%s'", c->name, o->name);
    if (o->letter)
        fprintf(f, " | '%s -%c'", c->name, o->letter);
    fputc(')', f);
    if (value == MANUAL_CHOICE || value == MANUAL_BOTH) {
        fputs(" names='", f);
        manual_choices(f, o);
        fputc('\'', f);
    }
    fputs(value == MANUAL_PATH || value == MANUAL_BOTH ? " paths=1 ;;\n" : " ;;\n", f);
}

static void options(FILE *f, const struct command *c)
{
    bool files = false;

    fprintf(f, "        '%s')\n            [[ $word == -* ]] && names='", c->name);
    for (size_t i = 0; i < c->n_opts; i++) {
        files = files || c->opts[i].positional;
        if (!c->opts[i].positional)
            fprintf(f, "--%s ", c->opts[i].name);
    }
    fputs(c->groups ? "--help --help-all'\n" : "--help'\n", f);
    if (files)
        fputs("            [[ $word == -* ]] || paths=1\n", f);
    fputs("            ;;\n", f);
}

void manual_bash(FILE *f)
{
    fputs(head, f);
    first_words(f);
    fputs("    case \"$command $before\" in\n", f);
    for (size_t c = 0; c < n_commands; c++)
        for (size_t i = 0; i < commands[c]->n_opts; i++)
            values(f, commands[c], &commands[c]->opts[i]);
    fputs("    *)\n        case $command in\n", f);
    for (size_t c = 0; c < n_commands; c++)
        options(f, commands[c]);
    fputs("        esac ;;\n    esac\n", f);
    fputs(tail, f);
}
