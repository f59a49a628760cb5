/* faults FBP INJECT NAME [quick] [only=TEXT] [kind=KIND[+]] [from=N] [to=N] [verbose]
 *
 * Works in a new folder NAME.PID, which is gone afterwards; quick: in memory, as a disk takes its
 * time for every fsync().
 *
 * Every command of the table (faults_cases.c), once for every kind of call and n: the n-th call of
 * the kind fails, with "+" all from there on (inject.c).  n grows until the command makes no such
 * call any more, or to 300.  A run must end
 *
 *   with 0 and the bytes that it writes without a fault, to files and standard output, or
 *   with 1 and one line on standard error, which is a sentence; where memory ended it says so,
 *
 * within some seconds; files under their final names are whole, of this run or of before; the same
 * command without a fault then does its work; the inputs are as they were; no child is left.
 */
#include "faults.h"
#include "inject.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MEMORY "/dev/shm"

enum { LAST = 300, SHOWN = 3 };

static char line[4096]; /* what the last command said on standard error */
static bool quick, verbose;
static unsigned long finds;

static struct fault_files inputs;

/* Of one command: what it leaves without a fault. */
static struct reference {
    struct fault_files before, files;
    uint64_t out;
    bool out_varies;
    char refusal[1000]; /* of what is never done */
} want;

static const char *const campaign[] = {
    "malloc",   "calloc",    "realloc", "memalign",  "memory+",     "mmap",       "thread",
    "thread+",  "fork",      "fork+",   "open",      "open+",       "read",       "read-short",
    "read-end", "read-intr", "write",   "write+",    "write-short", "write-intr", "rename",
    "link",     "close",     "fsync",   "truncate",  "unlink",      "stat",       "mkdir",
    "readdir",  "pipe",      "lock",    "poll-intr", "wait-intr",   "space",
};
enum { N_CAMPAIGN = sizeof campaign / sizeof *campaign };

static void begin(const struct fault_case *c)
{
    fault_empty(fault_path("run"));
    if (c->before)
        fault_copy(fault_path(c->before), fault_path("run"));
}

static void forget(struct reference *r)
{
    free(r->before.file);
    free(r->files.file);
    *r = (struct reference){0};
}

/* What the command leaves; what differs between two runs is marked. */
static bool take_reference(const struct fault_case *c)
{
    forget(&want);
    for (int turn = 0; turn < 2; turn++) {
        begin(c);
        if (turn == 0)
            want.before = fault_list(fault_path("run"));
        const int status = fault_run_whole("run", c->words);
        if (c->flags & FAULT_REFUSED)
            fault_text(fault_path("run.err"), want.refusal, sizeof want.refusal);
        if ((status != 0) != !!(c->flags & FAULT_REFUSED))
            return false;
        struct fault_files files = fault_list(fault_path("run"));
        const uint64_t out = fault_hash(fault_path("run.out"));
        want.out_varies = (c->flags & FAULT_VARIES) || (turn && out != want.out);
        want.out = out;
        for (size_t i = 0; turn && i < files.n; i++) {
            const struct fault_file *first = fault_find(&want.files, files.file[i].name);
            files.file[i].varies = !first || first->hash != files.file[i].hash;
        }
        free(want.files.file);
        want.files = files;
    }
    return true;
}

static bool is_whole(const struct fault_file *f, const struct fault_files *of)
{
    const struct fault_file *w = fault_find(of, f->name);

    return w && (w->varies || w->hash == f->hash);
}

/* All that the command writes is there, and nothing else; else what is wrong.  `others`: are there
 * files that are in the way of nobody? */
static const char *check_done(bool *others)
{
    static char text[400];
    struct fault_files is = fault_list(fault_path("run"));
    const char *wrong = NULL;

    size_t n = 0;

    *others = false;
    for (size_t i = 0; i < is.n && !wrong; i++) {
        const bool known = fault_find(&want.files, is.file[i].name);
        *others |= !known;
        n += known;
        if (known && !is_whole(&is.file[i], &want.files)) {
            snprintf(text, sizeof text, "exit status 0, but %s is different", is.file[i].name);
            wrong = text;
        }
    }
    if (!wrong && n != want.files.n)
        wrong = "exit status 0, but a file is missing";
    if (!wrong && !want.out_varies && fault_hash(fault_path("run.out")) != want.out)
        wrong = "exit status 0, but standard output differs";
    free(is.file);
    return wrong;
}

/* After a failure: final names are whole; are there others? */
static const char *check_failed(bool *others)
{
    static char text[400];
    struct fault_files is = fault_list(fault_path("run"));
    const char *wrong = NULL;

    *others = false;
    for (size_t i = 0; i < is.n && !wrong; i++) {
        const struct fault_file *f = &is.file[i];
        const bool final = !strstr(f->name, ".part") &&
                           (fault_find(&want.files, f->name) || fault_find(&want.before, f->name));
        *others |= !final;
        if (final && !is_whole(f, &want.files) && !is_whole(f, &want.before)) {
            snprintf(text, sizeof text, "%s is half-written", f->name);
            wrong = text;
        }
    }
    for (size_t i = 0; i < want.before.n && !wrong; i++)
        if (!fault_find(&is, want.before.file[i].name) &&
            fault_find(&want.files, want.before.file[i].name))
            wrong = "an old file is gone";
    free(is.file);
    return wrong;
}

/* What a sentence about such a call must hold: memory, or the system's words.  NULL: anything. */
static const char *const *words_of(int kind)
{
    static const struct {
        const char *kind, *words[8];
    } about[] = {
        {"malloc", {"memory", "allocate", "threads: the system"}},
        {"calloc", {"memory", "allocate", "threads: the system"}},
        {"realloc", {"memory", "allocate", "threads: the system"}},
        {"memalign", {"memory", "allocate", "threads: the system"}},
        {"memory", {"memory", "allocate", "threads: the system"}},
        {"mmap", {"memory", "allocate", "threads: the system"}},
        {"fork", {"ulimit -u"}},
        {"open", {"Too many open files", "not all of its files could be read"}},
        {"close", {"Input/output error"}},
        {"stat", {"Input/output error", "fbp: "}}, /* some take it for a missing file */
        {"readdir", {"Input/output error"}},
        {"mkdir", {"No space left"}},
        {"truncate", {"No space left", "the HDF5 header cannot be written"}},
        {"pipe", {"ulimit -n"}},
        {"seek", {"Input/output error"}},
        {"lock", {"No locks available"}},
        {"read", {"Input/output error", "not all of its files could be read"}},
        {"read-end",
         {"the file ends", "shorter", "truncated", "damaged", "empty", "not ", "no array"}},
        {"write", {"No space left"}},
        {"rename", {"Input/output error"}},
        {"fsync", {"Input/output error"}},
        {"thread", {"threads: the system"}},
    };

    for (size_t i = 0; i < sizeof about / sizeof *about; i++)
        if (strcmp(about[i].kind, fault_kinds[kind]) == 0)
            return about[i].words;
    return NULL;
}

static bool says_one(const char *const *words)
{
    bool found = false;

    for (; *words; words++)
        found |= strcasestr(line, *words) != NULL;
    return found;
}

/* The last line; commands that are not told to be quiet may say other things before. */
static const char *check_line(const struct fault_case *c, int kind)
{
    const char *const *words = words_of(kind), *last = strstr(line, "fbp: ");
    const bool told =
        !words || says_one(words) || (*want.refusal && strcmp(line, want.refusal) == 0);
    const bool quiet = strstr(c->words, " -q");

    if (last && !quiet && (last == line || last[-1] == '\n'))
        memmove(line, last, strlen(last) + 1);
    const size_t n = strlen(line);

    if (n == 0)
        return "nothing on standard error";
    if (strchr(line, '\n') != line + n - 1)
        return "not one line on standard error";
    if (strncmp(line, "fbp: ", 5) != 0 || n < 20 || strstr(line, "(null)") ||
        strstr(line, ": failed\n") || strstr(line, "without a message"))
        return "no sentence";
    return told ? NULL : "is about something else";
}

/* What is wrong with a run that ended so; NULL if nothing is. */
static const char *check(const struct fault_case *c, int kind, int status)
{
    bool others = false;
    const char *wrong;

    if (status < 0)
        return "does not end, or leaves a child";
    if (WIFSIGNALED(status))
        return strsignal(WTERMSIG(status));
    if (WEXITSTATUS(status) > 1)
        return "another exit status than 0 and 1";
    if (WEXITSTATUS(status) == 0 && (c->flags & FAULT_REFUSED))
        return "is done, though it is refused otherwise";
    wrong = WEXITSTATUS(status) ? check_line(c, kind) : check_done(&others);
    if (WEXITSTATUS(status) && !wrong)
        wrong = check_failed(&others);
    if (WEXITSTATUS(status) == 0 && (wrong || others) && words_of(kind) && says_one(words_of(kind)))
        return NULL; /* it has said what it left out */
    if (wrong || !others)
        return wrong;
    /* A file that could not be removed stays after a run that has done its work. */
    if (WEXITSTATUS(status) == 0 && strcmp(fault_kinds[kind], "unlink") != 0)
        return "exit status 0, but a file is left behind";
    if (fault_run_whole("run", c->words) != 0 && !(c->flags & FAULT_REFUSED)) {
        fault_text(fault_path("run.err"), line, sizeof line);
        return "what it left stops the next run";
    }
    wrong = check_done(&others);
    return wrong ? "what it left changes the next run" : NULL;
}

/* The next n to try: all, or ever fewer. */
static long next(const struct fault_case *c, int kind, long n)
{
    const bool all = ((c->flags & FAULT_EVERY) && strcmp(fault_kinds[kind], "malloc") == 0) ||
                     ((c->flags & FAULT_CALLOC) && strcmp(fault_kinds[kind], "calloc") == 0);

    return n + (quick && !all && n > 3 ? n : 1);
}

struct tally {
    long tried, failed, found;
};

static struct tally try_kind(const struct fault_case *c, const char *name, long from, long to)
{
    const size_t length = strcspn(name, "+");
    struct tally t = {0};
    const int kind = fault_kind(name, length);

    for (long n = from; n <= to; n = next(c, kind, n)) {
        begin(c);
        const int status = fault_run("run", c->words, kind, n, name[length] == '+');
        if (fault_fired() == 0)
            break;
        fault_text(fault_path("run.err"), line, sizeof line);
        const char *wrong = check(c, kind, status);
        t.tried++;
        t.failed += status != 0;
        t.found += wrong != NULL;
        if ((wrong && t.found <= SHOWN) || verbose)
            printf("%s%s, %s:%ld%s: %s: %s%s", wrong ? "FOUND: " : "", c->name, fault_kinds[kind],
                   n, name + length, wrong ? wrong : "status",
                   wrong    ? ""
                   : status ? "1 "
                            : "0 ",
                   *line ? line : "\n");
    }
    if (t.found > SHOWN)
        printf("FOUND: %s, %s: %ld in all\n", c->name, name, t.found);
    return t;
}

static void check_inputs(const char *name)
{
    struct fault_files is = fault_list(fault_path("in"));
    bool same = is.n == inputs.n;

    for (size_t i = 0; i < is.n && same; i++)
        same = is_whole(&is.file[i], &inputs);
    if (same) {
        free(is.file);
        return;
    }
    printf("FOUND: %s: inputs were changed\n", name);
    finds++;
    free(inputs.file);
    inputs = is; /* of what comes now, once */
}

static void try_case(const struct fault_case *c, const char *only_kind, long from, long to)
{
    if (!take_reference(c)) {
        fault_text(fault_path("run.err"), line, sizeof line);
        printf("FOUND: %s: %s: %s", c->name,
               c->flags & FAULT_REFUSED ? "is not refused" : "fails without a fault", line);
        finds++;
        return;
    }
    char row[2000] = "";
    for (size_t i = 0; i < N_CAMPAIGN; i++) {
        if (only_kind && strcmp(only_kind, campaign[i]) != 0)
            continue;
        if ((c->flags & FAULT_ZEROS) && strcmp(campaign[i], "read-end") == 0)
            continue;
        const struct tally t = try_kind(c, campaign[i], from, to);
        finds += (unsigned long)t.found;
        if (t.tried)
            snprintf(row + strlen(row), sizeof row - strlen(row), " %s %ld/%ld", campaign[i],
                     t.failed, t.tried);
    }
    printf("| %s |%s |\n", c->name, row);
    fflush(stdout);
    check_inputs(c->name);
}

static void make_inputs(void)
{
    if (chdir(fault_path("in")) != 0) {
        perror("in");
        exit(1);
    }
    fault_make_inputs();
    for (size_t i = 0; fault_inputs[i]; i++)
        if (fault_run_whole("in", fault_inputs[i]) != 0) {
            fault_text(fault_path("in.err"), line, sizeof line);
            printf("faults: %s: %s", fault_inputs[i], line);
            exit(1);
        }
}

static void make_folder(const char *name)
{
    if (mkdir(fault_path(name), 0777) != 0) {
        perror(fault_path(name));
        exit(1);
    }
}

/* Folders that commands begin in: an older volume, an older stack, a run that was killed. */
static void make_befores(void)
{
    static const char stack[] = "recon ../in/cone.json -o s/%02d.png --size 6 --filter hann "
                                "--output-type uint16 --output-range=-1,1 -q",
                      slabs[] = "recon ../in/cone.json -o v.mha --slab 4 --threads 2 -q";

    make_folder("run");
    make_folder("old");
    make_folder("old-stack");
    make_folder("old-scan");
    make_folder("begun");
    if (fault_run_whole("old", "recon ../in/cone.json -o v.mha --filter hann -q") != 0 ||
        fault_run_whole("old-scan", "simulate --size 6 --views 5 -o s.json -q") != 0 ||
        fault_run_whole("old-scan", "view ../in/w.mha -o p.png -q") != 0 ||
        fault_run_whole("old-stack", stack) != 0 ||
        fault_run("begun", slabs, fault_kind("kill", 4), 4, false) == 0) {
        printf("faults: older files cannot be made\n");
        exit(1);
    }
}

static void try_seeds(const struct fault_seeds *s, const char *only, const char *kind, long from,
                      long to)
{
    char folder[100], path[400], words[700], name[500];
    const struct fault_files companions = fault_list(fault_path("in/companions"));

    snprintf(folder, sizeof folder, "in/%s", s->folder);
    const struct fault_files seeds = fault_list(fault_path(folder));
    for (size_t i = 0; i < seeds.n; i++) {
        if (fault_find(&companions, seeds.file[i].name))
            continue;
        snprintf(path, sizeof path, "%s/%s", s->folder, seeds.file[i].name);
        snprintf(words, sizeof words, s->words, path);
        snprintf(name, sizeof name, "%.*s %s", (int)strcspn(s->words, " "), s->words, path);
        struct fault_case c = {.name = name, .words = words, .flags = s->flags};
        if (!only || strstr(name, only)) {
            begin(&c);
            if (fault_run_whole("run", words) != 0) /* not every seed is one that can be used */
                c.flags |= FAULT_REFUSED;
            try_case(&c, kind, from, to);
        }
        if (quick)
            break; /* the first of each format */
    }
    free(seeds.file);
    free(companions.file);
}

int main(int argc, char **argv)
{
    const char *only = NULL, *kind = NULL;
    long from = 1, to = LAST;

    if (argc < 4)
        return 2;
    for (int i = 4; i < argc; i++) {
        quick |= strcmp(argv[i], "quick") == 0;
        verbose |= strcmp(argv[i], "verbose") == 0;
        if (strncmp(argv[i], "only=", 5) == 0)
            only = argv[i] + 5;
        if (strncmp(argv[i], "kind=", 5) == 0)
            kind = argv[i] + 5;
        if (strncmp(argv[i], "from=", 5) == 0)
            from = atol(argv[i] + 5);
        if (strncmp(argv[i], "to=", 3) == 0)
            to = atol(argv[i] + 3);
    }
    char folder[160];
    const bool in_memory = quick && access(MEMORY, W_OK | X_OK) == 0;
    snprintf(folder, sizeof folder, "%.130s.%d", in_memory ? MEMORY "/fbp-faults" : argv[3],
             (int)getpid());
    if (mkdir(folder, 0777) != 0) {
        perror(folder);
        return 1;
    }
    fault_start(folder, argv[1], argv[2]);
    make_folder("in");
    make_inputs();
    make_befores();
    inputs = fault_list(fault_path("in"));
    for (const struct fault_case *c = fault_cases; c->words; c++)
        if ((!quick || (c->flags & FAULT_QUICK)) && (!only || strstr(c->name, only)))
            try_case(c, kind, from, to);
    for (const struct fault_seeds *s = fault_seeds; s->words; s++)
        if (!quick || (s->flags & FAULT_QUICK))
            try_seeds(s, only, kind, from, to);
    printf("%lu runs, %lu found\n", fault_runs, finds);
    fault_end();
    fault_empty(folder);
    rmdir(folder);
    return finds != 0;
}
