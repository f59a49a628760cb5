/* program_main(), the main function that fbp and fbp-bench share: finds and runs the command that
 * the command line names, prints help, handles signals (signals_start(), signals_status()),
 * returns the exit status.
 * Used by: bench/, cli/, serve/. */
#include "program.h"
#include "manual/manual.h"
#include "say.h"
#include "team.h"
#include "words.h"

#include "base/sandbox.h"
#include "base/threads.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#if defined(__linux__)
#    include <malloc.h>
#endif
#include <unistd.h>

/* The first signal that was received; 0: none. Set by a signal handler, read by any thread. */
static atomic_int received;
_Static_assert(ATOMIC_INT_LOCK_FREE == 2, "a signal handler sets it");

static void on_signal(int number)
{
    int none = 0;

    if (!atomic_compare_exchange_strong(&received, &none, number))
        _exit(128 + number);
    fbp_stop();
}

void signals_start(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    /* SA_RESTART: system calls continue; loops that wait check signals_status(). */
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, was;

    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i] != SIGHUP || sigaction(SIGHUP, NULL, &was) != 0 || was.sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
    signal(SIGXFSZ, SIG_IGN);
}

int signals_status(void)
{
    const int number = atomic_load(&received);

    return number ? 128 + number : 0;
}

static const struct program *program;

static void help_all(FILE *f)
{
    fprintf(f, "%s\n\nUsage: fbp COMMAND [arguments]\n\n", program->title);
    for (size_t i = 0; i < n_commands; i++)
        fprintf(f, "  %-17s %s\n", commands[i]->name, commands[i]->summary);
    fprintf(f,
            "\n"
            "  fbp COMMAND --help    what a command takes, with examples\n"
            "  fbp --version         the release\n%s",
            program->more);
}

/* Index of the command whose name or alias begins argv; n_commands: none. *n_words: number of words
 * of the name, such as 2 for "geometry show". */
static size_t find_command(int argc, char **argv, int *n_words)
{
    for (size_t i = 0; i < n_commands; i++)
        for (int k = 0; k < 2; k++) {
            const char *at = k ? commands[i]->alias : commands[i]->name;
            for (*n_words = 0; at && *at && *n_words < argc; ++*n_words) {
                const size_t len = strcspn(at, " ");
                if (strlen(argv[*n_words]) != len || strncmp(argv[*n_words], at, len) != 0)
                    break;
                at += len + strspn(at + len, " ");
            }
            if (at && !*at)
                return i;
        }
    return n_commands;
}

static const char *command_name(const void *list, size_t i)
{
    (void)list;
    return commands[i]->name;
}

/* True if command i belongs to the group `word`, as "geometry show" belongs to "geometry". */
static bool is_in_group(size_t i, const char *word)
{
    const size_t len = strlen(word);

    return strncmp(commands[i]->name, word, len) == 0 && commands[i]->name[len] == ' ';
}

static bool is_group(const char *word)
{
    size_t i = 0;

    while (i < n_commands && !is_in_group(i, word))
        i++;
    return i < n_commands;
}

static void list_group(FILE *f, const char *word)
{
    for (size_t i = 0; i < n_commands; i++)
        if (is_in_group(i, word))
            fprintf(f, "  fbp %-17s %s\n", commands[i]->name, commands[i]->summary);
    /* In fbp-bench, the help of a group of commands ends like the help of the program. */
    if (!program->starts_bench)
        fputs(program->more, f);
}

/* Kind of the first word of a command line: WORD_HELP if it requests help, such as --help, -h or
 * help; WORD_VERSION if it requests the version, such as --version, -V or -v; else another kind. */
static enum word_kind kind_of(const char *word)
{
    static const struct command none = {.name = ""};
    const char *bare = word + strspn(word, "-");

    return strcmp(bare, "v") == 0 && *word == '-' ? WORD_VERSION : word_meaning(&none, bare).kind;
}

static bool is_help(const char *word)
{
    return kind_of(word) == WORD_HELP;
}

/* Handle argv[0] that is a group of commands ("geometry"), if argv[1] is missing or no command of
 * the group: print an error, or the help of the group if argv[1] requests help. */
static int unknown_in_group(int argc, char **argv)
{
    char names[300] = "";

    if (argc > 1 && is_help(argv[1])) {
        list_group(stdout, argv[0]);
        return OPT_DONE;
    }
    for (size_t i = 0, used = 0; i < n_commands && used < sizeof names; i++)
        if (is_in_group(i, argv[0]))
            used += (size_t)snprintf(names + used, sizeof names - used, "%sfbp %s",
                                     used ? ", " : "", commands[i]->name);
    if (argc > 1 && argv[1][0] != '-' && access(argv[1], F_OK) != 0)
        cli_error("unknown command \"%s %s\"; expected one of: %s", argv[0], argv[1], names);
    else
        cli_error("%s: incomplete command; expected one of: %s", argv[0], names);
    return OPT_USAGE;
}

static int unknown_command(int argc, char **argv)
{
    if (is_group(argv[0]))
        return unknown_in_group(argc, argv);
    const char *meant = word_command(argv[0] + strspn(argv[0], "-"));
    const char *near =
        meant || argv[0][0] == '-' ? meant : opt_nearest(argv[0], command_name, NULL, n_commands);
    struct stat info;
    if (stat(argv[0], &info) == 0) {
        cli_error(S_ISDIR(info.st_mode)
                      ? "%s is a folder, not a command; fbp init FOLDER writes a scan file for it; "
                        "see fbp --help"
                      : "%s is a file, not a command; fbp info FILE describes it, fbp recon "
                        "reconstructs a scan; see fbp --help",
                  argv[0]);
        return OPT_USAGE;
    }
    const char *what = argv[0][0] == '-' ? "option" : "command", *later = NULL;
    for (int i = 1, n; i < argc && argv[0][0] == '-' && !later; i++) { /* "fbp -q recon" */
        const size_t c = find_command(argc - i, argv + i, &n);
        later = c < n_commands ? commands[c]->name : NULL;
    }
    if (later)
        cli_error(
            "options follow the command; expected fbp %s … %s, got \"%s\" first; see fbp --help",
            later, argv[0], argv[0]);
    else if (near)
        cli_error("unknown %s \"%s\"; did you mean fbp %s?; see fbp --help", what, argv[0], near);
    else
        cli_error("unknown %s \"%s\"; see fbp --help", what, argv[0]);
    return OPT_USAGE;
}

/* True if a command with this first word is run by the program fbp-bench. */
static bool is_of_bench(const char *word)
{
    return program->starts_bench && (strcmp(word, "bench") == 0 || strcmp(word, "rabbitct") == 0);
}

static int help(int argc, char **argv)
{
    const int first = argc > 0 && strcmp(argv[0], "--man") == 0;
    int n_words;

    if (argc > first && is_of_bench(argv[first]))
        return program_start_bench(argc + 1, argv - 1);
    const int made = manual_run(argc, argv);
    if (made != OPT_GO_ON)
        return made;
    if (argc == 0) {
        help_all(stdout);
        return OPT_DONE;
    }
    if (argc == 1 && is_group(argv[0])) {
        list_group(stdout, argv[0]);
        return OPT_DONE;
    }
    const size_t i = find_command(argc, argv, &n_words);
    if (i == n_commands)
        return unknown_command(argc, argv);
    opt_help(stdout, commands[i], false);
    return OPT_DONE;
}

static int run(int argc, char **argv)
{
    int n_words;

    fbp_isolate_readers(true);
    if (argc == 0) {
        help_all(stderr);
        return OPT_USAGE;
    }
    if (is_help(argv[0]))
        return help(argc - 1, argv + 1);
    if (kind_of(argv[0]) == WORD_VERSION) {
        opt_version(stdout);
        return OPT_DONE;
    }
    if (is_of_bench(argv[0]))
        return program_start_bench(argc, argv);
    const size_t i = find_command(argc, argv, &n_words);
    if (i == n_commands)
        return unknown_command(argc, argv);
    return commands[i]->run(commands[i], argc - n_words, argv + n_words);
}

int program_main(const struct program *p, int argc, char **argv)
{
    /* true: --json is on the command line, and errors about wrong usage are printed as JSON, too */
    bool json = false;

    program = p;
    commands = p->commands;
    n_commands = p->n_commands;
    /* return freed blocks of 128 KiB or more to the system, because --memory limits the process */
    mallopt(M_MMAP_THRESHOLD, 128 << 10);
    signals_start();
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        json = json || (strncasecmp(argv[i], "--json", 6) == 0 && strchr("=", argv[i][6]));
    say_open(json);
    int rc = run(argc - 1, argv + 1);
    /* Rank 0 prints before it waits: if a rank was killed, the launcher soon ends this one. */
    const bool print_first = rc != 0 && say_failed() && team_is_first();
    if (!print_first)
        rc = team_end(rc);
    rc = say_close(rc);
    (void)fflush(stdout);
    if (print_first)
        rc = team_end(rc);
    team_leave();
    if (rc != 0 && signals_status())
        rc = signals_status();
    return say_close_output(rc);
}
