/* `fbp help` with --commands, --man or --completion: chooses the printer (page.c, bash.c, zsh.c,
 * fish.c).  program.c calls manual_run(). */
#include "manual/manual.h"

#include <string.h>

static int usage(void)
{
    cli_error("help: expected --commands, --man [COMMAND], or --completion followed by bash, zsh "
              "or fish");
    return OPT_USAGE;
}

static int completion(const char *shell)
{
    static const struct {
        const char *name;
        void (*print)(FILE *f);
    } shells[] = {{"bash", manual_bash}, {"zsh", manual_zsh}, {"fish", manual_fish}};

    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (strcmp(shell, shells[i].name) == 0) {
            shells[i].print(stdout);
            return OPT_DONE;
        }
    return usage();
}

/* Print the man page of a command, given in one or two arguments; without arguments that of fbp. */
static int page(int argc, char **argv)
{
    char name[80];

    if (argc == 0) {
        manual_page(stdout, NULL);
        return OPT_DONE;
    }
    snprintf(name, sizeof name, "%s%s%s", argv[0], argc > 1 ? " " : "", argc > 1 ? argv[1] : "");
    for (size_t i = 0; i < n_commands; i++)
        if (strcmp(commands[i]->name, name) == 0 ||
            (commands[i]->alias && strcmp(commands[i]->alias, name) == 0)) {
            manual_page(stdout, commands[i]);
            return OPT_DONE;
        }
    return usage();
}

int manual_run(int argc, char **argv)
{
    if (argc == 1 && strcmp(argv[0], "--commands") == 0) {
        for (size_t i = 0; i < n_commands; i++)
            printf("%s\n", commands[i]->name);
        return OPT_DONE;
    }
    if (argc >= 1 && argc <= 3 && strcmp(argv[0], "--man") == 0)
        return page(argc - 1, argv + 1);
    if (argc == 2 && strcmp(argv[0], "--completion") == 0)
        return completion(argv[1]);
    return OPT_GO_ON;
}
