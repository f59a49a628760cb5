/* Facts about options and command names that the printers of man pages and completions share
 * (page.c, bash.c, zsh.c, fish.c). */
#include "manual/manual.h"

#include <string.h>

enum manual_value manual_value_of(const struct opt *o)
{
    static const char *const paths[] = {"FILE", "VOLUME", "SCAN", "DIR", "FOLDER"};
    bool path = o->positional;

    if (!o->positional && !opt_takes_value(o))
        return MANUAL_NONE;
    for (size_t i = 0; o->arg && i < sizeof paths / sizeof *paths; i++)
        path = path || strstr(o->arg, paths[i]);
    if (opt_choice(o, 0))
        return path ? MANUAL_BOTH : MANUAL_CHOICE;
    return path ? MANUAL_PATH : MANUAL_OTHER;
}

void manual_choices(FILE *f, const struct opt *o)
{
    const char *name, *before = "";

    for (size_t i = 0; (name = opt_choice(o, i)); i++)
        if (*name) {
            fprintf(f, "%s%s", before, name);
            before = " ";
        }
}

size_t manual_first_word(const char *name)
{
    return strcspn(name, " ");
}

bool manual_is_first(size_t c)
{
    const size_t len = manual_first_word(commands[c]->name);

    for (size_t i = 0; i < c; i++)
        if (manual_first_word(commands[i]->name) == len &&
            strncmp(commands[i]->name, commands[c]->name, len) == 0)
            return false;
    return true;
}
