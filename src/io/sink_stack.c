#include "io/sink_stack.h"
#include "io/bytes.h"
#include "io/outfile.h"
#include "io/stack.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/pool.h"
#include "base/stop.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static const char tiff_names[] = ".tif .tiff", png_names[] = ".png";

bool fbp_sink_stack_is(const char *path)
{
    struct fbp_pattern p;

    return fbp_has_extension(path, png_names) ||
           (fbp_has_extension(path, tiff_names) && fbp_pattern_place(path, strlen(path), &p));
}

static bool is_png(const struct fbp_sink *s)
{
    return fbp_has_extension(s->path, png_names);
}

/* malloc'ed "out/slice_0007.tif", with ".part" behind it or nothing; NULL when out of memory. */
static char *name_of(const struct fbp_sink *s, size_t z, const char *behind)
{
    char *name = s->pattern.suffix ? fbp_pattern_name(&s->pattern, z) : fbp_strdup(s->path);
    char *whole = name ? fbp_format("%s%s", name, behind) : NULL;

    free(name);
    return whole;
}

static fbp_status check_kind(const struct fbp_sink *s)
{
    if (is_png(s) && s->info.type == FBP_F32)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: PNG holds no float32: choose uint8 or uint16 and the range that it "
                        "stands for (--output-type uint16 --output-range LO,HI), or write TIFF",
                        s->path);
    if (!s->pattern.suffix && s->info.n[2] != 1)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: a PNG file holds one slice, the volume has %zu: name a stack, such as "
                        "\"out/slice_%%04d.png\"",
                        s->path, s->info.n[2]);
    if (is_png(s) && (s->info.n[0] > 1000000 || s->info.n[1] > 1000000))
        return fbp_fail(FBP_ERR_INVALID, "%s: %zu x %zu pixels are too many for PNG: write TIFF",
                        s->path, s->info.n[0], s->info.n[1]);
    return FBP_OK;
}

/* The folder, which is created if only itself is missing. */
static fbp_status make_folder(struct fbp_sink *s)
{
    struct stat st;

    s->folder = fbp_path_join(s->path, ".");
    if (!s->folder)
        return fbp_fail_nomem(strlen(s->path), "a path");
    if (strlen(s->folder) > 2)
        s->folder[strlen(s->folder) - 2] = '\0'; /* without "/." */
    if (stat(s->folder, &st) == 0 && S_ISDIR(st.st_mode))
        return FBP_OK;
    if (mkdir(s->folder, 0777) < 0)
        return fbp_fail(FBP_ERR_IO, "%s: the folder %s cannot be created: %s%s", s->path, s->folder,
                        strerror(errno), errno == ENOENT ? ": create those above it first" : "");
    s->made_folder = true;
    return FBP_OK;
}

/* A name that cannot be taken would leave the slices after it without theirs. */
static fbp_status check_names(const struct fbp_sink *s)
{
    fbp_status st = FBP_OK;

    for (size_t z = 0; z < s->info.n[2] && st == FBP_OK; z++) {
        char *name = name_of(s, z, "");
        st = name ? fbp_output_check(name) : fbp_fail_nomem(strlen(s->path), "a path");
        free(name);
    }
    return st;
}

/* Is it the name of slice `number`, as this pattern writes it? */
static bool is_name_of(const struct fbp_sink *s, unsigned long long number, const char *name)
{
    char *ours = name_of(s, (size_t)number, "");
    const char *slash = ours ? strrchr(ours, '/') : NULL;
    const bool same = ours && strcmp(slash ? slash + 1 : ours, name) == 0;

    free(ours);
    return same;
}

/* Slices of another, larger volume would be taken for some of this one. */
static fbp_status check_others(const struct fbp_sink *s)
{
    unsigned long long number;
    const struct dirent *e;
    DIR *dir = s->pattern.suffix ? opendir(s->folder) : NULL;
    fbp_status st = FBP_OK;

    while (dir && st == FBP_OK && (e = readdir(dir)))
        if (fbp_pattern_fits(&s->pattern, e->d_name, &number) &&
            (number >= s->info.n[2] || !is_name_of(s, number, e->d_name)))
            st = fbp_fail(FBP_ERR_INVALID,
                          "%s: %s is there and no slice of this volume of %zu: remove it or choose "
                          "another folder",
                          s->path, e->d_name, s->info.n[2]);
    if (dir)
        closedir(dir);
    return st;
}

/* Slices that a killed run of this name has left, perhaps of a larger volume; the lock says that
 * nobody writes them now. */
static void drop_parts(const struct fbp_sink *s)
{
    static const char end[] = ".part";
    unsigned long long number;
    const struct dirent *e;
    DIR *dir = s->pattern.suffix ? opendir(s->folder) : NULL;

    while (dir && (e = readdir(dir))) {
        const size_t n = strlen(e->d_name), behind = strlen(end);
        char name[sizeof e->d_name];
        if (n <= behind || strcmp(e->d_name + n - behind, end) != 0)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)(n - behind), e->d_name);
        if (fbp_pattern_fits(&s->pattern, name, &number) && is_name_of(s, number, name))
            (void)unlinkat(dirfd(dir), e->d_name, 0);
    }
    if (dir)
        closedir(dir);
}

/* Files of slices that are there already, by device and inode. */
struct slices_there {
    struct stat *is;
    size_t n;
    bool hit;
};

static bool is_slice(void *user, const char *file)
{
    struct slices_there *there = user;
    struct stat st;

    if (stat(file, &st) != 0)
        return true;
    for (size_t i = 0; i < there->n && !there->hit; i++)
        there->hit = st.st_dev == there->is[i].st_dev && st.st_ino == there->is[i].st_ino;
    return !there->hit;
}

static fbp_status look_at_slices(const struct fbp_sink *s, struct slices_there *out)
{
    FBP_TRY(fbp_calloc((void **)&out->is, s->info.n[2], sizeof *out->is, "a table of slices"));
    for (size_t z = 0; z < s->info.n[2]; z++) {
        char *name = name_of(s, z, "");
        out->n += name && stat(name, &out->is[out->n]) == 0;
        free(name);
    }
    return FBP_OK;
}

static fbp_status spare_inputs(const struct fbp_sink *s, const struct fbp_sink_params *params)
{
    struct slices_there there = {0};
    const char *hit = NULL;

    if (params->force)
        return FBP_OK;
    FBP_TRY(look_at_slices(s, &there));
    for (size_t i = 0; i < params->n_keep && !hit; i++) {
        const char *keep = params->keep[i];
        if (keep && there.n > 0)
            fbp_stack_each(keep, is_slice, &there);
        if (there.hit || (keep && fbp_stack_joins(keep, s->path)))
            hit = keep;
    }
    free(there.is);
    if (hit)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: this output would replace or join %s, which is read for it: choose "
                        "another folder, or give --force",
                        s->path, hit);
    return FBP_OK;
}

/* Samples that are not compressed have a size that is known. */
static fbp_status check_room(const struct fbp_sink *s)
{
    const uint64_t need = is_png(s) ? 0 : (uint64_t)s->slice_bytes * s->info.n[2];
    struct statvfs v;
    char a[32], b[32];

    if (fstatvfs(s->fd, &v) != 0 || need <= (uint64_t)v.f_bavail * v.f_frsize)
        return FBP_OK;
    return fbp_fail(FBP_ERR_IO,
                    "%s: the disk is too small: %s needed, %s free: free some space or write to "
                    "another disk",
                    s->path, fbp_bytes_text(a, sizeof a, need),
                    fbp_bytes_text(b, sizeof b, (uint64_t)v.f_bavail * v.f_frsize));
}

fbp_status fbp_sink_stack_open(struct fbp_sink *s, const char *path,
                               const struct fbp_sink_params *params)
{
    bool found = false;

    s->path = fbp_strdup(path);
    if (!s->path)
        return fbp_fail_nomem(strlen(path), "a path");
    if (!fbp_pattern_place(s->path, strlen(s->path), &s->pattern)) {
        s->pattern.suffix = NULL;
        FBP_TRY(fbp_sink_follow_link(&s->path, png_names));
    }
    s->part = fbp_format("%s.part", s->path);
    s->log = fbp_format("%s.part.log", s->path);
    if (!s->part || !s->log)
        return fbp_fail_nomem(strlen(path), "a path");
    FBP_TRY(check_kind(s));
    FBP_TRY(make_folder(s));
    FBP_TRY(spare_inputs(s, params));
    FBP_TRY(check_others(s));
    FBP_TRY(check_names(s));
    FBP_TRY(fbp_sink_lock(s, s->log));
    if (params->resume)
        FBP_TRY(fbp_journal_find(s, &found));
    s->owned = !found;
    if (found)
        return fbp_journal_resume(s);
    drop_parts(s);
    FBP_TRY(check_room(s));
    return s->fingerprint ? fbp_journal_create(s) : FBP_OK;
}

/* What the file of slice z says of itself. */
static struct fbp_array_info slice_info(const struct fbp_sink *s, size_t z)
{
    struct fbp_array_info one = s->info;

    one.n[2] = 1;
    one.origin_mm[2] += (double)z * one.spacing_mm[2];
    return one;
}

fbp_status fbp_tiff_encode(struct fbp_piece *p, const struct fbp_array_info *slice,
                           const float *values, uint64_t *clipped)
{
    struct fbp_layout layout = {0};
    fbp_status st;

    FBP_TRY_GOTO(fbp_sink_tiff.layout(p->path, slice, 0, &layout));
    FBP_TRY_GOTO(fbp_piece_put(p, layout.header, layout.header_bytes));
    st = fbp_piece_put_values(p, slice, values, slice->n[0] * slice->n[1], clipped);
fail:
    fbp_layout_clear(&layout);
    return st;
}

static fbp_status write_file(struct fbp_sink *s, size_t z, const char *name, const float *values)
{
    const struct fbp_array_info slice = slice_info(s, z);
    struct fbp_piece p = {0};
    uint64_t clipped = 0;
    fbp_status st;
    int fd;

    do
        fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    while (fd < 0 && errno == EINTR);
    if (fd < 0)
        return fbp_fail(FBP_ERR_IO, "%s: cannot create: %s", name, strerror(errno));
    FBP_TRY_GOTO(fbp_piece_open(&p, fd, name, 0));
    FBP_TRY_GOTO((is_png(s) ? fbp_png_encode : fbp_tiff_encode)(&p, &slice, values, &clipped));
    FBP_TRY_GOTO(fbp_piece_flush(&p));
fail:
    fbp_piece_close(&p);
    if (close(fd) < 0 && st == FBP_OK)
        st = fbp_fail(FBP_ERR_IO, "%s: cannot close: %s", name, strerror(errno));
    if (st == FBP_OK && s->log_fd >= 0)
        st = fbp_journal_append(s, z, 1, p.hash);
    if (st == FBP_OK)
        fbp_sink_mark_clipped(s, z, 1, clipped);
    else
        unlink(name);
    return st;
}

static fbp_status write_slice(struct fbp_sink *s, size_t z, const float *values)
{
    char *name = name_of(s, z, ".part");
    const fbp_status st =
        name ? write_file(s, z, name, values) : fbp_fail_nomem(strlen(s->path), "a path");

    free(name);
    return st;
}

/* Slices that are compressed at the same time, and the first failure among them. */
struct slices {
    struct fbp_sink *sink;
    size_t z0;
    const float *data;
    pthread_mutex_t lock;
    fbp_status status;
    char message[1000];
};

static void write_item(void *user, size_t item, int worker)
{
    struct slices *w = user;

    (void)worker;
    fbp_message_clear();
    const fbp_status st = write_slice(w->sink, w->z0 + item,
                                      w->data + item * w->sink->info.n[0] * w->sink->info.n[1]);
    pthread_mutex_lock(&w->lock);
    if (st != FBP_OK && w->status == FBP_OK) {
        w->status = st;
        snprintf(w->message, sizeof w->message, "%s", fbp_message());
    }
    pthread_mutex_unlock(&w->lock);
}

static fbp_status write_together(struct fbp_sink *s, size_t z0, size_t nz, const float *data)
{
    struct slices w = {.sink = s, .z0 = z0, .data = data};
    const size_t cores = (size_t)fbp_core_count();
    fbp_pool *pool = NULL;

    FBP_TRY(fbp_pool_create(&pool, (int)(nz < cores ? nz : cores)));
    pthread_mutex_init(&w.lock, NULL);
    fbp_pool_for(pool, nz, write_item, &w);
    fbp_pool_destroy(&pool);
    pthread_mutex_destroy(&w.lock);
    if (w.status == FBP_OK)
        return fbp_go_on();
    fbp_message_adopt(w.message);
    return w.status;
}

fbp_status fbp_sink_stack_write(struct fbp_sink *s, size_t z0, size_t nz, const float *data)
{
    if (nz > 1 && is_png(s))
        return write_together(s, z0, nz, data);
    for (size_t z = 0; z < nz; z++)
        FBP_TRY(write_slice(s, z0 + z, data + z * s->info.n[0] * s->info.n[1]));
    return FBP_OK;
}

/* A slice of a run that stopped while it gave names has its name already. */
static fbp_status publish_slice(const struct fbp_sink *s, size_t z)
{
    char *part = name_of(s, z, ".part"), *name = name_of(s, z, "");
    fbp_status st = FBP_OK;

    if (!part || !name)
        st = fbp_fail_nomem(strlen(s->path), "a path");
    else if (rename(part, name) < 0 && !(errno == ENOENT && access(name, F_OK) == 0))
        st = fbp_fail(FBP_ERR_IO, "%s: cannot be renamed to %s: %s", part, name, strerror(errno));
    free(part);
    free(name);
    return st;
}

fbp_status fbp_sink_stack_publish(struct fbp_sink *s)
{
    /* One call for all slices, at the price of whatever else the file system has to write. */
    if (syncfs(s->fd) < 0)
        return fbp_fail(FBP_ERR_IO, "%s: cannot be brought to disk: %s", s->path, strerror(errno));
    FBP_TRY(check_names(s));
    for (size_t z = 0; z < s->info.n[2]; z++)
        FBP_TRY(publish_slice(s, z));
    unlink(s->log);
    fbp_sync_folder(s->path);
    return FBP_OK;
}

void fbp_sink_stack_remove(struct fbp_sink *s)
{
    for (size_t z = 0; z < s->info.n[2]; z++) {
        char *part = name_of(s, z, ".part");
        if (part)
            unlink(part);
        free(part);
    }
    unlink(s->log);
}

static bool holds(const char *path, uint64_t hash, void *scratch)
{
    uint64_t size = 0, h = 0;
    bool whole = true;
    int fd = -1;

    if (fbp_open_file(path, &fd, &size) != FBP_OK)
        return false;
    for (uint64_t at = 0; whole && at < size; at += FBP_PIECE_BYTES) {
        const size_t n = size - at < FBP_PIECE_BYTES ? (size_t)(size - at) : FBP_PIECE_BYTES;
        whole = fbp_read_at(fd, path, at, scratch, n) == FBP_OK;
        h = whole ? fbp_hash(h, scratch, n) : h;
    }
    close(fd);
    return whole && h == hash;
}

bool fbp_sink_stack_has_file(const struct fbp_sink *s, size_t z, uint64_t hash, void *scratch)
{
    static const char *const behind[] = {".part", ""};
    bool found = false;

    for (size_t i = 0; !found && i < 2; i++) {
        char *name = name_of(s, z, behind[i]);
        found = name && holds(name, hash, scratch);
        free(name);
    }
    fbp_message_clear(); /* such slices are simply computed again */
    return found;
}
