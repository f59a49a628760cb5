/* PATH.part, which names the pieces, and their folder: created, opened again, removed. */
#include "array/file/bytes.h"
#include "array/file/outfile.h"
#include "array/split.h"

#include "base/mem.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static fbp_status refuse(const char *path, const char *why)
{
    return fbp_fail(FBP_ERR_INVALID,
                    "%s: is there and was not left by fbp (%s): move it away or remove it, or "
                    "choose another name for the output",
                    path, why);
}

static fbp_status cannot(const char *what, const char *path)
{
    return fbp_fail(FBP_ERR_IO, "%s: cannot %s: %s%s", path, what, strerror(errno),
                    fbp_write_remedy(errno));
}

static fbp_status open_folder(const struct fbp_sink *s)
{
    const uid_t me = geteuid();
    struct stat is;

    s->split->dir = open(s->split->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (s->split->dir < 0)
        return errno == ENOTDIR || errno == ELOOP ? refuse(s->split->folder, "it is no folder")
                                                  : cannot("open", s->split->folder);
    if (fstat(s->split->dir, &is) < 0)
        return cannot("look at", s->split->folder);
    return is.st_uid == me || me == 0 ? FBP_OK
                                      : refuse(s->split->folder, "it belongs to another user");
}

/* PATH.part is on the disk before its folder is there, which nothing else knows. */
static fbp_status write_part(const struct fbp_sink *s)
{
    FBP_TRY(fbp_write_at(s->fd, s->part, 0, s->layout.header, s->layout.header_bytes));
    return fbp_sync_file(s->fd, s->part);
}

/* What is there without anything in it holds nothing that could be lost.  This comes first: what
 * PATH.part names is ours. */
static fbp_status check_free(const struct fbp_sink *s)
{
    if (rmdir(s->split->folder) == 0 || errno == ENOENT)
        return FBP_OK;
    if (errno != ENOTEMPTY && errno != EEXIST && errno != ENOTDIR)
        return fbp_fail(FBP_ERR_IO,
                        "%s: is there, with the name that this output needs for its files, and "
                        "cannot be removed: %s: remove it, or choose another name for the output",
                        s->split->folder, strerror(errno));
    return fbp_fail(
        FBP_ERR_INVALID,
        "%s: is there, with the name that this output needs for its files, and nothing "
        "unfinished names it: move it away or remove it, unless another file joins what "
        "is in it, or choose another name for the output",
        s->split->folder);
}

fbp_status fbp_split_create_folder(const struct fbp_sink *s)
{
    if (mkdir(s->split->folder, 0777) < 0)
        return cannot("create", s->split->folder);
    const fbp_status st = open_folder(s);
    if (st != FBP_OK)
        rmdir(s->split->folder);
    return st;
}

fbp_status fbp_split_begin(struct fbp_sink *s)
{
    FBP_TRY(check_free(s));
    FBP_TRY(fbp_part_create(s->part, &s->fd));
    fbp_status st = write_part(s);
    if (st == FBP_OK)
        st = fbp_split_create_folder(s);
    if (st != FBP_OK)
        unlink(s->part);
    return st;
}

static fbp_status refuse_other(const struct fbp_sink *s)
{
    char *pieces = fbp_split_left(s);
    const fbp_status st =
        fbp_fail(FBP_ERR_INVALID,
                 "%s: is not what this run would write, although its options are the same: %s was "
                 "replaced or removed meanwhile: remove %s*%s and start again",
                 s->part, s->path, s->part, pieces ? pieces : "");

    free(pieces);
    return st;
}

/* *torn: its process was killed before it could write it. */
static fbp_status check_part(const struct fbp_sink *s, bool *torn)
{
    const size_t n = s->layout.header_bytes;
    size_t got = 0;
    void *text = NULL;
    struct stat is;

    FBP_TRY(fbp_alloc(&text, n, "a file"));
    fbp_status st = fbp_read_most(s->fd, s->part, 0, text, n, &got);
    if (st == FBP_OK && fstat(s->fd, &is) < 0)
        st = cannot("look at", s->part);
    const bool like =
        st == FBP_OK && memcmp(text, s->layout.header, got) == 0 && (uint64_t)is.st_size == got;
    *torn = like && got < n;
    fbp_free(text);
    FBP_TRY(st);
    return like ? FBP_OK : refuse_other(s);
}

fbp_status fbp_split_reopen(struct fbp_sink *s, const struct fbp_part_inputs *inputs)
{
    bool torn, there;

    FBP_TRY(fbp_part_reopen(inputs, s->part, &s->fd));
    if (s->fd < 0)
        return FBP_OK;
    FBP_TRY(check_part(s, &torn));
    if (torn) {
        FBP_TRY(check_free(s));
        FBP_TRY(write_part(s));
    }
    FBP_TRY(fbp_is_there(s->split->folder, &there));
    return there ? open_folder(s) : FBP_OK;
}

fbp_status fbp_split_clear(struct fbp_sink *s, const struct fbp_part_inputs *inputs, bool ours)
{
    struct fbp_split_token token, used;

    if (!ours)
        return fbp_part_clear(inputs, s->part, false);
    FBP_TRY(fbp_split_settle_old(s));
    FBP_TRY(fbp_part_spare(inputs, s->part));
    FBP_TRY(fbp_split_named(s, s->part, &token));
    FBP_TRY(fbp_split_named(s, s->path, &used));
    if (strcmp(token.text, used.text) != 0) { /* else PATH came, or came back, in between */
        FBP_TRY(fbp_split_spare(s, inputs->params, &token));
        FBP_TRY(fbp_split_remove_folder(s, &token));
    }
    return fbp_part_clear(inputs, s->part, true);
}

/* Also where no more files may be open.  Once PATH has its name, the pieces are its. */
void fbp_split_remove(const struct fbp_sink *s)
{
    const struct fbp_split_files *p = &s->split->pieces;

    if (s->split->dir < 0 || !fbp_part_is_named(s->fd, s->part))
        return;
    for (size_t k = 0; k < p->n_files; k++)
        unlinkat(s->split->dir, p->file[k].name, 0);
    rmdir(s->split->folder);
    unlink(s->part);
}
