/* Journals of an output that several processes write (`--part`, MPI ranks; fbp_peers_…()), and the
 * boundary blocks of each process (fbp_boundary_…()); shared_output.h explains both. A journal
 * begins with the output, the process, the size of a block of PATH.part ("stripe", in bytes) and
 * the slices of the process:
 *
 *   fbp-journal 3 FINGERPRINT size X Y Z header BYTES
 *   by process 123 on HOST
 *   part 3 of 16 stripe 4096
 *   slices 120 12
 *   begin
 *
 * The next lines are "z0 nz hash" for nz slices from slice z0 on, "layer L K WHAT" for layer K of
 * level L of chunks that was reduced (1) or compressed (2), and "synced" when all data of the lines
 * before it are on disk.
 * Used by: shared_output.c, sink_chunks.c, sink_file.c. */
#include "array/file/bytes.h"
#include "array/file/outfile.h"
#include "array/shared_output.h"
#include "base/system.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static const char boundary_end[] = ".edges", refresh_end[] = ".look";

/* --- Boundary blocks --- */

/* Consecutive slices of a process: bytes [a, b) of the unfinished output PATH.part. The whole
 * blocks among them, bytes [lo, hi), are in PATH.part (lo == hi: none); the other bytes are in the
 * process's boundary file, from its byte `kept` on, in a space of 2 blocks. */
struct span {
    uint64_t a, b, lo, hi, kept;
};

/* A contiguous range of one file. */
struct place {
    int fd;
    const char *path;
    uint64_t at, n;
};

fbp_status fbp_boundary_runs(const unsigned char *mine, size_t n, struct fbp_boundary *out)
{
    const size_t most = n / 2 + 1; /* greatest number of runs, if these are every other slice */

    FBP_TRY(fbp_calloc((void **)&out->runs, most, sizeof *out->runs, "runs of slices"));
    for (size_t z = 0; z < n; z++) {
        if (mine[z] && (z == 0 || !mine[z - 1]))
            out->runs[out->n_runs++].z0 = z;
        if (mine[z])
            out->runs[out->n_runs - 1].nz++;
    }
    return FBP_OK;
}

void fbp_boundary_clear(struct fbp_boundary *e)
{
    if (e->fd >= 0)
        close(e->fd);
    free(e->path);
    free(e->runs);
    *e = (struct fbp_boundary){.fd = -1};
}

static struct span span_of(struct fbp_output *o, const struct fbp_boundary *e, size_t i)
{
    struct span out = {.a = o->part_offset + e->runs[i].z0 * (uint64_t)o->sink.slice_bytes,
                       .kept = 2 * i * e->block};

    out.b = out.a + e->runs[i].nz * (uint64_t)o->sink.slice_bytes;
    out.lo = (out.a + e->block - 1) / e->block * e->block;
    out.hi = out.b / e->block * e->block;
    if (o->block && e->runs[i].z0 + e->runs[i].nz == o->sink.info.n[2])
        out.hi = out.b; /* a last layer of chunks with fewer slices counts as a whole block */
    if (out.lo >= out.hi)
        out.lo = out.hi = out.b;
    return out;
}

/* Find the file (PATH.part or the boundary file of the process) and the position in it that store
 * byte `at` of the unfinished output, and how many bytes of [at, at + n) are contiguous there. The
 * result's n is 0 if no slice of the process contains the byte. */
static struct place place_of(struct fbp_output *o, const struct fbp_boundary *e, uint64_t at,
                             uint64_t n)
{
    for (size_t i = 0; i < e->n_runs; i++) {
        const struct span r = span_of(o, e, i);

        if (at < r.a || at >= r.b)
            continue;
        const uint64_t end = at < r.lo ? r.lo : at < r.hi ? r.hi : r.b;
        const uint64_t left = end - at < n ? end - at : n;
        if (at < r.lo)
            return (struct place){e->fd, e->path, r.kept + (at - r.a), left};
        if (at < r.hi)
            return (struct place){o->fd, o->part, at, left};
        return (struct place){e->fd, e->path, r.kept + e->block + (at - r.hi), left};
    }
    return (struct place){.n = 0};
}

/* Whether a process's boundary file has the bytes of slices [z0, z0 + nz) outside PATH.part. */
static bool has_boundary(struct fbp_output *o, const struct fbp_boundary *e, size_t z0, size_t nz)
{
    const uint64_t slice = o->sink.slice_bytes, end = o->part_offset + (z0 + nz) * slice;
    struct place p = {.n = 1};
    struct stat st;

    for (uint64_t at = o->part_offset + z0 * slice; at < end && p.n > 0; at += p.n) {
        p = place_of(o, e, at, end - at);
        if (p.n > 0 && p.path != o->part &&
            (e->fd < 0 || fstat(e->fd, &st) < 0 || (uint64_t)st.st_size < p.at + p.n))
            return false;
    }
    return true;
}

/* Write bytes [at, at + n) of the unfinished output to the files in which a process stores them
 * (PATH.part and its boundary file), or read them from these files. */
static fbp_status transfer(struct fbp_output *o, const struct fbp_boundary *e, uint64_t at,
                           char *data, size_t n, bool write)
{
    while (n > 0) {
        const struct place p = place_of(o, e, at, n);

        if (p.n == 0 || p.fd < 0)
            return fbp_fail(
                FBP_ERR_IO,
                "%s: the boundary file (*.edges) with samples of slice %llu is missing; "
                "run the part again",
                o->path, (unsigned long long)((at - o->part_offset) / o->sink.slice_bytes));
        if (p.fd == o->fd)
            FBP_TRY(write ? o->store->put(o, p.at, data, p.n) : o->store->get(o, p.at, data, p.n));
        else
            FBP_TRY(write ? fbp_write_at(p.fd, p.path, p.at, data, p.n)
                          : fbp_read_at(p.fd, p.path, p.at, data, p.n));
        data += p.n;
        at += p.n;
        n -= p.n;
    }
    return FBP_OK;
}

fbp_status fbp_boundary_put(void *output, uint64_t at, const void *data, size_t n)
{
    struct fbp_output *o = output;

    return transfer(o, &o->shared->boundary, at, (char *)(uintptr_t)data, n, true); /* only read */
}

fbp_status fbp_boundary_get(struct fbp_output *o, const struct fbp_boundary *e, uint64_t at,
                            void *out, size_t n)
{
    return transfer(o, e, at, out, n, false);
}

fbp_status fbp_boundary_copy(struct fbp_output *o, const struct fbp_boundary *e, size_t z0,
                             size_t nz, void *scratch)
{
    uint64_t at = o->part_offset + z0 * (uint64_t)o->sink.slice_bytes;
    const uint64_t end = at + nz * (uint64_t)o->sink.slice_bytes;

    while (at < end) {
        struct place p = place_of(o, e, at, end - at);

        if (p.n == 0)
            return fbp_fail(
                FBP_ERR_IO,
                "%s: this temporary file is damaged; remove it and all files %s*, and start again",
                e->path, o->part);
        if (p.fd != o->fd) {
            p.n = p.n < FBP_WRITE_BUFFER_BYTES ? p.n : FBP_WRITE_BUFFER_BYTES;
            FBP_TRY(fbp_read_at(p.fd, p.path, p.at, scratch, p.n));
            FBP_TRY(o->store->put(o, at, scratch, p.n));
        }
        at += p.n;
    }
    return FBP_OK;
}

/* --- Journals --- */

int fbp_peer_remove_journal(const char *journal)
{
    const char *const ends[] = {boundary_end, refresh_end, ""}; /* the journal is removed last */
    /* array on the stack: the removal must not fail for lack of memory */
    char name[PATH_MAX + sizeof boundary_end];

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        snprintf(name, sizeof name, "%s%s", journal, ends[i]);
        if (unlink(name) < 0 && errno != ENOENT)
            return errno;
    }
    return 0;
}

void fbp_peers_refresh(const char *journal)
{
    char *name = fbp_format("%s%s", journal, refresh_end);
    const int fd = name ? open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666) : -1;

    if (fd >= 0) {
        close(fd);
        unlink(name);
    }
    free(name);
}

fbp_status fbp_peers_begin_journal(struct fbp_output *o)
{
    struct fbp_shared_output *j = o->shared;
    struct fbp_boundary *e = &j->boundary;
    const char *given = fbp_environment(FBP_ENV_STRIPE);
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), most = (uint64_t)1 << 30;
    char host[80] = "?", line[200];
    struct stat st;

    FBP_TRY(fbp_print_path(&o->log, "%s.%zuof%zu.%08x", j->manifest, j->own.part, j->own.n_parts,
                           (unsigned)fbp_random_number()));
    FBP_TRY(fbp_part_create(o->log, &o->log_fd));
    /* This waits if another process has locked the journal for a moment to read it. */
    (void)!flock(o->log_fd, LOCK_EX);
    if (fcntl(o->log_fd, F_SETFL, O_APPEND) < 0)
        return fbp_fail_write(o->log, errno, 0);

    /* Size of a block: that of a layer of chunks (o->block), else that given by the environment
     * variable FBP_STRIPE, else the block size of the file system; the last two are rounded up to
     * whole memory pages, at most 1 GiB. If two machines wrote to one block, caches of network file
     * systems could lose data. */
    e->block = given ? strtoull(given, NULL, 10) : 0;
    if (e->block == 0)
        e->block = fstat(o->fd >= 0 ? o->fd : o->log_fd, &st) == 0 ? (uint64_t)st.st_blksize : page;
    e->block = (e->block + page - 1) / page * page;
    e->block = e->block < page ? page : e->block < most ? e->block : most;
    if (o->block)
        e->block = o->block;
    if (!fbp_output_is_stack(o)) {
        FBP_TRY(fbp_print_path(&e->path, "%s%s", o->log, boundary_end));
        FBP_TRY(fbp_part_create(e->path, &e->fd));
    }

    FBP_TRY(fbp_journal_create(o));
    (void)!gethostname(host, sizeof host - 1);
    snprintf(line, sizeof line, "by process %ld on %s\npart %zu of %zu stripe %llu\n",
             (long)getpid(), host, j->own.part, j->own.n_parts, (unsigned long long)e->block);
    FBP_TRY(fbp_append(o->log_fd, o->log, line));
    for (size_t i = 0; i < e->n_runs; i++) {
        snprintf(line, sizeof line, "slices %zu %zu\n", e->runs[i].z0, e->runs[i].nz);
        FBP_TRY(fbp_append(o->log_fd, o->log, line));
    }
    FBP_TRY(fbp_append(o->log_fd, o->log, "begin\n"));
    if (fstat(o->log_fd, &st) < 0)
        return fbp_fail_write(o->log, errno, 0);
    j->begin = (uint64_t)st.st_size;
    return FBP_OK;
}

/* Open a journal or boundary file of another process. *fd -1: it was removed, or is a link. */
static fbp_status open_peer(const char *path, int *fd)
{
    *fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    return *fd >= 0 || errno == ENOENT || errno == ELOOP
               ? FBP_OK
               : fbp_fail(FBP_ERR_IO, "%s: cannot open: %s", path, strerror(errno));
}

/* Parse the lines of a journal before the line "begin"; false: they are incomplete or invalid. */
static bool parse_description(struct fbp_output *o, struct fbp_peer *p)
{
    const size_t n = o->sink.info.n[2];
    unsigned long long block, z0, nz;
    const char *begin = strstr(p->text, "\nbegin\n"), *at = strchr(p->text, '\n');

    /* NOLINTNEXTLINE(cert-err34-c): a size that overflows is so large that no block is whole */
    if (!begin || sscanf(at, " by %127[^\n] part %*u of %*u stripe %llu", p->who, &block) != 2 ||
        block == 0)
        return false;
    p->boundary.block = block;
    for (at = strstr(at, "\nslices "); at && at < begin; at = strstr(at + 1, "\nslices ")) {
        /* NOLINTNEXTLINE(cert-err34-c): the next lines refuse slice numbers that are too large */
        if (sscanf(at, " slices %llu %llu", &z0, &nz) != 2 || z0 >= n || nz > n - z0 ||
            p->boundary.n_runs > n / 2)
            return false;
        p->boundary.runs[p->boundary.n_runs++] = (struct fbp_slice_run){(size_t)z0, (size_t)nz};
    }
    p->lines = begin + strlen("\nbegin\n");
    return true;
}

/* Read the manifest as the journal of a single process, which it was if several processes resume
 * the output of that one: all slices belong to that process, there are no boundary blocks, and no
 * slice counts as synced. */
static fbp_status read_manifest(struct fbp_output *o, struct fbp_peer *p)
{
    size_t n = 0;

    FBP_TRY(fbp_calloc((void **)&p->boundary.runs, 1, sizeof *p->boundary.runs, "runs of slices"));
    p->boundary.runs[0].nz = o->sink.info.n[2];
    p->boundary.n_runs = p->boundary.block = 1;
    FBP_TRY(fbp_read_text(o->shared->manifest, FBP_JOURNAL_MOST_BYTES, &p->text, &n));
    const char *newline = strchr(p->text, '\n');
    p->lines = p->synced = newline ? newline + 1 : p->text + n;
    return FBP_OK;
}

/* Open and read the journal p->path. Opening it again makes a network file system return the newest
 * contents. p->text NULL: the journal was removed in the meantime. */
static fbp_status read_peer(struct fbp_output *o, struct fbp_peer *p)
{
    const size_t most = o->sink.info.n[2] / 2 + 1; /* greatest number of runs */
    size_t n = 0;
    int fd;

    FBP_TRY(open_peer(p->path, &fd));
    if (fd < 0)
        return FBP_OK;
    p->alive = flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
    /* The journal is read through `fd`, because another process may unlink p->path. */
    const fbp_status st = fbp_read_open_text(fd, p->path, FBP_JOURNAL_MOST_BYTES, &p->text, &n);
    close(fd);
    FBP_TRY(st);
    FBP_TRY(
        fbp_calloc((void **)&p->boundary.runs, most, sizeof *p->boundary.runs, "runs of slices"));
    /* The beginning of the journal is incomplete, for example because its process was stopped
     * before it wrote the line "begin": the journal then lists no slices. */
    if (!parse_description(o, p)) {
        p->boundary.n_runs = 0;
        p->lines = p->text + strlen(p->text);
    }
    p->synced = p->lines;
    for (const char *at = p->lines; (at = strstr(at, "synced\n")); at++)
        p->synced = at;
    if (p->boundary.n_runs == 0 || fbp_output_is_stack(o))
        return FBP_OK;
    FBP_TRY(fbp_print_path(&p->boundary.path, "%s%s", p->path, boundary_end));
    return open_peer(p->boundary.path, &p->boundary.fd);
}

static void clear_peer(struct fbp_peer *p)
{
    fbp_boundary_clear(&p->boundary);
    free(p->text);
    free(p->path);
    *p = (struct fbp_peer){.boundary.fd = -1};
}

/* Parse the name of a journal beside the manifest, such as "v.mha.part.log.3of16.1a2b3c4d"; false:
 * the file is no journal. */
static bool is_journal(const char *manifest, const char *file, size_t *part, size_t *n_parts)
{
    const char *base = fbp_base_name(manifest);
    const size_t n = strlen(base);
    unsigned long a, b;
    unsigned hex;
    int end = 0;

    if (strncmp(file, base, n) != 0 || file[n] != '.')
        return false;
    /* NOLINTNEXTLINE(cert-err34-c): names of journals contain small numbers */
    if (sscanf(file + n + 1, "%luof%lu.%8x%n", &a, &b, &hex, &end) != 3 || end == 0)
        return false;
    *part = a;
    *n_parts = b;
    return file[n + 1 + (size_t)end] == '\0' && a >= 1 && a <= b;
}

bool fbp_peers_next(struct fbp_peers *w, fbp_status *st)
{
    struct fbp_output *o = w->output;
    /* o->log is the path of the manifest until this process joins the shared output. */
    const char *manifest = o->shared ? o->shared->manifest : o->log;
    struct fbp_peer *p = &w->peer;
    const struct dirent *e = NULL;

    w->at = NULL;
    if (w->begun) {
        clear_peer(p);
    } else {
        char *folder = fbp_path_join(o->path, ".");
        w->dir = folder ? opendir(folder) : NULL;
        if (!w->dir)
            *st = fbp_fail_list(o->path);
        free(folder);
        p->boundary.fd = -1;
        w->begun = true;
    }
    while (*st == FBP_OK && (errno = 0, e = readdir(w->dir))) {
        if (!is_journal(manifest, e->d_name, &p->part, &p->n_parts))
            continue;
        p->path = fbp_path_join(manifest, e->d_name);
        if (!p->path)
            *st = fbp_fail_nomem(strlen(manifest), "a path");
        else if (w->own || !o->shared || !o->log || strcmp(p->path, o->log) != 0)
            *st = read_peer(o, p);
        if (*st == FBP_OK && p->text) {
            w->at = p->lines;
            return true;
        }
        clear_peer(p);
    }
    if (*st == FBP_OK && errno != 0)
        *st = fbp_fail_list(o->path);
    if (*st == FBP_OK && w->manifest) {
        w->manifest = false;
        *st = read_manifest(o, p);
        w->at = p->lines;
        if (*st == FBP_OK)
            return true;
        clear_peer(p);
    }
    if (w->dir)
        closedir(w->dir);
    return false;
}

bool fbp_peer_next(struct fbp_output *o, const struct fbp_peer *p, const char **at,
                   struct fbp_peer_line *out)
{
    const char *newline;

    while ((newline = strchr(*at, '\n'))) {
        const char *begin = *at;
        const size_t n = (size_t)(newline - begin);
        char line[96]; /* copy of a line: sscanf() would measure all the text */

        *at = newline + 1;
        if (n >= sizeof line)
            continue;
        memcpy(line, begin, n);
        line[n] = '\0';
        *out = (struct fbp_peer_line){.synced = begin < p->synced};
        if (fbp_journal_read(o, line, &out->z0, &out->nz, &out->hash) &&
            (fbp_output_is_stack(o) || has_boundary(o, &p->boundary, out->z0, out->nz)))
            return true;
    }
    return false;
}

bool fbp_peers_next_line(struct fbp_peers *w, struct fbp_peer_line *line, fbp_status *st)
{
    do {
        if (*st == FBP_OK && w->at && fbp_peer_next(w->output, &w->peer, &w->at, line))
            return true;
    } while (fbp_peers_next(w, st));
    return false;
}
