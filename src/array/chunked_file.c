/* Files of chunks: parts of plain ones, whole ones, packed ones. */
#include "array/chunked.h"
#include "array/file/bytes.h"
#include "array/file/outfile.h"

#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { NAME_BYTES = 120 };

/* What a file in the folder is called. */
struct name {
    char text[NAME_BYTES];
};

static struct name name_of(size_t level, const size_t k[3], const char *end)
{
    struct name name;

    snprintf(name.text, sizeof name.text, "%zu/%zu/%zu/%zu%s", level, k[2], k[1], k[0], end);
    return name;
}

static struct name plain_name(const struct fbp_sink *s, size_t level, const size_t k[3])
{
    return name_of(level, k, s->chunked->compression ? ".part" : "");
}

static fbp_status cannot(const struct fbp_sink *s, const char *what, const struct name *name)
{
    if (errno == ENOSPC || errno == EDQUOT)
        return fbp_fail_write(s->path, errno, 0);
    return fbp_fail(FBP_ERR_IO, "%s/%s: cannot %s: %s%s", s->part, name->text, what,
                    strerror(errno), fbp_write_remedy(errno));
}

/* The folders above a chunk, which others may create at the same time. */
static fbp_status make_folders(const struct fbp_sink *s, const struct name *name)
{
    struct name folder = *name;

    for (char *slash = strchr(folder.text, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdirat(s->fd, folder.text, 0777) < 0 && errno != EEXIST)
            return cannot(s, "create the folder of", name);
        *slash = '/';
    }
    return FBP_OK;
}

static int open_in(const struct fbp_sink *s, const struct name *name, int flags)
{
    int fd;

    do
        fd = openat(s->fd, name->text, flags | O_NOFOLLOW | O_CLOEXEC, 0666);
    while (fd < 0 && errno == EINTR);
    return fd;
}

static fbp_status create(const struct fbp_sink *s, const struct name *name, int *fd)
{
    *fd = open_in(s, name, O_RDWR | O_CREAT);
    if (*fd < 0 && errno == ENOENT) {
        FBP_TRY(make_folders(s, name));
        *fd = open_in(s, name, O_RDWR | O_CREAT);
    }
    return *fd < 0 ? cannot(s, "create", name) : FBP_OK;
}

static fbp_status close_written(const struct fbp_sink *s, int fd, const struct name *name,
                                fbp_status st)
{
    return close(fd) < 0 && st == FBP_OK ? cannot(s, "close", name) : st;
}

/* A whole file, under a name of its own first. */
static fbp_status replace(const struct fbp_sink *s, const struct name *name, const void *data,
                          size_t n)
{
    struct name other;
    fbp_status st;
    int fd;

    snprintf(other.text, sizeof other.text, "%.*s.new", NAME_BYTES - 5, name->text);
    FBP_TRY(create(s, &other, &fd));
    st = ftruncate(fd, 0) < 0 ? cannot(s, "empty", &other) : fbp_write_at(fd, s->part, 0, data, n);
    FBP_TRY(close_written(s, fd, &other, st));
    return renameat(s->fd, other.text, s->fd, name->text) < 0 ? cannot(s, "rename", &other)
                                                              : FBP_OK;
}

static fbp_status damaged(const struct fbp_sink *s, const struct name *name)
{
    return fbp_fail(FBP_ERR_IO,
                    "%s/%s: cannot be inflated: it is damaged: remove %s and %s.log* and start "
                    "again",
                    s->part, name->text, s->part, s->part);
}

static fbp_status inflate_all(const struct fbp_sink *s, const struct name *name, int fd,
                              size_t bytes, void *out)
{
    uLongf got = s->chunked->chunk_bytes;
    void *packed = NULL;

    FBP_TRY(fbp_alloc(&packed, bytes, "a compressed chunk"));
    fbp_status st = fbp_read_at(fd, s->part, 0, packed, bytes);
    if (st == FBP_OK &&
        (uncompress(out, &got, packed, bytes) != Z_OK || got != s->chunked->chunk_bytes))
        st = damaged(s, name);
    fbp_free(packed);
    return st;
}

/* The compressed file of a chunk. */
static fbp_status read_packed(const struct fbp_sink *s, size_t level, const size_t k[3], void *out)
{
    const struct name name = name_of(level, k, "");
    const int fd = open_in(s, &name, O_RDONLY);
    struct stat is;

    if (fd < 0)
        return cannot(s, "open", &name);
    const fbp_status st = fstat(fd, &is) < 0 ? cannot(s, "look at", &name)
                          : (uint64_t)is.st_size > fbp_chunk_packed_bytes(s->chunked)
                              ? damaged(s, &name)
                              : inflate_all(s, &name, fd, (size_t)is.st_size, out);
    close(fd);
    return st;
}

/* While nobody else does. */
static fbp_status unpack_alone(const struct fbp_sink *s, size_t level, const size_t k[3], int *fd)
{
    const struct name packed = name_of(level, k, ""), plain = plain_name(s, level, k);
    void *data = NULL;

    if (faccessat(s->fd, packed.text, F_OK, 0) < 0)
        return FBP_OK;
    FBP_TRY(fbp_alloc(&data, s->chunked->chunk_bytes, "a chunk"));
    fbp_status st = read_packed(s, level, k, data);
    if (st == FBP_OK)
        st = replace(s, &plain, data, s->chunked->chunk_bytes);
    fbp_free(data);
    FBP_TRY(st);
    *fd = open_in(s, &plain, O_RDWR);
    return *fd < 0 ? cannot(s, "open", &plain) : FBP_OK;
}

/* A chunk that was packed becomes a plain one again: some of its slices are to be read or written.
 * *fd -1: it was not. */
static fbp_status unpack(const struct fbp_sink *s, size_t level, const size_t k[3], int *fd)
{
    const struct name plain = plain_name(s, level, k);

    pthread_mutex_lock(&s->chunked->unpacking);
    *fd = open_in(s, &plain, O_RDWR); /* else what another thread has put into it would be lost */
    const fbp_status st = *fd < 0 ? unpack_alone(s, level, k, fd) : FBP_OK;
    pthread_mutex_unlock(&s->chunked->unpacking);
    return st;
}

static fbp_status open_plain(const struct fbp_sink *s, size_t level, const size_t k[3], int *fd)
{
    const struct name name = plain_name(s, level, k);

    *fd = open_in(s, &name, O_RDWR);
    if (*fd < 0 && errno != ENOENT)
        return cannot(s, "open", &name);
    return *fd < 0 && s->chunked->compression ? unpack(s, level, k, fd) : FBP_OK;
}

/* Where a volume ends within a chunk, the rest is 0. */
static fbp_status make_whole(const struct fbp_sink *s, int fd, const struct name *name)
{
    const size_t bytes = s->chunked->chunk_bytes;
    struct stat is;

    if (fstat(fd, &is) < 0)
        return cannot(s, "look at", name);
    return (size_t)is.st_size >= bytes || ftruncate(fd, (off_t)bytes) == 0
               ? FBP_OK
               : cannot(s, "enlarge", name);
}

/* A plain chunk that is there, or comes to be. */
static fbp_status create_plain(const struct fbp_sink *s, size_t level, const size_t k[3], int *fd)
{
    const struct name name = plain_name(s, level, k);

    FBP_TRY(open_plain(s, level, k, fd));
    if (*fd < 0)
        FBP_TRY(create(s, &name, fd));
    return make_whole(s, *fd, &name);
}

fbp_status fbp_chunk_use(const struct fbp_sink *s, const size_t k[3], bool write,
                         fbp_chunk_use_fn *fn, void *user)
{
    const struct name name = plain_name(s, 0, k);
    fbp_status st;
    int fd = -1;

    FBP_TRY_GOTO(write ? create_plain(s, 0, k, &fd) : open_plain(s, 0, k, &fd));
    if (fd < 0)
        return fbp_fail(FBP_ERR_IO, "%s/%s: is not there", s->part, name.text);
    st = fn(user, fd);
fail:
    return fd < 0 ? st : close_written(s, fd, &name, st);
}

fbp_status fbp_chunk_put(const struct fbp_sink *s, size_t level, const size_t k[3], size_t at,
                         const void *data, size_t n)
{
    const struct name name = plain_name(s, level, k);
    fbp_status st;
    int fd = -1;

    FBP_TRY_GOTO(create_plain(s, level, k, &fd));
    st = fbp_write_at(fd, s->part, at, data, n);
fail:
    return fd < 0 ? st : close_written(s, fd, &name, st);
}

/* The size of a chunk's file, plain or packed; *there: false if there is neither. */
static fbp_status find_size(const struct fbp_sink *s, size_t level, const size_t k[3], bool *there,
                            bool *fits)
{
    const struct name names[] = {plain_name(s, level, k), name_of(level, k, "")};
    const size_t most = fbp_chunk_packed_bytes(s->chunked);
    struct stat is;

    *there = *fits = false;
    for (size_t i = 0; i < (s->chunked->compression ? 2 : 1) && !*there; i++) {
        *there = fstatat(s->fd, names[i].text, &is, AT_SYMLINK_NOFOLLOW) == 0;
        if (!*there && errno != ENOENT && errno != ENOTDIR)
            return cannot(s, "look at", &names[i]);
        *fits = *there && (i == 0 ? (uint64_t)is.st_size == s->chunked->chunk_bytes
                                  : is.st_size > 0 && (uint64_t)is.st_size <= most);
    }
    return FBP_OK;
}

fbp_status fbp_chunk_check(const struct fbp_sink *s, size_t level, const size_t k[3],
                           const char *remedy)
{
    const struct name name = name_of(level, k, "");
    bool there, fits;

    FBP_TRY(find_size(s, level, k, &there, &fits));
    if (fits)
        return FBP_OK;
    return fbp_fail(FBP_ERR_IO,
                    "%s/%s: %s: another program changed it while the output was written: put it "
                    "back and go on, or remove %s%s%s",
                    s->part, name.text, there ? "has another size" : "is not there",
                    there ? "it and " : "", s->part, remedy ? remedy : "* and start again");
}

uint64_t fbp_chunk_taken(const struct fbp_sink *s, size_t level, const size_t k[3])
{
    const struct name name = plain_name(s, level, k);
    struct stat is;

    return fstatat(s->fd, name.text, &is, AT_SYMLINK_NOFOLLOW) == 0 ? (uint64_t)is.st_blocks * 512
                                                                    : 0;
}

fbp_status fbp_chunk_read(const struct fbp_sink *s, size_t level, const size_t k[3], void *out)
{
    const struct name name = plain_name(s, level, k);
    int fd;

    FBP_TRY(fbp_chunk_check(s, level, k, NULL));
    fd = open_in(s, &name, O_RDONLY);
    if (fd < 0 && errno == ENOENT && s->chunked->compression)
        return read_packed(s, level, k, out);
    if (fd < 0)
        return cannot(s, "open", &name);
    const fbp_status st = fbp_read_at(fd, s->part, 0, out, s->chunked->chunk_bytes);
    close(fd);
    return st;
}

size_t fbp_chunk_packed_bytes(const struct fbp_chunked *c)
{
    return compressBound(c->chunk_bytes);
}

fbp_status fbp_chunk_pack(const struct fbp_sink *s, size_t level, const size_t k[3],
                          const void *plain, void *scratch)
{
    const struct name name = name_of(level, k, "");
    uLongf n = fbp_chunk_packed_bytes(s->chunked);

    if (compress2(scratch, &n, plain, s->chunked->chunk_bytes, s->chunked->compression) != Z_OK)
        return fbp_fail_nomem(1 << 18, "zlib");
    return replace(s, &name, scratch, n);
}

void fbp_chunk_drop(const struct fbp_sink *s, size_t level, const size_t k[3])
{
    const struct name name = plain_name(s, level, k);

    unlinkat(s->fd, name.text, 0);
}
