/* The pieces of an output: which bytes lie where, and who has them open. */
#include "array/file/bytes.h"
#include "array/file/identity.h"
#include "array/file/outfile.h"
#include "array/file/room.h"
#include "array/split.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_OPEN = 64 };

static uint64_t begin_of(const struct fbp_sink *s, size_t k)
{
    return s->split->pieces.file[k].z0 * (uint64_t)s->slice_bytes;
}

static uint64_t bytes_of(const struct fbp_sink *s, size_t k)
{
    return s->split->pieces.file[k].nz * (uint64_t)s->slice_bytes;
}

/* The file of a slice: the last one that does not begin behind it. */
static size_t find(const struct fbp_sink *s, uint64_t at)
{
    const struct fbp_split_files *p = &s->split->pieces;
    const size_t z = (size_t)(at / s->slice_bytes);
    size_t lo = 0, hi = p->n_files;

    while (hi - lo > 1) {
        const size_t mid = lo + (hi - lo) / 2;
        if (p->file[mid].z0 <= z)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

uint64_t fbp_split_stripe_from(const struct fbp_sink *s, uint64_t at, uint64_t stripe)
{
    const size_t k = find(s, at);
    const uint64_t begin = begin_of(s, k), end = begin + bytes_of(s, k);
    const uint64_t in_file = at - begin + s->split->pieces.offset;
    const uint64_t to = at + (in_file + stripe - 1) / stripe * stripe - in_file;

    return at == begin ? at : to < end ? to : end;
}

uint64_t fbp_split_stripe_to(const struct fbp_sink *s, uint64_t at, uint64_t stripe)
{
    const size_t k = find(s, at - 1);
    const uint64_t begin = begin_of(s, k), header = s->split->pieces.offset;
    const uint64_t whole = (at - begin + header) / stripe * stripe;

    if (at == begin + bytes_of(s, k))
        return at;
    return whole > header ? begin + whole - header : begin;
}

static fbp_status cannot(const struct fbp_sink *s, const char *what, size_t k)
{
    const int error = errno;

    if (error == ENOSPC || error == EDQUOT || error == EFBIG)
        return fbp_fail_write(s->path, error, bytes_of(s, k));
    return fbp_fail(FBP_ERR_IO, "%s/%s: cannot %s: %s%s", s->split->folder,
                    s->split->pieces.file[k].name, what, strerror(error),
                    error == EMFILE ? ": raise the number of open files (ulimit -n)"
                                    : fbp_write_remedy(error));
}

static int open_file(const struct fbp_sink *s, size_t k, int flags)
{
    int fd;

    do
        fd = openat(s->split->dir, s->split->pieces.file[k].name,
                    O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags, 0666);
    while (fd < 0 && errno == EINTR);
    return fd;
}

/* Those that nobody uses, but the last `keep`. */
static void close_idle(struct fbp_split *x, size_t keep)
{
    for (size_t k = 0; k < x->pieces.n_files && x->n_open > keep; k++) {
        if (x->open[k].fd < 0 || x->open[k].users > 0)
            continue;
        close(x->open[k].fd);
        x->open[k].fd = -1;
        x->n_open--;
    }
}

static fbp_status begin_use(const struct fbp_sink *s, size_t k, int *fd)
{
    struct fbp_split_open *o = &s->split->open[k];
    fbp_status st = FBP_OK;

    pthread_mutex_lock(&s->split->lock);
    if (o->fd < 0) {
        o->fd = open_file(s, k, 0);
        if (o->fd < 0 && (errno == EMFILE || errno == ENFILE)) {
            close_idle(s->split, 0);
            o->fd = open_file(s, k, 0);
        }
        s->split->n_open += o->fd >= 0;
    }
    *fd = o->fd;
    if (o->fd < 0)
        st = cannot(s, "open", k);
    else
        o->users++;
    pthread_mutex_unlock(&s->split->lock);
    return st;
}

static void end_use(const struct fbp_sink *s, size_t k, bool put)
{
    struct fbp_split_open *o = &s->split->open[k];

    pthread_mutex_lock(&s->split->lock);
    if (put && !o->put)
        o->identity = fbp_file_identity(o->fd, "");
    o->users--;
    o->put |= put;
    close_idle(s->split, MOST_OPEN);
    pthread_mutex_unlock(&s->split->lock);
}

static fbp_status put_header(const struct fbp_sink *s, size_t k, int fd)
{
    const struct fbp_split_file *f = &s->split->pieces.file[k];

    FBP_TRY(fbp_write_at(fd, s->path, 0, f->header, f->header_bytes));
    s->split->open[k].headed = true; /* by who puts its first sample, or at the end */
    return FBP_OK;
}

static fbp_status put_in(const struct fbp_sink *s, size_t k, uint64_t in_file, const void *data,
                         size_t n)
{
    const size_t offset = s->split->pieces.offset;
    fbp_status st = FBP_OK;
    int fd;

    FBP_TRY(begin_use(s, k, &fd));
    if (in_file == 0)
        st = put_header(s, k, fd);
    if (st == FBP_OK)
        st = fbp_write_at(fd, s->path, offset + in_file, data, n);
    if (st == FBP_OK)
        fbp_begin_sync(fd, offset + in_file, n);
    end_use(s, k, true);
    return st;
}

fbp_status fbp_split_put(const struct fbp_sink *s, uint64_t at, const void *data, size_t n)
{
    for (const char *from = data; n > 0;) {
        const size_t k = find(s, at);
        const uint64_t in_file = at - begin_of(s, k), left = bytes_of(s, k) - in_file;
        const size_t m = left < n ? (size_t)left : n;
        FBP_TRY(put_in(s, k, in_file, from, m));
        from += m;
        at += m;
        n -= m;
    }
    return FBP_OK;
}

fbp_status fbp_split_get(const struct fbp_sink *s, uint64_t at, void *out, size_t n)
{
    for (char *to = out; n > 0;) {
        const size_t k = find(s, at);
        const uint64_t in_file = at - begin_of(s, k), left = bytes_of(s, k) - in_file;
        const size_t m = left < n ? (size_t)left : n;
        int fd;
        FBP_TRY(begin_use(s, k, &fd));
        const fbp_status st = fbp_read_at(fd, s->path, s->split->pieces.offset + in_file, to, m);
        end_use(s, k, false);
        FBP_TRY(st);
        to += m;
        at += m;
        n -= m;
    }
    return FBP_OK;
}

/* Of one file, which is open; *asked: bytes that could not be reserved, and must be free. */
static fbp_status reserve(const struct fbp_sink *s, size_t k, int fd, uint64_t *asked)
{
    const uint64_t need = s->split->pieces.offset + bytes_of(s, k);
    struct stat is;

    if (fstat(fd, &is) < 0)
        return cannot(s, "look at", k);
    if ((uint64_t)is.st_size > need) /* what another program has put behind it */
        return ftruncate(fd, (off_t)need) < 0 ? cannot(s, "shorten", k) : FBP_OK;
    if ((uint64_t)is.st_size == need)
        return FBP_OK;
    const int error = fbp_room_reserve(fd, need);
    if (error == 0)
        return FBP_OK;
    if (error != EOPNOTSUPP) {
        const uint64_t left = fbp_room_left(fd);
        errno = error;
        return error == ENOSPC && need > left ? fbp_fail_room(s->path, need, left)
                                              : cannot(s, "reserve space", k);
    }
    const uint64_t taken = (uint64_t)is.st_blocks * 512;
    *asked += need > taken ? need - taken : 0;
    return ftruncate(fd, (off_t)need) < 0 ? cannot(s, "make larger", k) : FBP_OK;
}

static fbp_status check_room(const struct fbp_sink *s, uint64_t need)
{
    const uint64_t left = fbp_room_left(s->fd);

    return need <= left ? FBP_OK : fbp_fail_room(s->path, need, left);
}

/* Bytes that none of the files has yet. */
static uint64_t lacking(const struct fbp_sink *s)
{
    const struct fbp_split_files *p = &s->split->pieces;
    uint64_t n = 0;
    struct stat is;

    for (size_t k = 0; k < p->n_files; k++)
        if (fstatat(s->split->dir, p->file[k].name, &is, AT_SYMLINK_NOFOLLOW) < 0)
            n += p->offset + bytes_of(s, k);
    return n;
}

fbp_status fbp_split_reserve(const struct fbp_sink *s)
{
    uint64_t asked = 0;

    if (s->split->dir < 0)
        FBP_TRY(fbp_split_create_folder(s));
    FBP_TRY(check_room(s, lacking(s))); /* before the disk is filled by some of them */
    for (size_t k = 0; k < s->split->pieces.n_files; k++) {
        const int fd = open_file(s, k, O_CREAT);
        if (fd < 0)
            return cannot(s, "create", k);
        const fbp_status st = reserve(s, k, fd, &asked);
        close(fd);
        FBP_TRY(st);
    }
    return check_room(s, asked);
}

fbp_status fbp_split_put_headers(const struct fbp_sink *s)
{
    for (size_t k = 0; k < s->split->pieces.n_files; k++) {
        int fd;
        if (s->split->open[k].headed)
            continue;
        FBP_TRY(begin_use(s, k, &fd));
        const fbp_status st = put_header(s, k, fd);
        end_use(s, k, true);
        FBP_TRY(st);
    }
    return FBP_OK;
}

static fbp_status sync_file(const struct fbp_sink *s, size_t k)
{
    int fd;

    FBP_TRY(begin_use(s, k, &fd));
    const fbp_status st = fbp_sync_file(fd, s->path);
    end_use(s, k, false);
    return st;
}

fbp_status fbp_split_lost(const struct fbp_sink *s, size_t k, const char *what)
{
    return fbp_fail(FBP_ERR_IO,
                    "%s/%s: %s: another program changed it while the output was written: put it "
                    "back and go on, or remove %s* and %s and start again",
                    s->split->folder, s->split->pieces.file[k].name, what, s->part,
                    s->split->folder);
}

fbp_status fbp_split_check(const struct fbp_sink *s)
{
    struct stat is;

    if (!fbp_part_is_named(s->split->dir, s->split->folder))
        return fbp_fail(FBP_ERR_IO,
                        "%s: was moved or removed while the output was written: put it back and "
                        "go on, or remove %s* and start again",
                        s->split->folder, s->part);
    for (size_t k = 0; k < s->split->pieces.n_files; k++) {
        if (fstatat(s->split->dir, s->split->pieces.file[k].name, &is, AT_SYMLINK_NOFOLLOW) < 0)
            return errno == ENOENT ? fbp_split_lost(s, k, "is not there") : cannot(s, "look at", k);
        if (!S_ISREG(is.st_mode))
            return fbp_split_lost(s, k, "is no regular file");
        if ((uint64_t)is.st_size != s->split->pieces.offset + bytes_of(s, k))
            return fbp_split_lost(s, k, "has another size");
    }
    return FBP_OK;
}

static fbp_status check_header(const struct fbp_sink *s, size_t k, void *scratch)
{
    const struct fbp_split_file *f = &s->split->pieces.file[k];
    int fd;

    FBP_TRY(begin_use(s, k, &fd));
    const fbp_status st = fbp_read_at(fd, s->path, 0, scratch, f->header_bytes);
    end_use(s, k, false);
    FBP_TRY(st);
    return memcmp(scratch, f->header, f->header_bytes) == 0
               ? FBP_OK
               : fbp_split_lost(s, k, "has another header");
}

fbp_status fbp_split_check_headers(const struct fbp_sink *s)
{
    void *scratch = NULL;
    fbp_status st = fbp_alloc(&scratch, s->split->pieces.offset, "a header");

    for (size_t k = 0; k < s->split->pieces.n_files && st == FBP_OK; k++)
        st = check_header(s, k, scratch);
    fbp_free(scratch);
    return st;
}

fbp_status fbp_split_sync(const struct fbp_sink *s)
{
    for (size_t k = 0; k < s->split->pieces.n_files; k++)
        if (s->split->open[k].put)
            FBP_TRY(sync_file(s, k));
    FBP_TRY(fbp_sync_file(s->split->dir, s->path));
    pthread_mutex_lock(&s->split->lock);
    close_idle(s->split, 0); /* what others have written is seen by who opens them anew */
    pthread_mutex_unlock(&s->split->lock);
    return fbp_split_check(s); /* what was put into a file that has lost its name is nowhere */
}
