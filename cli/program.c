/* The main function that fbp and fbp-bench share: finds the command that the command line names,
 * runs it, prints help and messages about unknown commands, and returns the exit status. */
#include "program.h"

#include "manual/manual.h"
#include "say.h"
#include "signals.h"
#include "team.h"
#include "words.h"

#include "base/sandbox.h"

#include <malloc.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* Number of words in `words` ("geometry show": 2) if argv begins with them, else 0. */
static int match(const char *words, int argc, char **argv)
{
    int n = 0;

    for (const char *at = words; *at; n++) {
        const size_t len = strcspn(at, " ");
        if (n >= argc || strlen(argv[n]) != len || strncmp(argv[n], at, len) != 0)
            return 0;
        at += len + strspn(at + len, " ");
    }
    return n;
}

/* Index of the command that argv begins with; n_commands: none. *n_words: words of its name. */
static size_t find_command(int argc, char **argv, int *n_words)
{
    size_t i = 0;

    for (; i < n_commands; i++) {
        *n_words = match(commands[i]->name, argc, argv);
        if (!*n_words && commands[i]->alias)
            *n_words = match(commands[i]->alias, argc, argv);
        if (*n_words)
            break;
    }
    return i;
}

static const char *command_name(const void *list, size_t i)
{
    (void)list;
    return commands[i]->name;
}

/* Is `word` the first word of a command name with two words, such as "geometry"? */
static bool is_group(const char *word)
{
    const size_t len = strlen(word);

    for (size_t i = 0; i < n_commands; i++)
        if (strncmp(commands[i]->name, word, len) == 0 && commands[i]->name[len] == ' ')
            return true;
    return false;
}

static void list_group(FILE *f, const char *word)
{
    const size_t len = strlen(word);

    for (size_t i = 0; i < n_commands; i++)
        if (strncmp(commands[i]->name, word, len) == 0 && commands[i]->name[len] == ' ')
            fprintf(f, "  fbp %-17s %s\n", commands[i]->name, commands[i]->summary);
    if (!program->run_other) /* fbp-bench, whose commands are all in groups */
        fputs(program->more, f);
}

/* Write the commands of a group to buf: "fbp geometry show, fbp geometry check". Returns buf. */
static const char *name_group(char *buf, size_t n, const char *word)
{
    const size_t len = strlen(word);
    size_t used = 0;

    buf[0] = '\0';
    for (size_t i = 0; i < n_commands && used < n; i++)
        if (strncmp(commands[i]->name, word, len) == 0 && commands[i]->name[len] == ' ')
            used += (size_t)snprintf(buf + used, n - used, "%sfbp %s", used ? ", " : "",
                                     commands[i]->name);
    return buf;
}

/* Kind of the first word of a command line: WORD_HELP for --help, -h, -help or help; WORD_VERSION
 * for
 * --version, -V, -v or version. */
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

/* Report that the first word is a file or folder, because the command is missing. */
static int is_a_file(const char *path, bool folder)
{
    cli_error(folder ? "%s is a folder, not a command; fbp init FOLDER writes a scan file for it; "
                       "see fbp --help"
                     : "%s is a file, not a command; fbp info FILE describes it, fbp recon "
                       "reconstructs a scan; see fbp --help",
              path);
    return OPT_USAGE;
}

/* argv[0] names a group ("geometry"), but argv[1] is missing or unknown: report it, or print the
 * help of the group. */
static int unknown_of_group(int argc, char **argv)
{
    char there[300];

    name_group(there, sizeof there, argv[0]);
    if (argc > 1 && is_help(argv[1])) {
        list_group(stdout, argv[0]);
        return OPT_DONE;
    }
    if (argc > 1 && argv[1][0] != '-' && access(argv[1], F_OK) != 0)
        cli_error("unknown command \"%s %s\"; expected one of: %s", argv[0], argv[1], there);
    else
        cli_error("%s: incomplete command; expected one of: %s", argv[0], there);
    return OPT_USAGE;
}

/* Name of a command that follows an option, such as "recon" in "fbp -q recon"; NULL: none. */
static const char *later_command(int argc, char **argv)
{
    int n_words;

    for (int i = 1; i < argc && argv[0][0] == '-'; i++) {
        const size_t c = find_command(argc - i, argv + i, &n_words);
        if (c < n_commands)
            return commands[c]->name;
    }
    return NULL;
}

static int unknown_command(int argc, char **argv)
{
    if (is_group(argv[0]))
        return unknown_of_group(argc, argv);
    const char *meant = word_command(argv[0] + strspn(argv[0], "-"));
    const char *near =
        meant || argv[0][0] == '-' ? meant : opt_nearest(argv[0], command_name, NULL, n_commands);
    struct stat info;
    if (stat(argv[0], &info) == 0)
        return is_a_file(argv[0], S_ISDIR(info.st_mode));
    const char *what = argv[0][0] == '-' ? "option" : "command", *later = later_command(argc, argv);
    if (later) {
        cli_error(
            "options follow the command; expected fbp %s … %s, got \"%s\" first; see fbp --help",
            later, argv[0], argv[0]);
        return OPT_USAGE;
    }
    if (near)
        cli_error("unknown %s \"%s\"; did you mean fbp %s?; see fbp --help", what, argv[0], near);
    else
        cli_error("unknown %s \"%s\"; see fbp --help", what, argv[0]);
    return OPT_USAGE;
}

static int help(int argc, char **argv)
{
    const int first = argc > 0 && strcmp(argv[0], "--man") == 0;
    int n_words;

    if (argc > first && program->run_other && program->is_other(argv[first]))
        return program->run_other(argc + 1, argv - 1);
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

/* Is --json among the words? Checked before they are parsed, because usage errors are JSON as well.
 */
static bool wants_object(int argc, char **argv)
{
    bool is_given = false;

    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const size_t len = strcspn(argv[i], "=");
        is_given =
            is_given || (len == strlen("--json") && strncasecmp(argv[i], "--json", len) == 0);
    }
    return is_given;
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
    if (program->run_other && program->is_other(argv[0]))
        return program->run_other(argc, argv);
    const size_t i = find_command(argc, argv, &n_words);
    if (i == n_commands)
        return unknown_command(argc, argv);
    return commands[i]->run(commands[i], argc - n_words, argv + n_words);
}

/* Finish output and team; returns the exit status. Rank 0 prints a failure before it waits for the
 * other ranks: if one of them was killed, the launcher soon ends this process as well. */
static int end(int rc)
{
    const bool at_once = rc != 0 && say_failed() && team_is_first();

    if (!at_once)
        rc = team_end(rc);
    rc = say_close(rc);
    (void)fflush(stdout);
    if (at_once)
        rc = team_end(rc);
    team_leave();
    return rc;
}

int program_main(const struct program *p, int argc, char **argv)
{
    program = p;
    commands = p->commands;
    n_commands = p->n_commands;
    /* Blocks from 128 KiB on return to the system when they are freed, in every thread, because
     * --memory is a hard limit. */
    mallopt(M_MMAP_THRESHOLD, 128 << 10);
    say_open_streams();
    say_watch_memory();
    signals_start();
    say_open(wants_object(argc - 1, argv + 1));
    int rc = end(run(argc - 1, argv + 1));
    if (rc != 0 && signals_status())
        rc = signals_status();
    return say_close_output(rc);
}
