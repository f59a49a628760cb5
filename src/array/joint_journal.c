/* The journals of an output that several processes write.  Each begins with what output it is, who
 * writes it, and which slices are that process's:
 *
 *   fbp-journal 3 FINGERPRINT size X Y Z header BYTES
 *   by process 123 on HOST
 *   part 3 of 16 stripe 4096
 *   slices 120 12
 *   begin
 *
 * then a line "z0 nz hash" a run of slices, and "synced" when all before is on the disk.  One
 * process writes a journal, and nobody after it. */
#include "array/chunked.h"
#include "array/file/bytes.h"
#include "array/file/outfile.h"
#include "array/joint.h"
#include "array/part.h"

#include "base/system.h"
#include "base/base.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MAX_JOURNAL = 1 << 28, RANDOM_DIGITS = 8 };

static const char edges_end[] = ".edges";

/* malloc'ed name of a new journal; NULL when out of memory. */
static char *new_name(const struct fbp_joint *j)
{
    unsigned number = 0;

    if (getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number) {
        struct timespec now = {0};
        clock_gettime(CLOCK_MONOTONIC, &now);
        number = (unsigned)now.tv_nsec ^ (unsigned)getpid() << 16;
    }
    return fbp_format("%s.%zuof%zu.%08x", j->head, j->own.part, j->own.n_parts, number);
}

/* Is it the name of a journal beside this head, without folders? */
static bool is_journal(const char *head, const char *name, size_t *part, size_t *n_parts)
{
    const char *base = fbp_base_name(head);
    const size_t n = strlen(base);
    unsigned long a, b;
    unsigned hex;
    int end = 0;

    if (strncmp(name, base, n) != 0 || name[n] != '.')
        return false;
    /* NOLINTNEXTLINE(cert-err34-c): numbers that are too large are those of no part */
    if (sscanf(name + n + 1, "%luof%lu.%8x%n", &a, &b, &hex, &end) != 3 || end == 0)
        return false;
    *part = a;
    *n_parts = b;
    return name[n + 1 + (size_t)end] == '\0' && a >= 1 && a <= b;
}

/* Also where there is no memory left. */
int fbp_joint_remove(const char *journal)
{
    static const char *const ends[] = {edges_end, FBP_JOINT_LOOK, ""};
    char name[PATH_MAX + sizeof edges_end];

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) { /* the journal last */
        snprintf(name, sizeof name, "%s%s", journal, ends[i]);
        if (unlink(name) < 0 && errno != ENOENT)
            return errno;
    }
    return 0;
}

/* Bytes of the common file that one process writes to at once: where caches are not coherent, of a
 * network's file system, these are more than a page. */
static uint64_t stripe_of(int fd)
{
    const char *given = fbp_environment(FBP_ENV_STRIPE);
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t wanted = given ? strtoull(given, NULL, 10) : 0, most = (uint64_t)1 << 30;
    struct stat st;

    uint64_t stripe = wanted ? wanted : fstat(fd, &st) == 0 ? (uint64_t)st.st_blksize : page;
    stripe = (stripe + page - 1) / page * page;
    return stripe < page ? page : stripe < most ? stripe : most;
}

/* What others must know before they see a slice. */
static fbp_status describe(const struct fbp_sink *s)
{
    const struct fbp_joint *j = s->joint;
    char host[80] = "?", line[200];

    (void)!gethostname(host, sizeof host - 1);
    snprintf(line, sizeof line, "by process %ld on %s\npart %zu of %zu stripe %llu\n",
             (long)getpid(), host, j->own.part, j->own.n_parts,
             (unsigned long long)j->edges.stripe);
    FBP_TRY(fbp_append(s->log_fd, s->log, line));
    for (size_t i = 0; i < j->edges.n_runs; i++) {
        snprintf(line, sizeof line, "slices %zu %zu\n", j->edges.runs[i].z0, j->edges.runs[i].nz);
        FBP_TRY(fbp_append(s->log_fd, s->log, line));
    }
    return fbp_append(s->log_fd, s->log, "begin\n");
}

static fbp_status create_edges(struct fbp_sink *s)
{
    struct fbp_joint_edges *e = &s->joint->edges;

    e->stripe = s->chunked ? s->chunked->levels.chunk[2] * (uint64_t)s->slice_bytes
                           : stripe_of(s->fd >= 0 ? s->fd : s->log_fd);
    if (s->joint->stack)
        return FBP_OK;
    e->path = fbp_format("%s%s", s->log, edges_end);
    return e->path ? fbp_part_create(e->path, &e->fd) : fbp_fail_nomem(strlen(s->log), "a path");
}

fbp_status fbp_joint_begin(struct fbp_sink *s)
{
    struct stat st;

    s->log = new_name(s->joint);
    if (!s->log)
        return fbp_fail_nomem(strlen(s->path), "a path");
    FBP_TRY(fbp_part_create(s->log, &s->log_fd));
    (void)!flock(s->log_fd, LOCK_EX); /* who looks at it has it for a moment */
    if (fcntl(s->log_fd, F_SETFL, O_APPEND) < 0)
        return fbp_fail_write(s->log, errno, 0);
    FBP_TRY(create_edges(s));
    FBP_TRY(fbp_journal_create(s));
    FBP_TRY(describe(s));
    if (fstat(s->log_fd, &st) < 0)
        return fbp_fail_write(s->log, errno, 0);
    s->joint->begin = (uint64_t)st.st_size;
    return FBP_OK;
}

/* The lines before "begin"; false: they are not all there. */
static bool read_description(const struct fbp_sink *s, struct fbp_joint_peer *p)
{
    const size_t n = s->info.n[2];
    unsigned long long stripe, z0, nz;
    const char *begin = strstr(p->text, "\nbegin\n"), *at = strchr(p->text, '\n');

    /* NOLINTNEXTLINE(cert-err34-c): of stripes that are too large none is whole */
    if (!begin || sscanf(at, " by %127[^\n] part %*u of %*u stripe %llu", p->who, &stripe) != 2 ||
        stripe == 0)
        return false;
    p->edges.stripe = stripe;
    for (at = strstr(at, "\nslices "); at && at < begin; at = strstr(at + 1, "\nslices ")) {
        /* NOLINTNEXTLINE(cert-err34-c): a number that is too large fails the tests that follow */
        if (sscanf(at, " slices %llu %llu", &z0, &nz) != 2 || z0 >= n || nz > n - z0 ||
            p->edges.n_runs > n / 2)
            return false;
        p->edges.runs[p->edges.n_runs++] = (struct fbp_joint_run){(size_t)z0, (size_t)nz};
    }
    p->lines = begin + strlen("\nbegin\n");
    return true;
}

/* The last "synced" of all; the lines themselves if there is none. */
static const char *find_synced(const char *lines)
{
    const char *last = lines;

    for (const char *at = lines; (at = strstr(at, "synced\n")); at++)
        last = at;
    return last;
}

/* *fd -1: it has just been removed, or is none of ours. */
static fbp_status open_peer(const char *path, int *fd)
{
    *fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    return *fd >= 0 || errno == ENOENT || errno == ELOOP
               ? FBP_OK
               : fbp_fail(FBP_ERR_IO, "%s: cannot open: %s", path, strerror(errno));
}

/* Runs are at most every other slice. */
static fbp_status parse(const struct fbp_sink *s, struct fbp_joint_peer *p)
{
    const size_t most = s->info.n[2] / 2 + 1;

    FBP_TRY(fbp_calloc((void **)&p->edges.runs, most, sizeof *p->edges.runs, "runs of slices"));
    if (!read_description(s, p)) { /* it ended before it had said what it does */
        p->edges.n_runs = 0;
        p->lines = p->text + strlen(p->text);
    }
    p->synced = find_synced(p->lines);
    if (p->edges.n_runs == 0 || s->kind != FBP_SINK_FILE)
        return FBP_OK;
    p->edges.path = fbp_format("%s%s", p->path, edges_end);
    if (!p->edges.path)
        return fbp_fail_nomem(strlen(p->path), "a path");
    return open_peer(p->edges.path, &p->edges.fd);
}

/* Opened anew, so that it is what its process has written, on any file system. */
static fbp_status read_peer(const struct fbp_sink *s, struct fbp_joint_peer *p)
{
    size_t n = 0;
    int fd;

    FBP_TRY(open_peer(p->path, &fd));
    if (fd < 0)
        return FBP_OK;
    p->alive = flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
    /* Not by its name again, which may be removed at any time. */
    const fbp_status st = fbp_read_open_text(fd, p->path, MAX_JOURNAL, &p->text, &n);
    close(fd);
    FBP_TRY(st);
    return parse(s, p);
}

static void clear_peer(struct fbp_joint_peer *p)
{
    fbp_joint_edges_clear(&p->edges);
    free(p->text);
    free(p->path);
}

static fbp_status visit(struct fbp_sink *s, bool own, const char *name, fbp_joint_peer_fn *fn,
                        void *user)
{
    struct fbp_joint_peer p = {.edges.fd = -1};
    fbp_status st = FBP_OK;

    const char *head = s->joint && s->joint->head ? s->joint->head : s->log;
    if (!is_journal(head, name, &p.part, &p.n_parts))
        return FBP_OK;
    p.path = fbp_path_join(head, name);
    if (!p.path)
        return fbp_fail_nomem(strlen(head), "a path");
    if (own || !s->joint || !s->log || strcmp(p.path, s->log) != 0)
        st = read_peer(s, &p);
    if (st == FBP_OK && p.text)
        st = fn(s, &p, user);
    clear_peer(&p);
    return st;
}

fbp_status fbp_joint_each(struct fbp_sink *s, bool own, fbp_joint_peer_fn *fn, void *user)
{
    char *folder = fbp_path_join(s->path, ".");
    DIR *dir = folder ? opendir(folder) : NULL;
    const struct dirent *e;
    fbp_status st = FBP_OK;

    if (dir)
        errno = 0;
    while (dir && st == FBP_OK && (e = readdir(dir))) {
        st = visit(s, own, e->d_name, fn, user);
        errno = 0;
    }
    if (st == FBP_OK && (!dir || errno != 0))
        st = fbp_fail(FBP_ERR_IO, "%s: its folder cannot be listed: %s", s->path, strerror(errno));
    if (dir)
        closedir(dir);
    free(folder);
    return st;
}

/* A line of slices; sscanf() looks for the end of what it gets. */
static bool read_line(const struct fbp_sink *s, const char *at, size_t n,
                      struct fbp_joint_line *out)
{
    char line[96];

    if (n >= sizeof line)
        return false;
    memcpy(line, at, n);
    line[n] = '\0';
    *out = (struct fbp_joint_line){0};
    return fbp_journal_read(s, line, &out->z0, &out->nz, &out->hash);
}

bool fbp_joint_next(const struct fbp_sink *s, const struct fbp_joint_peer *p, const char **at,
                    struct fbp_joint_line *out)
{
    const char *newline;

    while ((newline = strchr(*at, '\n'))) {
        const char *line = *at;
        *at = newline + 1;
        if (!read_line(s, line, (size_t)(newline - line), out) ||
            (s->kind == FBP_SINK_FILE && !fbp_joint_has_edges(s, &p->edges, out->z0, out->nz)))
            continue;
        out->synced = line < p->synced;
        return true;
    }
    return false;
}

fbp_status fbp_joint_mark_synced(struct fbp_sink *s, struct fbp_joint_peer *p, void *user)
{
    struct fbp_joint_line line;
    const char *at = p->lines;

    (void)user;
    while (fbp_joint_next(s, p, &at, &line))
        if (line.synced)
            fbp_sink_mark(s, line.z0, line.nz);
    return FBP_OK;
}
