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
 * within some seconds; files under their final names are whole, of this run or of before; what is
 * unfinished has a journal that is worth keeping (faults_check.c); the same command without a fault
 * then does its work; the inputs are as they were; no child is left.
 */
#include "faults.h"
#include "inject.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MEMORY "/dev/shm"

enum { LAST = 300, SHOWN = 3 };

static bool quick, verbose;
static unsigned long finds;

static struct fault_files inputs;

static const char *const campaign[] = {
    "malloc",   "calloc",    "realloc", "memalign",  "memory+",     "mmap",       "thread",
    "thread+",  "fork",      "fork+",   "open",      "open+",       "read",       "read-short",
    "read-end", "read-intr", "write",   "write+",    "write-short", "write-intr", "rename",
    "link",     "close",     "fsync",   "truncate",  "unlink",      "stat",       "mkdir",
    "readdir",  "pipe",      "lock",    "poll-intr", "wait-intr",   "space",
};
enum { N_CAMPAIGN = sizeof campaign / sizeof *campaign };

/* Does every call of this kind fail once, in the ordinary tests, too? */
static bool tries_all(const struct fault_case *c, const char *kind)
{
    static const struct {
        unsigned flag;
        const char *kinds;
    } all[] = {
        {FAULT_EVERY, " malloc "},
        {FAULT_CALLOC, " calloc "},
        {FAULT_FILES, " write rename fsync truncate unlink mkdir readdir lock stat open "},
    };
    char word[40];

    snprintf(word, sizeof word, " %s ", kind);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if ((c->flags & all[i].flag) && strstr(all[i].kinds, word))
            return true;
    return false;
}

/* The next n to try: all, or ever fewer. */
static long next(const struct fault_case *c, int kind, long n)
{
    return n + (quick && !tries_all(c, fault_kinds[kind]) && n > 3 ? n : 1);
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
        fault_begin(c);
        const int status = fault_run("run", c->words, kind, n, name[length] == '+');
        if (fault_fired() == 0)
            break;
        fault_text(fault_path("run.err"), fault_line, sizeof fault_line);
        const char *wrong = fault_check(c, kind, n, status);
        t.tried++;
        t.failed += status != 0;
        t.found += wrong != NULL;
        if ((wrong && t.found <= SHOWN) || verbose)
            printf("%s%s, %s:%ld%s: %s: %s%s", wrong ? "FOUND: " : "", c->name, fault_kinds[kind],
                   n, name + length, wrong ? wrong : "status",
                   wrong    ? ""
                   : status ? "1 "
                            : "0 ",
                   *fault_line ? fault_line : "\n");
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
        same = fault_is_whole(&is.file[i], &inputs);
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
    if (!fault_take_reference(c)) {
        fault_text(fault_path("run.err"), fault_line, sizeof fault_line);
        printf("FOUND: %s: %s: %s", c->name,
               c->flags & FAULT_REFUSED ? "is not refused" : "fails without a fault", fault_line);
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
            fault_text(fault_path("in.err"), fault_line, sizeof fault_line);
            printf("faults: %s: %s", fault_inputs[i], fault_line);
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

/* Folders that commands begin in: older outputs, a part, runs that were killed at their n-th change
 * of a file. */
static const struct {
    const char *folder, *words;
    long kill; /* 0: it ends by itself */
} befores[] = {
    {"old", "recon ../in/cone.json -o v.mha --filter hann -q", 0},
    {"old-scan", "simulate --size 6 --views 5 -o s.json -q", 0},
    {"old-scan", "view ../in/w.mha -o p.png -q", 0},
    {"old-stack",
     "recon ../in/cone.json -o s/%02d.png --size 6 --filter hann --output-type uint16 "
     "--output-range=-1,1 -q",
     0},
    {"old-h5", "recon ../in/cone.json -o v.h5 --filter hann -q", 0},
    {"half-h5", "recon ../in/cone.json -o v.h5 --threads 2 -q --part 1/2", 0},
    {"old-zarr", "recon ../in/cone.json -o v.ome.zarr --filter hann -q", 0},
    {"half-zarr", "recon ../in/cone.json -o v.ome.zarr --threads 2 -q --part 1/2", 0},
    {"begun", "recon ../in/cone.json -o v.mha --slab 4 --threads 2 -q", 4},
};

static void make_befores(void)
{
    const int kill = fault_kind("kill", 4);

    make_folder("run");
    for (size_t i = 0; i < sizeof befores / sizeof *befores; i++) {
        const long n = befores[i].kill;
        mkdir(fault_path(befores[i].folder), 0777); /* several make one */
        const int status = fault_run(befores[i].folder, befores[i].words, n ? kill : -1, n, false);
        if ((status != 0) != (n != 0)) {
            printf("faults: %s: cannot be made\n", befores[i].folder);
            exit(1);
        }
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
            fault_begin(&c);
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
    setenv("FBP_CHUNK", "8", 1); /* small volumes of several chunks */
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
