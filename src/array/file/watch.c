#include "array/file/watch.h"
#include "array/file/bytes.h"

#include "base/base.h"
#include "base/text.h"

#include <stdlib.h>

struct fbp_watched {
    char *path;
    struct stat was;
};

static bool no_memory(struct fbp_watch *w)
{
    w->status = fbp_fail_nomem((w->n + 1) * sizeof *w->files, "names of files");
    return false;
}

bool fbp_watch_file(void *user, const char *file)
{
    struct fbp_watch *w = user;
    struct stat was;
    bool there = false;

    w->status = fbp_stat(file, &was, &there);
    if (!there) /* who opens it says why; a pattern may name more than any disk holds */
        return false;
    if (w->n == w->room) {
        const size_t room = w->room ? 2 * w->room : 4;
        struct fbp_watched *more = realloc(w->files, room * sizeof *more);
        if (!more)
            return no_memory(w);
        w->files = more;
        w->room = room;
    }
    w->files[w->n] = (struct fbp_watched){fbp_strdup(file), was};
    if (!w->files[w->n].path)
        return no_memory(w);
    w->n++;
    return true;
}

static fbp_status changed(const char *path, const char *how)
{
    return fbp_fail(FBP_ERR_IO,
                    "%s: %s while it was read: what was computed from it is not kept: start again "
                    "when nothing writes to it any more",
                    path, how);
}

fbp_status fbp_watch_check(const struct fbp_watch *watch)
{
    for (size_t i = 0; i < watch->n; i++) {
        const struct fbp_watched *f = &watch->files[i];
        struct stat is;
        bool there;
        FBP_TRY(fbp_stat(f->path, &is, &there));
        if (!there)
            return changed(f->path, "was removed");
        if (is.st_dev != f->was.st_dev || is.st_ino != f->was.st_ino)
            return changed(f->path, "was replaced");
        if (is.st_size != f->was.st_size)
            return changed(f->path, "changed its size");
        if (is.st_mtim.tv_sec != f->was.st_mtim.tv_sec ||
            is.st_mtim.tv_nsec != f->was.st_mtim.tv_nsec)
            return changed(f->path, "was written to");
    }
    return FBP_OK;
}

void fbp_watch_clear(struct fbp_watch *watch)
{
    for (size_t i = 0; i < watch->n; i++)
        free(watch->files[i].path);
    free(watch->files);
    *watch = (struct fbp_watch){0};
}
