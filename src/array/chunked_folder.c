/* The folder of an output in chunks: created, cleared, published. */
#include "array/chunked.h"
#include "array/file/bytes.h"
#include "array/file/outfile.h"
#include "array/file/room.h"

#include "base/base.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char old_end[] = ".part.old";

static fbp_status cannot(const char *what, const char *path)
{
    return fbp_fail(FBP_ERR_IO, "%s: cannot %s: %s%s", path, what, strerror(errno),
                    errno == ENOENT ? ": create its folder first" : fbp_write_remedy(errno));
}

static int remove_one(const char *path, const struct stat *is, int kind, struct FTW *at)
{
    (void)is;
    (void)kind;
    (void)at;
    return remove(path) < 0 && errno != ENOENT ? -1 : 0;
}

/* A folder with all that is in it; links are not followed. */
static fbp_status remove_tree(const char *path)
{
    enum { DEPTH = 8 };

    return nftw(path, remove_one, DEPTH, FTW_DEPTH | FTW_PHYS) == 0 || errno == ENOENT
               ? FBP_OK
               : cannot("remove", path);
}

/* Is it in the folder of an image that holds nothing but its levels? */
static bool is_of_image(const char *name)
{
    static const char *const others[] = {".", "..", ".zattrs", ".zgroup", ".zmetadata"};

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(name, others[i]) == 0)
            return true;
    return name[strspn(name, "0123456789")] == '\0';
}

/* Numbers may be names of anything, where nothing says that they are levels. */
static fbp_status check_entries(const char *path, DIR *dir)
{
    const struct dirent *e;
    bool numbers = false, image = false;

    while ((errno = 0, e = readdir(dir))) {
        if (!is_of_image(e->d_name))
            return fbp_fail(FBP_ERR_INVALID,
                            "%s: is a folder that holds more than an image (%s), which would be "
                            "lost: move it away, or choose another name",
                            path, e->d_name);
        numbers |= e->d_name[0] != '.';
        image |= strcmp(e->d_name, ".zattrs") == 0;
    }
    if (errno)
        return cannot("list", path);
    return image || !numbers ? FBP_OK
                             : fbp_fail(FBP_ERR_INVALID,
                                        "%s: is a folder, but no image (it has no .zattrs), and "
                                        "would be lost: move it away, or choose another name",
                                        path);
}

fbp_status fbp_chunked_check(const char *path)
{
    struct stat st;

    if (stat(path, &st) < 0)
        return errno == ENOENT ? FBP_OK : cannot("look at", path);
    if (!S_ISDIR(st.st_mode))
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: is there and not a folder, as OME-Zarr is: remove it, or choose "
                        "another name",
                        path);
    DIR *dir = opendir(path);
    if (!dir)
        return cannot("list", path);
    const fbp_status ok = check_entries(path, dir);
    closedir(dir);
    return ok;
}

static fbp_status refuse(const char *path, const char *why)
{
    return fbp_fail(FBP_ERR_INVALID,
                    "%s: is there and was not left by fbp (%s): move it away or remove it, or "
                    "choose another name for the output",
                    path, why);
}

static fbp_status clear_folder(const struct fbp_part_inputs *inputs, const char *path, bool ours)
{
    const uid_t me = geteuid();
    struct stat st;

    if (lstat(path, &st) < 0)
        return errno == ENOENT ? FBP_OK : cannot("look at", path);
    FBP_TRY(fbp_part_spare(inputs, path));
    if (!S_ISDIR(st.st_mode))
        return refuse(path, "it is no folder");
    if (rmdir(path) == 0)
        return FBP_OK;
    if (!ours)
        return refuse(path, "there is no journal of it");
    if (st.st_uid != me && me != 0)
        return refuse(path, "it belongs to another user");
    return remove_tree(path);
}

static fbp_status rename_to(const char *from, const char *to)
{
    if (rename(from, to) < 0)
        return fbp_fail(FBP_ERR_IO, "%s: cannot be renamed to %s: %s", from, to, strerror(errno));
    return FBP_OK;
}

fbp_status fbp_chunked_settle_old(const struct fbp_sink *s)
{
    char *old = fbp_format("%s%s", s->path, old_end);
    fbp_status st = FBP_OK;

    if (!old)
        return fbp_fail_nomem(strlen(s->path), "a path");
    if (access(old, F_OK) == 0)
        st = access(s->path, F_OK) == 0 ? remove_tree(old) : rename_to(old, s->path);
    free(old);
    return st;
}

fbp_status fbp_chunked_clear(const struct fbp_sink *s, const struct fbp_part_inputs *inputs,
                             bool ours)
{
    FBP_TRY(clear_folder(inputs, s->part, ours));
    return ours ? fbp_chunked_settle_old(s) : FBP_OK;
}

static fbp_status open_folder(struct fbp_sink *s)
{
    s->fd = open(s->part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return s->fd < 0 && errno != ENOENT ? refuse(s->part, strerror(errno)) : FBP_OK;
}

fbp_status fbp_chunked_begin(struct fbp_sink *s)
{
    if (mkdir(s->part, 0777) < 0)
        return cannot("create", s->part);
    FBP_TRY(open_folder(s));
    return s->fd < 0 ? cannot("open", s->part) : FBP_OK;
}

fbp_status fbp_chunked_reopen(struct fbp_sink *s)
{
    const uid_t me = geteuid();
    struct stat is;

    FBP_TRY(open_folder(s));
    if (s->fd < 0)
        return FBP_OK;
    if (fstat(s->fd, &is) == 0 && (is.st_uid == me || me == 0))
        return FBP_OK;
    close(s->fd);
    s->fd = -1;
    return refuse(s->part, "it belongs to another user");
}

/* What chunks of a level have already. */
static uint64_t taken_bytes(const struct fbp_sink *s, size_t level)
{
    const size_t *n = s->chunked->levels.level[level].chunks, most = s->chunked->chunk_bytes;
    uint64_t sum = 0;
    char name[24];
    size_t k[3];

    snprintf(name, sizeof name, "%zu", level);
    if (faccessat(s->fd, name, F_OK, 0) < 0)
        return 0;
    for (k[2] = 0; k[2] < n[2]; k[2]++)
        for (k[1] = 0; k[1] < n[1]; k[1]++)
            for (k[0] = 0; k[0] < n[0]; k[0]++) {
                const uint64_t taken = fbp_chunk_taken(s, level, k);
                sum += taken < most ? taken : most;
            }
    return sum;
}

/* Of chunks of all levels, plain. */
static uint64_t lacking_bytes(const struct fbp_sink *s)
{
    const struct fbp_chunked *c = s->chunked;
    uint64_t n = 0;

    for (size_t l = 0; l < c->levels.n_levels; l++) {
        const size_t *k = c->levels.level[l].chunks;
        n += (uint64_t)k[0] * k[1] * k[2] * c->chunk_bytes - taken_bytes(s, l);
    }
    return n;
}

fbp_status fbp_chunked_room(const struct fbp_sink *s)
{
    const uint64_t need = s->compress ? 0 : lacking_bytes(s), left = fbp_room_left(s->fd);

    return need <= left ? FBP_OK : fbp_fail_room(s->path, need, left);
}

static fbp_status write_text(const struct fbp_sink *s, const char *name, const char *text)
{
    const int fd = openat(s->fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);

    if (fd < 0)
        return fbp_fail_write(s->path, errno, 0);
    const fbp_status st = fbp_write_at(fd, s->part, 0, text, strlen(text));
    return close(fd) < 0 && st == FBP_OK ? fbp_fail_write(s->path, errno, 0) : st;
}

static fbp_status write_texts(const struct fbp_sink *s)
{
    const struct fbp_chunked *c = s->chunked;
    fbp_status st = FBP_OK;
    bool more = true;

    for (size_t k = 0; more && st == FBP_OK; k++) {
        char *name = NULL, *text = NULL;
        st = c->format->text(&s->info, &c->levels, c->compression, k, &name, &text);
        more = name != NULL;
        if (st == FBP_OK && more)
            st = write_text(s, name, text);
        free(name);
        free(text);
    }
    return st;
}

/* An older image steps aside, and is removed when the new one has its name: folders that are not
 * empty cannot be replaced at once everywhere. */
static fbp_status swap(struct fbp_sink *s, const char *old)
{
    struct stat st;

    if (lstat(s->path, &st) == 0) {
        FBP_TRY(remove_tree(old));
        FBP_TRY(rename_to(s->path, old));
    }
    const fbp_status done = rename_to(s->part, s->path);
    if (done != FBP_OK)
        (void)!rename(old, s->path);
    FBP_TRY(done);
    s->published = true;
    fbp_sync_folder(s->path);
    return remove_tree(old);
}

fbp_status fbp_chunked_publish(struct fbp_sink *s)
{
    FBP_TRY(fbp_chunked_check(s->path));
    FBP_TRY(write_texts(s));
    if (syncfs(s->fd) < 0)
        return fbp_fail_write(s->path, errno, 0);
    char *old = fbp_format("%s%s", s->path, old_end);
    const fbp_status st = old ? swap(s, old) : fbp_fail_nomem(strlen(s->path), "a path");
    free(old);
    return st;
}

void fbp_chunked_remove(const struct fbp_sink *s)
{
    (void)!remove_tree(s->part);
}
