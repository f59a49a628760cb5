/* What a command leaves with a fault, beside what it leaves without one. */
#include "faults.h"
#include "inject.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

char fault_line[4096];

/* Of one command: what it leaves without a fault. */
static struct reference {
    struct fault_files before, files;
    struct fault_files again; /* if it is done twice */
    struct fault_files rest;  /* after the command that finishes it */
    uint64_t out;
    bool out_varies;
    char refusal[1000]; /* of what is never done */
} want;

void fault_begin(const struct fault_case *c)
{
    fault_empty(fault_path("run"));
    if (c->before)
        fault_copy(fault_path(c->before), fault_path("run"));
}

static void forget(struct reference *r)
{
    free(r->before.file);
    free(r->files.file);
    free(r->again.file);
    free(r->rest.file);
    *r = (struct reference){0};
}

/* What differs between two runs is marked. */
static void mark(struct fault_files *files, const struct fault_files *first)
{
    for (size_t i = 0; i < files->n; i++) {
        const struct fault_file *f = fault_find(first, files->file[i].name);
        files->file[i].varies = !f || f->varies || f->hash != files->file[i].hash;
    }
}

/* The part that finishes what the first has begun. */
static bool run_rest(const struct fault_case *c)
{
    char words[700];

    snprintf(words, sizeof words, "%s", c->words);
    char *part = strstr(words, "--part 1/2");
    if (!part)
        return false;
    memcpy(part, "--part 2/2", strlen("--part 2/2"));
    return fault_run_whole("run", words) == 0;
}

/* Done twice, or finished by the next command. */
static bool take_more(const struct fault_case *c)
{
    if (c->flags & FAULT_REFUSED)
        return true;
    if ((c->flags & FAULT_BEGINS) && !run_rest(c))
        return false;
    if (c->flags & FAULT_BEGINS) {
        want.rest = fault_list(fault_path("run"));
        return true;
    }
    if (fault_run_whole("run", c->words) != 0) /* as without --force, say */
        return true;
    want.again = fault_list(fault_path("run"));
    for (size_t i = 0; i < want.again.n; i++) {
        const struct fault_file *f = fault_find(&want.files, want.again.file[i].name);
        want.again.file[i].varies = f && f->varies;
    }
    return true;
}

bool fault_take_reference(const struct fault_case *c)
{
    forget(&want);
    for (int turn = 0; turn < 2; turn++) {
        fault_begin(c);
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
        if (turn)
            mark(&files, &want.files);
        free(want.files.file);
        want.files = files;
    }
    return take_more(c);
}

bool fault_is_whole(const struct fault_file *f, const struct fault_files *of)
{
    const struct fault_file *w = fault_find(of, f->name);

    return w && (w->varies || w->hash == f->hash);
}

/* All of these files, as they are to be; else what is wrong. */
static const char *check_all(const struct fault_files *is, const struct fault_files *all)
{
    static char text[400];

    for (size_t i = 0; i < all->n; i++) {
        const struct fault_file *f = fault_find(is, all->file[i].name);
        snprintf(text, sizeof text, "exit status 0, but %s is %s", all->file[i].name,
                 f ? "different" : "missing");
        if (!f || !fault_is_whole(f, all))
            return text;
    }
    return NULL;
}

/* Files that are in the way of nobody. */
static bool has_others(const struct fault_files *is, const struct fault_files *all)
{
    bool others = false;

    for (size_t i = 0; i < is->n; i++)
        others |= !fault_find(all, is->file[i].name);
    return others;
}

/* All that the command writes is there; else what is wrong. */
static const char *check_done(bool *others)
{
    struct fault_files is = fault_list(fault_path("run"));
    const char *wrong = check_all(&is, &want.files);

    *others = has_others(&is, &want.files);
    if (!wrong && !want.out_varies && fault_hash(fault_path("run.out")) != want.out)
        wrong = "exit status 0, but standard output differs";
    free(is.file);
    return wrong;
}

/* What is unfinished has a journal, which is worth keeping; else what is wrong.  That of a stack
 * has a pattern for its name. */
static const char *check_journals(const struct fault_files *is)
{
    static char text[400];

    for (size_t i = 0; i < is->n; i++) {
        const char *name = is->file[i].name;
        const char *part = strstr(name, ".part");
        const size_t n = part ? (size_t)(part - name) + strlen(".part") : 0;
        bool kept = fault_find(&want.before, name) != NULL;
        if (n == 0 || (name[n] != '\0' && name[n] != '/')) /* a file, or in a folder */
            continue;
        for (size_t k = 0; k < is->n; k++)
            kept |= is->file[k].has_slices &&
                    (strncmp(is->file[k].name, name, n) == 0 || strchr(is->file[k].name, '%'));
        snprintf(text, sizeof text, "%s is left, and no journal has slices of it", name);
        if (!kept)
            return text;
    }
    return NULL;
}

/* A file under its final name is whole, of this run or of before. */
static const char *check_left(const struct fault_file *f, bool *others)
{
    static char text[400];
    const bool known = fault_find(&want.files, f->name) || fault_find(&want.before, f->name);
    const bool final = known && !strstr(f->name, ".part");

    *others |= !final;
    snprintf(text, sizeof text, "%s is half-written", f->name);
    return final && !fault_is_whole(f, &want.files) && !fault_is_whole(f, &want.before) ? text
                                                                                        : NULL;
}

/* Can it remove files?  Of a folder, or of parts, only if it can list them. */
static bool can_tidy(const struct fault_case *c, int kind)
{
    const bool lists = strstr(c->words, " --part ") || strstr(c->words, ".zarr");
    const bool listed =
        strcmp(fault_kinds[kind], "open") != 0 && strcmp(fault_kinds[kind], "readdir") != 0;

    return strcmp(fault_kinds[kind], "unlink") != 0 && (listed || !lists);
}

/* After a failure: final names are whole; are there others? */
static const char *check_failed(const struct fault_case *c, int kind, bool *others)
{
    struct fault_files is = fault_list(fault_path("run"));
    const char *wrong = NULL;

    *others = false;
    for (size_t i = 0; i < is.n && !wrong; i++)
        wrong = check_left(&is.file[i], others);
    for (size_t i = 0; i < want.before.n && !wrong; i++)
        if (!fault_find(&is, want.before.file[i].name) &&
            fault_find(&want.files, want.before.file[i].name))
            wrong = "an old file is gone";
    if (!wrong && can_tidy(c, kind))
        wrong = check_journals(&is);
    free(is.file);
    return wrong;
}

/* Does all that the command writes have its name, and is it new? */
static bool is_complete(void)
{
    struct fault_files is = fault_list(fault_path("run"));
    bool complete = true, written = false;

    for (size_t i = 0; i < want.files.n && complete; i++) {
        const struct fault_file *f = fault_find(&is, want.files.file[i].name);
        complete = f && !f->varies && f->hash == want.files.file[i].hash;
        written |= !fault_is_whole(&want.files.file[i], &want.before);
    }
    free(is.file);
    return complete && written;
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
        {"open", {"Too many open files", "some files of this folder could not be read"}},
        {"close", {"Input/output error"}},
        {"stat", {"Input/output error", "fbp: "}}, /* some take it for a missing file */
        {"readdir", {"Input/output error", "Directory not empty"}}, /* as nftw() says nothing */
        {"mkdir", {"No space left"}},
        {"unlink", {"Input/output error"}},
        {"truncate", {"No space left", "the HDF5 header cannot be written"}},
        {"pipe", {"ulimit -n"}},
        {"seek", {"Input/output error"}},
        {"lock", {"No locks available"}},
        {"read", {"Input/output error", "some files of this folder could not be read"}},
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
        found |= strcasestr(fault_line, *words) != NULL;
    return found;
}

/* The last line; commands that are not told to be quiet may say other things before. */
static const char *check_line(const struct fault_case *c, int kind)
{
    const char *const *words = words_of(kind), *last = strstr(fault_line, "fbp: ");
    const bool told =
        !words || says_one(words) || (*want.refusal && strcmp(fault_line, want.refusal) == 0);
    const bool quiet = strstr(c->words, " -q");

    if (last && !quiet && (last == fault_line || last[-1] == '\n'))
        memmove(fault_line, last, strlen(last) + 1);
    const size_t n = strlen(fault_line);

    if (n == 0)
        return "nothing on standard error";
    if (strchr(fault_line, '\n') != fault_line + n - 1)
        return "not one line on standard error";
    if (strncmp(fault_line, "fbp: ", 5) != 0 || n < 20 || strstr(fault_line, "(null)") ||
        strstr(fault_line, ": failed\n") || strstr(fault_line, "without a message"))
        return "no sentence";
    return told ? NULL : "is about something else";
}

/* The command does its work after what it has left, and the next one, too. */
static const char *check_next(const struct fault_case *c, bool resumed)
{
    char words[700];

    snprintf(words, sizeof words, "%s%s", c->words, resumed ? " --resume" : "");
    if (fault_run_whole("run", words) != 0 && !(c->flags & FAULT_REFUSED)) {
        fault_text(fault_path("run.err"), fault_line, sizeof fault_line);
        return "what it left stops the next run";
    }
    if (c->flags & FAULT_BEGINS)
        return NULL; /* what is unfinished may lie in more files than otherwise */
    struct fault_files is = fault_list(fault_path("run"));
    const char *wrong = check_all(&is, &want.files);
    if (wrong && want.again.n)
        wrong = check_all(&is, &want.again);
    free(is.file);
    return wrong ? "what it left changes the next run" : NULL;
}

static const char *check_rest(const struct fault_case *c)
{
    if (!run_rest(c)) {
        fault_text(fault_path("run.err"), fault_line, sizeof fault_line);
        return "what it left stops who finishes it";
    }
    struct fault_files is = fault_list(fault_path("run"));
    const char *wrong = check_all(&is, &want.rest);
    if (!wrong && has_others(&is, &want.rest))
        wrong = "what it left is left by who finishes it";
    free(is.file);
    return wrong;
}

/* Of a run that ended so. */
static const char *check_first(const struct fault_case *c, int kind, int status, bool *others)
{
    const char *wrong;

    if (WIFSIGNALED(status))
        return strsignal(WTERMSIG(status));
    if (WEXITSTATUS(status) > 1)
        return "another exit status than 0 and 1";
    if (WEXITSTATUS(status) == 0 && (c->flags & FAULT_REFUSED))
        return "is done, though it is refused otherwise";
    wrong = WEXITSTATUS(status) ? check_line(c, kind) : check_done(others);
    if (WEXITSTATUS(status) && !wrong)
        wrong = check_failed(c, kind, others);
    if (WEXITSTATUS(status) && !wrong && is_complete() && !strstr(fault_line, "standard output"))
        wrong = "exit status 1, but the output is complete";
    if (WEXITSTATUS(status) == 0 && (wrong || *others) && words_of(kind) &&
        says_one(words_of(kind))) {
        *others = false; /* it has said what it left out */
        return NULL;
    }
    /* A file that could not be removed stays after a run that has done its work. */
    if (!wrong && *others && WEXITSTATUS(status) == 0 && strcmp(fault_kinds[kind], "unlink") != 0)
        wrong = "exit status 0, but a file is left behind";
    return wrong;
}

const char *fault_check(const struct fault_case *c, int kind, long n, int status)
{
    const bool resumed = (c->flags & FAULT_RESUME) && n % 2 == 0;
    bool others = false;

    if (status < 0)
        return "does not end, or leaves a child";
    const char *wrong = check_first(c, kind, status, &others);
    const bool begins = c->flags & FAULT_BEGINS;
    if (!wrong && (others || (begins && status != 0)))
        wrong = check_next(c, resumed);
    return wrong || !begins ? wrong : check_rest(c);
}
