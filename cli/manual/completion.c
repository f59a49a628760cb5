/* Prints completion scripts for the shells bash, zsh and fish, from the option tables of all
 * commands (`fbp help --completion SHELL`): manual_bash(), manual_zsh(), manual_fish().
 * Used by: manual.c. */
#include "manual/manual.h"

#include <string.h>

/* Kinds of values of an option, which determine what the shell proposes. */
enum value {
    NO_VALUE,
    ANY_VALUE,      /* a number or any word */
    CHOICE,         /* one of the option's choices */
    PATH,           /* path of a file or folder */
    CHOICE_OR_PATH, /* a choice or a path */
};

static enum value value_of(const struct opt *o)
{
    static const char *const paths[] = {"FILE", "VOLUME", "SCAN", "DIR", "FOLDER"};
    bool path = o->positional;

    if (!o->positional && !opt_takes_value(o))
        return NO_VALUE;
    for (size_t i = 0; o->arg && i < sizeof paths / sizeof *paths; i++)
        path = path || strstr(o->arg, paths[i]);
    if (opt_choice(o, 0))
        return path ? CHOICE_OR_PATH : CHOICE;
    return path ? PATH : ANY_VALUE;
}

/* Print the permitted values of an option, separated by blanks. */
static void print_choices(FILE *f, const struct opt *o)
{
    const char *name, *before = "";

    for (size_t i = 0; (name = opt_choice(o, i)); i++)
        if (*name) {
            fprintf(f, "%s%s", before, name);
            before = " ";
        }
}

/* Length of the first word of a command's name [bytes]. */
static size_t first_word(const char *name)
{
    return strcspn(name, " ");
}

/* True if no command before number c has the same first word: lists of first words contain
 * "geometry" once, although several commands begin with it. */
static bool is_first(size_t c)
{
    const size_t len = first_word(commands[c]->name);

    for (size_t i = 0; i < c; i++)
        if (first_word(commands[i]->name) == len &&
            strncmp(commands[i]->name, commands[c]->name, len) == 0)
            return false;
    return true;
}

/* First and last part of the bash script; the cases of the commands are generated between them.
 * Readline breaks words at '=', so the script reads --filter=h as three words. */
static const char bash_head[] =
    "# Completion of fbp in bash.  Made by: fbp help --completion bash\n"
    "_fbp() {\n"
    "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
    "    local -a words=(\"${COMP_WORDS[@]:1:COMP_CWORD-1}\")\n"
    "    local command= names= paths=\n"
    "    COMPREPLY=()\n"
    "    [ \"$before\" = '=' ] && before=${COMP_WORDS[COMP_CWORD-2]}\n"
    "    [ \"$word\" = '=' ] && word=\n"
    "    [ \"${words[0]-}\" = help ] && words=(\"${words[@]:1}\")\n";
static const char bash_tail[] =
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

/* Print the bash code that proposes first words of commands, and second words ("geometry"). */
static void bash_first_words(FILE *f)
{
    fputs("    if [ ${#words[@]} -eq 0 ]; then\n        names='", f);
    for (size_t i = 0; i < n_commands; i++)
        if (is_first(i))
            fprintf(f, "%.*s ", (int)first_word(commands[i]->name), commands[i]->name);
    fputs("help --help --version'\n    else\n        case ${words[0]-} in\n", f);
    for (size_t i = 0; i < n_commands; i++) {
        const char *name = commands[i]->name;
        const size_t len = first_word(name);
        if (!name[len] || !is_first(i))
            continue;
        fprintf(f, "        %.*s)\n            [ ${#words[@]} -eq 1 ] && names='", (int)len, name);
        for (size_t k = i; k < n_commands; k++)
            if (strncmp(commands[k]->name, name, len + 1) == 0)
                fprintf(f, "%s ", commands[k]->name + len + 1);
        fputs("'\n            command=\"${words[0]-} ${words[1]-}\" ;;\n", f);
    }
    fputs("        *) command=${words[0]-} ;;\n        esac\n    fi\n", f);
}

/* Print the bash case of an option with a value: it proposes values, file names, or nothing. */
static void bash_values(FILE *f, const struct command *c, const struct opt *o)
{
    const enum value value = value_of(o);

    if (o->positional || value == NO_VALUE)
        return;
    fprintf(f, "    '%s --%s'", c->name, o->name);
    if (o->letter)
        fprintf(f, " | '%s -%c'", c->name, o->letter);
    fputc(')', f);
    if (value == CHOICE || value == CHOICE_OR_PATH) {
        fputs(" names='", f);
        print_choices(f, o);
        fputc('\'', f);
    }
    fputs(value == PATH || value == CHOICE_OR_PATH ? " paths=1 ;;\n" : " ;;\n", f);
}

static void bash_options(FILE *f, const struct command *c)
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
    fputs(bash_head, f);
    bash_first_words(f);
    fputs("    case \"$command $before\" in\n", f);
    for (size_t c = 0; c < n_commands; c++)
        for (size_t i = 0; i < commands[c]->n_opts; i++)
            bash_values(f, commands[c], &commands[c]->opts[i]);
    fputs("    *)\n        case $command in\n", f);
    for (size_t c = 0; c < n_commands; c++)
        bash_options(f, commands[c]);
    fputs("        esac ;;\n    esac\n", f);
    fputs(bash_tail, f);
}

/* Print a description for zsh, escaped for [...] in a single-quoted argument of _arguments. */
static void zsh_put(FILE *f, const char *text)
{
    for (; *text; text++)
        if (*text == '\'')
            fputs("'\\''", f);
        else if (strchr("[]:\\", *text))
            fprintf(f, "\\%c", *text);
        else
            fputc(*text, f);
}

static void zsh_action(FILE *f, const struct opt *o)
{
    switch (value_of(o)) {
    case NO_VALUE:
        break;
    case ANY_VALUE:
        fputc(' ', f); /* any value */
        break;
    case CHOICE:
        fputc('(', f);
        print_choices(f, o);
        fputc(')', f);
        break;
    case PATH:
        fputs("_files", f);
        break;
    case CHOICE_OR_PATH:
        fputs("{compadd -- ", f);
        print_choices(f, o);
        fputs("; _files}", f);
        break;
    }
}

/* Print an option for zsh as 'name[about]:value:action'. Before a value, "=" follows a long name,
 * "+" a short one. */
static void zsh_option(FILE *f, const char *name, bool is_long, const struct opt *o)
{
    const bool valued = value_of(o) != NO_VALUE;
    char about[OPT_ABOUT];

    fprintf(f, "            '%s%s[", name, !valued ? "" : is_long ? "=" : "+");
    zsh_put(f, opt_about(o, about, sizeof about));
    fputc(']', f);
    if (valued) {
        fputc(':', f);
        zsh_put(f, o->arg ? o->arg : o->name);
        fputc(':', f);
        zsh_action(f, o);
    }
    fputs("' \\\n", f);
}

static void zsh_arguments(FILE *f, const struct command *c)
{
    char name[80];

    fprintf(f, "    '%s')\n        _arguments \\\n", c->name);
    for (size_t i = 0; i < c->n_opts; i++) {
        const struct opt *o = &c->opts[i];
        if (o->positional) {
            fputs("            ':", f);
            zsh_put(f, o->name);
            fputs(":_files' \\\n", f);
            continue;
        }
        snprintf(name, sizeof name, "--%s", o->name);
        zsh_option(f, name, true, o);
        if (o->letter)
            zsh_option(f, (char[]){'-', o->letter, '\0'}, false, o);
    }
    if (c->groups)
        fputs("            '(- *)'--help-all'[show all options]' \\\n", f);
    fputs("            '(- *)'{-h,--help}'[show the help]' ;;\n", f);
}

/* Print the zsh array `names` (for _describe): names and summaries of the commands that begin with
 * `prefix`; prefix "": the first words of all commands. */
static void zsh_describe(FILE *f, const char *prefix)
{
    const size_t len = strlen(prefix);

    fputs("names=(", f);
    for (size_t i = 0; i < n_commands; i++) {
        const char *name = commands[i]->name;
        const size_t word = first_word(name);
        if (strncmp(name, prefix, len) != 0 || (len == 0 && !is_first(i)))
            continue;
        fprintf(f, "\n        '%.*s:", len ? (int)strlen(name + len) : (int)word, name + len);
        zsh_put(f, len || !name[word] ? commands[i]->summary : "several commands");
        fputc('\'', f);
    }
    fputs(")\n", f);
}

static void zsh_groups(FILE *f)
{
    char prefix[40];

    for (size_t i = 0; i < n_commands; i++) {
        const char *name = commands[i]->name;
        const size_t len = first_word(name);
        if (!name[len] || !is_first(i))
            continue;
        snprintf(prefix, sizeof prefix, "%.*s ", (int)len, name);
        fprintf(f, "    %.*s)\n        if ((CURRENT == 2)); then\n        ", (int)len, name);
        zsh_describe(f, prefix);
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
    zsh_describe(f, "");
    fputs("    names+=('help:what a command takes, with examples')\n"
          "    _describe command names\n    return\nfi\n"
          "command=$words[1]\ncase $command in\n",
          f);
    zsh_groups(f);
    fputs("esac\ncase $command in\n", f);
    for (size_t c = 0; c < n_commands; c++)
        zsh_arguments(f, commands[c]);
    fputs("esac\n", f);
}

/* Print text for fish in single quotes, with quotes and backslashes escaped. */
static void fish_quote(FILE *f, const char *text)
{
    fputc('\'', f);
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            fputc('\\', f);
        fputc(*text, f);
    }
    fputc('\'', f);
}

static const char fish_head[] =
    "# Completion of fbp in fish.  Made by: fbp help --completion fish\n"
    "# Print the complete words after fbp, without a leading help; the word at the cursor is not "
    "complete.\n"
    "function __fbp_words\n"
    "    set -l words (commandline -opc)\n"
    "    set -e words[1]\n"
    "    test \"$words[1]\" = help; and set -e words[1]\n"
    "    string join \\n -- $words\n"
    "end\n"
    "# True if the complete words are exactly the arguments.\n"
    "function __fbp_after\n"
    "    set -l words (__fbp_words)\n"
    "    test \"$words\" = \"$argv\"\n"
    "end\n"
    "# True if the complete words begin with the arguments.\n"
    "function __fbp_in\n"
    "    set -l words (__fbp_words)\n"
    "    set -l n (count $argv)\n"
    "    test (count $words) -ge $n; and test \"$words[1..$n]\" = \"$argv\"\n"
    "end\n"
    "complete -c fbp -f\n"
    "complete -c fbp -n __fbp_after -a help -d 'what a command takes, with examples'\n";

/* Print for fish the completion of the name of command c, which has one or two words. */
static void fish_lead(FILE *f, size_t c)
{
    const struct command *command = commands[c];
    const size_t len = first_word(command->name);
    const bool is_group = command->name[len] != '\0';

    if (is_first(c)) {
        fprintf(f, "complete -c fbp -n __fbp_after -a %.*s -d ", (int)len, command->name);
        fish_quote(f, is_group ? "several commands" : command->summary);
        fputc('\n', f);
    }
    if (is_group) {
        fprintf(f, "complete -c fbp -n '__fbp_after %.*s' -a %s -d ", (int)len, command->name,
                command->name + len + 1);
        fish_quote(f, command->summary);
        fputc('\n', f);
    }
}

static void fish_option(FILE *f, const struct command *c, const struct opt *o)
{
    const enum value value = value_of(o);
    char about[OPT_ABOUT];

    fprintf(f, "complete -c fbp -n '__fbp_in %s'", c->name);
    if (o->positional) {
        fputs(" -F\n", f);
        return;
    }
    fprintf(f, " -l %s", o->name);
    if (o->letter)
        fprintf(f, " -s %c", o->letter);
    if (value != NO_VALUE)
        fputs(value == PATH || value == CHOICE_OR_PATH ? " -r -F" : " -x", f);
    if (value == CHOICE || value == CHOICE_OR_PATH) {
        fputs(" -a '", f);
        print_choices(f, o);
        fputc('\'', f);
    }
    fputs(" -d ", f);
    fish_quote(f, opt_about(o, about, sizeof about));
    fputc('\n', f);
}

void manual_fish(FILE *f)
{
    fputs(fish_head, f);
    for (size_t c = 0; c < n_commands; c++) {
        fish_lead(f, c);
        for (size_t i = 0; i < commands[c]->n_opts; i++)
            fish_option(f, commands[c], &commands[c]->opts[i]);
        fprintf(f, "complete -c fbp -n '__fbp_in %s' -l help -s h -d 'show the help'\n",
                commands[c]->name);
        if (commands[c]->groups)
            fprintf(f, "complete -c fbp -n '__fbp_in %s' -l help-all -d 'show all options'\n",
                    commands[c]->name);
    }
}
