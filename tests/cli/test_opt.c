/* The option tables: values, ranges, and a help that mentions every option. */
#include "words.h"

#include "base/text.h"
#include "bench/commands.h"
#include "filter/filter.h"
#include "test.h"

/* The commands of both programs. */
extern const struct command cmd_recon;

static const struct command *all[64];
static size_t n_all;

static void add_commands(const struct program *p)
{
    for (size_t i = 0; i < p->n_commands && n_all < sizeof all / sizeof *all; i++)
        all[n_all++] = p->commands[i];
}

struct args {
    const char *text, *positional;
    bool flag;
    int number;
    size_t size, bytes, grid[3], pair[2];
    double real, window[2], length, lengths[3];
    unsigned choice;
    struct opt_range some, box[3];
};

static const char *const names[] = {"", "one", "two", NULL};
static const struct opt table[] = {
    OPT(struct args, positional, .name = "file", .positional = true, .help = "p"),
    OPT(struct args, text, .name = "text", .letter = 't', .arg = "TEXT", .help = "t"),
    OPT(struct args, flag, .name = "flag", .letter = 'f', .help = "f"),
    OPT(struct args, number, .name = "number", .arg = "N", .min = -5, .max = 5, .help = "n"),
    OPT(struct args, size, .name = "size", .arg = "N", .help = "s"),
    OPT_BYTE_COUNT(struct args, bytes, .name = "bytes", .arg = "BYTES", .help = "b"),
    OPT(struct args, grid, .name = "grid", .arg = "N|NxMxL", .min = 1, .max = 1000, .help = "g"),
    OPT(struct args, pair, .name = "pair", .arg = "UxV", .min = 1, .max = 1000, .help = "p"),
    OPT(struct args, real, .name = "real", .arg = "X", .help = "r"),
    OPT(struct args, window, .name = "window", .arg = "LO,HI", .min = -9, .max = 9, .help = "w"),
    OPT(struct args, length, .name = "length", .arg = "MM", .min = 1e-3, .max = 1000, .help = "l"),
    OPT(struct args, lengths, .name = "lengths", .arg = "MM|XxYxZ", .min = 0, .max = 9,
        .help = "l"),
    OPT(struct args, choice, .name = "choice", .arg = "NAME", .names = names, .help = "c"),
    OPT(struct args, some, .name = "some", .arg = "K|FROM:TO", .help = "s"),
    OPT(struct args, box, .name = "box", .arg = "X0:X1,Y0:Y1,Z0:Z1", .help = "b"),
};
static const struct command command = {
    .name = "test", .summary = "s", .usage = "u", COMMAND_OPTS(table)};

/* Parse "a b c"; the words stay valid until the next call. */
static int parse(struct args *a, const char *line)
{
    static char copy[400];
    char *argv[40];
    int argc = 0;

    *a = (struct args){0};
    snprintf(copy, sizeof copy, "%s", line);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
        argv[argc++] = word;
    return opt_parse(&command, a, argc, argv);
}

TEST(test_values)
{
    struct args a;

    assert_int_equal(parse(&a, "--text=a=b --flag --number -5 --size 12 --real -1.5e-3 "
                               "--choice two in.json"),
                     OPT_GO_ON);
    assert_string_equal(a.text, "a=b");
    assert_string_equal(a.positional, "in.json");
    assert_true(a.flag);
    assert_int_equal(a.number, -5);
    assert_int_equal(a.size, 12);
    assert_true(a.real == -1.5e-3);
    assert_int_equal(a.choice, 2);
    assert_int_equal(parse(&a, "--text - in.json"), OPT_GO_ON);
    assert_string_equal(a.text, "-");
    assert_int_equal(parse(&a, "--text --flag"), OPT_USAGE); /* not its value */
    assert_int_equal(parse(&a, "--text -f"), OPT_USAGE);
    assert_int_equal(parse(&a, "--text --unknown"), OPT_USAGE);
    assert_int_equal(parse(&a, "--text=--flag"), OPT_GO_ON);
    assert_string_equal(a.text, "--flag");
}

TEST(test_lists)
{
    struct args a;

    assert_int_equal(parse(&a, "--grid 7 --pair 3x4 --window=-1,2.5"), OPT_GO_ON);
    assert_true(a.grid[0] == 7 && a.grid[1] == 7 && a.grid[2] == 7);
    assert_true(a.pair[0] == 3 && a.pair[1] == 4);
    assert_true(a.window[0] == -1 && a.window[1] == 2.5);
    assert_int_equal(parse(&a, "--grid 7x8x9"), OPT_GO_ON);
    assert_true(a.grid[0] == 7 && a.grid[1] == 8 && a.grid[2] == 9);
}

TEST(test_lengths)
{
    struct args a;

    assert_int_equal(parse(&a, "--length 25um --lengths 0.2cm"), OPT_GO_ON);
    assert_true(a.length == 0.025);
    assert_true(a.lengths[0] == 2 && a.lengths[1] == 2 && a.lengths[2] == 2);
    assert_int_equal(parse(&a, "--length 1m --lengths 1mmx2x300um"), OPT_GO_ON);
    assert_true(a.length == 1000);
    assert_true(a.lengths[0] == 1 && a.lengths[1] == 2 && a.lengths[2] == 0.3);
}

static void assert_range(const struct opt_range *r, size_t first, size_t end, bool single)
{
    assert_true(r->given);
    assert_int_equal(r->first, first);
    assert_int_equal(r->end, end);
    assert_int_equal(r->single, single);
}

TEST(test_ranges)
{
    struct args a;

    assert_int_equal(parse(&a, "--some 80"), OPT_GO_ON);
    assert_range(&a.some, 80, 81, true);
    assert_false(a.box[0].given);
    assert_int_equal(parse(&a, "--some 0:1"), OPT_GO_ON);
    assert_range(&a.some, 0, 1, false);
    assert_int_equal(parse(&a, "--some :"), OPT_GO_ON);
    assert_range(&a.some, 0, 0, false);
    assert_int_equal(parse(&a, "--some=80:"), OPT_GO_ON);
    assert_range(&a.some, 80, 0, false);
    assert_int_equal(parse(&a, "--box :,:7,80:100"), OPT_GO_ON);
    assert_range(&a.box[0], 0, 0, false);
    assert_range(&a.box[1], 0, 7, false);
    assert_range(&a.box[2], 80, 100, false);
}

TEST(test_bytes)
{
    static const struct {
        const char *line;
        size_t bytes;
    } rows[] = {
        {"--bytes 1000", 1000},    {"--bytes 1K", 1024},        {"--bytes 150M", 150ul << 20},
        {"--bytes 8G", 8ul << 30}, {"--bytes 1.5g", 3ul << 29}, {"--bytes 2GiB", 2ul << 30},
        {"--bytes=0.5K", 512},
    };
    struct args a;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(parse(&a, rows[i].line), OPT_GO_ON);
        assert_int_equal(a.bytes, rows[i].bytes);
    }
}

TEST(test_words)
{
    struct args a;

    assert_int_equal(parse(&a, "-t x -f"), OPT_GO_ON);
    assert_string_equal(a.text, "x");
    assert_int_equal(parse(&a, "-tx"), OPT_GO_ON);
    assert_string_equal(a.text, "x");
    assert_int_equal(parse(&a, "-- --flag"), OPT_GO_ON);
    assert_string_equal(a.positional, "--flag");
    assert_false(a.flag);
    assert_int_equal(parse(&a, "--number 1 --number 2"), OPT_GO_ON);
    assert_int_equal(a.number, 2);
}

TEST(test_wrong)
{
    static const char *const lines[] = {
        "--number 6",     "--number 1.5", "--number x",
        "--number",       "--number 0x3", "--size -1",
        "--size 1e99",    "--size nan",   "--bytes 1Q",
        "--bytes -1",     "--bytes 1KB",  "--grid 1x2",
        "--grid 1x2x3x4", "--grid 0",     "--grid 1x",
        "--grid 1,2,3",   "--pair 3",     "--pair 3x",
        "--window 1",     "--window 1x2", "--window 1,10",
        "--real inf",     "--real nan",   "--real 1e999",
        "--choice three", "--choice=",    "--flag=1",
        "--unknown",      "-x",           "one two",
        "--text=",        "-fx",          "--bytes 99999999999T",
        "--some 5:5",     "--some 5:4",   "--some 0:0",
        "--some -1:4",    "--some 1:2:3", "--some 1.5",
        "--some x",       "--some 1:x",   "--some 99999999999999999999",
        "--some=",        "--box 1",      "--box 1:2,3:4",
        "--box 1,2,3",    "--box :,:,:,", "--box :,:,x",
        "--length 25nm",  "--length 2m",  "--length 1mmm",
        "--real 1mm",     "--size 1mm",   "--lengths 1mmx2inx3",
    };
    struct args a;

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (parse(&a, lines[i]) != OPT_USAGE)
            fail_msg("accepted: %s", lines[i]);
}

static char *help_of(const struct command *c)
{
    char *text = NULL;
    size_t n;
    FILE *f = not_null(open_memstream(&text, &n));

    opt_help(f, c, true);
    fclose(f);
    return text;
}

/* Each option of a command with groups is in one of them, and the first page has at most 40. */
TEST(groups_have_every_option_once)
{
    for (size_t k = 0; k < n_all; k++) {
        size_t n_common = 0;
        for (size_t i = 0; all[k]->groups && i < all[k]->n_opts; i++) {
            const struct opt *o = &all[k]->opts[i];
            int n = o->positional;
            for (const struct opt_group *g = all[k]->groups; g->title; g++) {
                n_common += opt_is_listed(g->common, o->name);
                n += opt_is_listed(g->common, o->name) + opt_is_listed(g->rare, o->name);
            }
            if (n != 1)
                fail_msg("%s: --%s is in %d groups", all[k]->name, o->name, n);
        }
        assert_true(n_common <= 40);
    }
}

/* Every option, its metavariable and its names are in the help, no line is wider than a screen. */
TEST(test_help)
{
    char dashed[80];

    for (size_t k = 0; k < n_all; k++) {
        AUTO_FREE char *text = help_of(all[k]);
        for (size_t i = 0; i < all[k]->n_opts; i++) {
            const struct opt *o = &all[k]->opts[i];
            snprintf(dashed, sizeof dashed, "%s%s%s%s", o->positional ? "" : "--", o->name,
                     o->arg ? " " : "", o->arg ? o->arg : "");
            if (!strstr(text, dashed))
                fail_msg("%s: the help lacks %s", all[k]->name, dashed);
            for (size_t j = 0; o->type == OPT_ENUM && opt_choice(o, j); j++)
                assert_contains(text, opt_choice(o, j));
        }
        for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
            if (strcspn(line, "\n") > 80)
                fail_msg("%s: wider than 80 columns: %.90s", all[k]->name, line);
    }
}

/* Tables are consistent: unique names and letters, values where a type needs them. */
TEST(test_tables)
{
    for (size_t k = 0; k < n_all; k++)
        for (size_t i = 0; i < all[k]->n_opts; i++) {
            const struct opt *o = &all[k]->opts[i];
            assert_true(o->name && o->help && o->help[0]);
            assert_true(!opt_takes_value(o) || o->positional || o->arg);
            assert_true(o->type != OPT_ENUM || opt_choice(o, 0));
            assert_true(o->min <= o->max);
            for (size_t j = 0; j < i; j++) {
                const struct opt *q = &all[k]->opts[j];
                assert_string_not_equal(o->name, q->name);
                assert_true(!o->letter || o->letter != q->letter);
            }
        }
}

/* The names on the command line are those of the library. */
TEST(test_filters)
{
    const struct opt *filter = NULL;
    unsigned i = 0;

    for (size_t k = 0; k < cmd_recon.n_opts; k++)
        if (strcmp(cmd_recon.opts[k].name, "filter") == 0)
            filter = &cmd_recon.opts[k];
    assert_non_null(filter);
    for (; opt_choice(filter, i); i++)
        assert_string_equal(opt_choice(filter, i), fbp_filter_name((enum fbp_filter)i));
    assert_null(fbp_filter_name((enum fbp_filter)i));
}

static const struct command *command_of(const char *name)
{
    for (size_t k = 0; k < n_all; k++)
        if (strcmp(all[k]->name, name) == 0)
            return all[k];
    fail_msg("no command %s", name);
    return NULL;
}

/* Words of other programs and the other English: what they stand for. */
TEST(test_meanings)
{
    static const struct {
        const char *command, *word, *option; /* NULL: none */
        enum word_kind kind;
    } rows[] = {
        {"recon", "center", "centre", WORD_OPTION},
        {"recon", "rotation_center", "centre", WORD_OPTION},
        {"geometry check", "center", "centre", WORD_OPTION},
        {"init", "pixel", "pitch", WORD_OPTION},
        {"simulate", "pixel-size", "pitch", WORD_OPTION},
        {"rabbitct make", "pixel_size", "pitch", WORD_OPTION},
        {"geometry convert", "pixel", "pitch", WORD_OPTION},
        {"recon", "SOD", "sod", WORD_OPTION},
        {"recon", "sad", "sod", WORD_OPTION},
        {"recon", "dso", "sod", WORD_OPTION},
        {"init", "DSD", "sdd", WORD_OPTION},
        {"recon", "sid", NULL, WORD_SENTENCE},
        {"recon", "output_type", "output-type", WORD_OPTION},
        {"recon", "out", "output", WORD_OPTION},
        {"recon", "outfile", "output", WORD_OPTION},
        {"recon", "input", "scan.json", WORD_OPTION},
        {"view", "i", "volume", WORD_OPTION},
        {"recon", "gpu", NULL, WORD_SENTENCE},
        {"recon", "iterations", NULL, WORD_SENTENCE},
        {"recon", "geometry", NULL, WORD_SENTENCE},
        {"recon", "verbose", NULL, WORD_IGNORED},
        {"info", "V", NULL, WORD_VERSION},
        {"info", "version", NULL, WORD_VERSION},
        {"info", "usage", NULL, WORD_HELP},
        {"recon", "window", "filter", WORD_OPTION},
        {"view", "range", "window", WORD_OPTION},
        {"recon", "range", "output-range", WORD_OPTION},
        {"view", "colour", NULL, WORD_SENTENCE},
        {"recon", "voxel-size", "voxel", WORD_OPTION},
        {"recon", "j", "threads", WORD_OPTION},
        {"recon", "dry-run", "plan", WORD_OPTION},
        {"devices", "threads", NULL, WORD_UNKNOWN},
        {"recon", "nonsense", NULL, WORD_UNKNOWN},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct word_meaning m = word_meaning(command_of(rows[i].command), rows[i].word);
        if (m.kind != rows[i].kind)
            fail_msg("%s --%s: kind %d", rows[i].command, rows[i].word, (int)m.kind);
        assert_int_equal(m.option != NULL, rows[i].option != NULL);
        if (m.option)
            assert_string_equal(m.option->name, rows[i].option);
        assert_true((m.kind == WORD_SENTENCE) == (m.kind == WORD_SENTENCE && m.sentence));
    }
}

/* Each word of the table leads somewhere, and hides no option of its own name. */
TEST(test_word_table)
{
    for (size_t i = 0; i < word_table_length; i++) {
        const struct word *w = &word_table[i];
        bool reached = w->kind != WORD_UNKNOWN || w->sentence;

        AUTO_FREE char *first = printed("%.*s", (int)strcspn(w->words, " "), w->words);
        for (size_t k = 0; k < n_all && !reached; k++) {
            const struct word_meaning m = word_meaning(all[k], first);
            reached = m.option && (strcmp(w->options, ".") == 0 ? m.option->positional
                                                                : strcmp(m.option->name, first));
        }
        if (!reached)
            fail_msg("no command has what --%s stands for", first);
    }
}

TEST(test_understood)
{
    struct args a;

    assert_int_equal(parse(&a, "--SIZE 12 --input in.json --verbose"), OPT_GO_ON);
    assert_int_equal(a.size, 12);
    assert_string_equal(a.positional, "in.json");
    assert_int_equal(parse(&a, "-text x"), OPT_USAGE); /* not -t with the value "ext" */
    assert_int_equal(parse(&a, "-i a -i b"), OPT_GO_ON);
    assert_string_equal(a.positional, "b");
    assert_int_equal(parse(&a, "--input"), OPT_USAGE);
    assert_int_equal(parse(&a, "-V"), OPT_DONE);
    assert_int_equal(parse(&a, "--usage"), OPT_DONE);
    assert_int_equal(parse(&a, "--choice TWO"), OPT_GO_ON);
    assert_int_equal(a.choice, 2);
    assert_int_equal(parse(&a, "--choice t-wo"), OPT_GO_ON);
    assert_int_equal(parse(&a, "--choice tw"), OPT_USAGE);
    assert_string_equal(fbp_usual_name("Hanning"), "hann");
    assert_string_equal(fbp_usual_name("hann"), "hann");
}

int main(int argc, char **argv)
{
    add_commands(&program_fbp);
    add_commands(&program_bench);
    return run_file_tests(argc, argv, NULL, NULL);
}
