/* Handles `fbp help` with --commands, --man or --completion (manual_run()): prints the names of all
 * commands, man pages in the macros of man(7), or completion scripts (by completion.c).
 * Used by: cli/program.c. */
#include "manual/manual.h"

#include "fbp/types.h"

#include <ctype.h>
#include <string.h>

/* Print text with all roff requests and escapes disabled. Minus, quotes, '^' and '~' stay ASCII
 * characters, because readers copy commands from the page to a shell. */
static void put(FILE *f, const char *text)
{
    bool at_start = true;

    for (; *text; text++) {
        const char c = *text;
        if (at_start && (c == '.' || c == '\''))
            fputs("\\&", f);
        if (c == '\\')
            fputs("\\e", f);
        else if (c == '-')
            fputs("\\-", f);
        else if (c == '\'')
            fputs("\\(aq", f);
        else if (c == '^')
            fputs("\\(ha", f);
        else if (c == '~')
            fputs("\\(ti", f);
        else if (c == '`')
            fputs("\\(ga", f);
        else
            fputc(c, f);
        at_start = c == '\n';
    }
}

static void put_line(FILE *f, const char *text)
{
    put(f, text);
    fputc('\n', f);
}

/* Print the name of a man page: fbp-recon for "recon", fbp-geometry-show for "geometry show". */
static void put_page_name(FILE *f, const char *command)
{
    fputs("fbp\\-", f);
    for (const char *p = command; *p; p++)
        fputs(*p == ' ' || *p == '-' ? "\\-" : (char[]){*p, '\0'}, f);
}

/* Print the title line of a man page, with the name in capitals, and the heading NAME. The title
 * has no date, because all builds of a release must print the same page. */
static void put_title(FILE *f, const char *command)
{
    fputs(command ? ".TH FBP\\-" : ".TH FBP", f);
    for (const char *p = command ? command : ""; *p; p++)
        if (*p == ' ' || *p == '-')
            fputs("\\-", f);
        else
            fputc(toupper((unsigned char)*p), f);
    fprintf(f, " 1 \"\" \"fbp %s\" \"fbp manual\"\n.SH NAME\n", fbp_version());
}

/* Print a reference to the man page of a command, such as ".BR fbp-recon (1)", then the text
 * `behind`; command NULL: a reference to the page of fbp. */
static void put_reference(FILE *f, const char *command, const char *behind)
{
    fputs(".BR ", f);
    if (command)
        put_page_name(f, command);
    else
        fputs("fbp", f);
    fprintf(f, " (1)%s\n", behind);
}

static void put_option(FILE *f, const struct opt *o)
{
    char about[OPT_ABOUT];

    fputs(".TP\n", f);
    if (o->positional) {
        fputs("\\fI", f);
    } else {
        fputs("\\fB", f);
        if (o->letter)
            fprintf(f, "\\-%c\\fR, \\fB", o->letter);
        fputs("\\-\\-", f);
    }
    put(f, o->name);
    fputs("\\fR", f);
    if (!o->positional && opt_takes_value(o) && o->arg) {
        fputs(" \\fI", f);
        put(f, o->arg);
        fputs("\\fR", f);
    }
    fputc('\n', f);
    put_line(f, opt_about(o, about, sizeof about));
    if (o->fallback) {
        fputs(".br\nDefault: ", f);
        put_line(f, o->fallback);
    }
}

static void put_options(FILE *f, const struct command *c)
{
    bool any = false;

    for (size_t i = 0; i < c->n_opts; i++)
        if (c->opts[i].positional) {
            fputs(any ? "" : ".SH ARGUMENTS\n", f);
            put_option(f, &c->opts[i]);
            any = true;
        }
    fputs(".SH OPTIONS\n", f);
    for (size_t i = 0; i < c->n_opts; i++)
        if (!c->opts[i].positional)
            put_option(f, &c->opts[i]);
    fputs(".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nshow the help\n", f);
    if (c->groups)
        fputs(".TP\n\\fB\\-\\-help\\-all\\fR\nshow all options, also the rare ones\n", f);
}

static void put_status(FILE *f)
{
    fputs(".SH EXIT STATUS\n.TP\n0\nDone.\n.TP\n1\nFailed; one line on standard error states the "
          "reason.\n.TP\n2\nWrong usage.\n",
          f);
}

static void put_example(FILE *f, const char *text)
{
    fputs(".SH EXAMPLES\n.nf\n", f);
    put(f, text);
    fputs(".fi\n", f);
}

/* Print the man page of the command c, or of fbp if c is NULL. */
static void print_page(FILE *f, const struct command *c)
{
    char line[OPT_ABOUT];

    if (c) {
        put_title(f, c->name);
        put_page_name(f, c->name);
        fputs(" \\- ", f);
        put_line(f, c->summary);
        fputs(".SH SYNOPSIS\n\\fBfbp ", f);
        put(f, c->name);
        fputs("\\fR ", f);
        put_line(f, c->usage);
        if (c->about) {
            fputs(".SH DESCRIPTION\n", f);
            for (const char *at = c->about; at;
                 at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL) {
                snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
                fputs(at == c->about ? "" : ".br\n", f);
                put_line(f, line);
            }
        }
        put_options(f, c);
        put_status(f);
        if (c->examples)
            put_example(f, c->examples);
        fputs(".SH SEE ALSO\n", f);
        put_reference(f, NULL, "");
        return;
    }
    put_title(f, NULL);
    fputs(
        "fbp \\- filtered backprojection, from measured projections to a volume\n"
        ".SH SYNOPSIS\n\\fBfbp\\fR \\fICOMMAND\\fR [\\fIarguments\\fR]\n"
        ".SH DESCRIPTION\nReconstructs volumes from X\\-ray projections of cone, fan and parallel "
        "beams, on CPUs and GPUs.\nValues are in 1/mm, or in Hounsfield units.\n"
        ".SH COMMANDS\n",
        f);
    for (size_t i = 0; i < n_commands; i++) {
        fputs(".TP\n", f);
        put_reference(f, commands[i]->name, "");
        put_line(f, commands[i]->summary);
    }
    put_status(f);
    put_example(f, "  fbp simulate --size 128 --views 180 -o scan.json\n"
                   "  fbp recon scan.json -o volume.mha\n"
                   "  fbp view volume.mha -o volume.png --window 0,0.4\n");
    fputs(".SH SEE ALSO\n", f);
    for (size_t i = 0; i < n_commands; i++)
        put_reference(f, commands[i]->name, i + 1 < n_commands ? " ," : "");
}

static int usage(void)
{
    cli_error("help: expected --commands, --man [COMMAND], or --completion followed by bash, zsh "
              "or fish");
    return OPT_USAGE;
}

int manual_run(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*print)(FILE *f);
    } shells[] = {{"bash", manual_bash}, {"zsh", manual_zsh}, {"fish", manual_fish}};
    char name[80];

    if (argc == 1 && strcmp(argv[0], "--commands") == 0) {
        for (size_t i = 0; i < n_commands; i++)
            printf("%s\n", commands[i]->name);
        return OPT_DONE;
    }
    if (argc == 1 && strcmp(argv[0], "--man") == 0) {
        print_page(stdout, NULL);
        return OPT_DONE;
    }
    if (argc >= 2 && argc <= 3 && strcmp(argv[0], "--man") == 0) {
        snprintf(name, sizeof name, "%s%s%s", argv[1], argc > 2 ? " " : "",
                 argc > 2 ? argv[2] : "");
        for (size_t i = 0; i < n_commands; i++)
            if (strcmp(commands[i]->name, name) == 0 ||
                (commands[i]->alias && strcmp(commands[i]->alias, name) == 0)) {
                print_page(stdout, commands[i]);
                return OPT_DONE;
            }
        return usage();
    }
    if (argc != 2 || strcmp(argv[0], "--completion") != 0)
        return OPT_GO_ON;
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (strcmp(argv[1], shells[i].name) == 0) {
            shells[i].print(stdout);
            return OPT_DONE;
        }
    return usage();
}
