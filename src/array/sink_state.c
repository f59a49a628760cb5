/* What every kind of sink on disk needs: which slices are there, the lock, where a link leads. */
#include "array/sink.h"

#include "array/file/bytes.h"
#include "base/base.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

uint64_t fbp_sink_part_bytes(const struct fbp_sink *s)
{
    return s->part_offset + (uint64_t)s->slice_bytes * s->info.n[2] + s->layout.tail_bytes;
}

void fbp_sink_mark_clipped(struct fbp_sink *s, size_t z0, size_t nz, uint64_t clipped)
{
    pthread_mutex_lock(&s->lock);
    s->clipped += clipped;
    for (size_t z = z0; z < z0 + nz; z++) {
        s->n_have += !s->have[z];
        s->have[z] = 1;
    }
    pthread_mutex_unlock(&s->lock);
}

void fbp_sink_mark(struct fbp_sink *s, size_t z0, size_t nz)
{
    fbp_sink_mark_clipped(s, z0, nz, 0);
}

bool fbp_sink_has(const fbp_sink *sink, size_t z0, size_t nz)
{
    FBP_GIVEN_ELSE(false, sink);
    struct fbp_sink *s = (struct fbp_sink *)(uintptr_t)sink; /* only its lock is changed */
    bool all = z0 <= s->info.n[2] && nz <= s->info.n[2] - z0;

    pthread_mutex_lock(&s->lock);
    for (size_t z = z0; all && z < z0 + nz; z++)
        all = s->have[z];
    pthread_mutex_unlock(&s->lock);
    return all;
}

fbp_status fbp_sink_excuse(struct fbp_sink *s, fbp_status st)
{
    if (st == FBP_OK || !s->published)
        return st;
    free(s->note);
    s->note = fbp_format("%s: %s is complete all the same: remove what is left of %s* yourself",
                         fbp_message(), s->path, s->part);
    fbp_message_clear();
    return FBP_OK;
}

enum { MOST_LINKS = 40 };

fbp_status fbp_sink_follow_link(char **path, const char *extensions)
{
    char target[4096];
    ssize_t n = -1;

    for (int i = 0; i <= MOST_LINKS; i++) {
        n = readlink(*path, target, sizeof target - 1);
        if (n < 0) /* no link, or nothing there */
            return FBP_OK;
        target[n] = '\0';
        char *next = fbp_path_join(*path, target);
        if (!next)
            return fbp_fail_nomem((size_t)n, "a path");
        if (!fbp_has_extension(next, extensions)) {
            (void)!fbp_fail(FBP_ERR_INVALID,
                            "%s: is a link to %s, whose name does not end in %s: name that file "
                            "itself, or remove the link",
                            *path, next, extensions);
            free(next);
            return FBP_ERR_INVALID;
        }
        free(*path);
        *path = next;
    }
    return fbp_fail(FBP_ERR_INVALID, "%s: is one of too many links: name the file itself", *path);
}

fbp_status fbp_sink_lock_second(struct fbp_sink *s, const struct fbp_part_inputs *inputs)
{
    bool left = false;
    char *line;

    if (!s->lock_path)
        return FBP_OK;
    FBP_TRY(fbp_part_lock(inputs, s->lock_path, &s->lock_fd, &left, &s->lock_made));
    if (left) /* the journal of an output of that name, which stays as it is */
        return FBP_OK;
    if (ftruncate(s->lock_fd, 0) < 0)
        return fbp_fail_write(s->lock_path, errno, 0);
    line = fbp_format(FBP_PART_LOCK "of %s\n", s->path);
    const fbp_status st = line ? fbp_append(s->lock_fd, s->lock_path, line)
                               : fbp_fail_nomem(strlen(s->path), "a path");
    free(line);
    return st;
}

void fbp_sink_unlock_second(struct fbp_sink *s)
{
    if (s->lock_made)
        unlink(s->lock_path);
    if (s->lock_fd >= 0)
        close(s->lock_fd);
    s->lock_made = false;
    s->lock_fd = -1;
}

fbp_status fbp_sink_name_second(struct fbp_sink *s, const char *name)
{
    s->lock_path = name ? fbp_format("%s.part.log", name) : NULL;
    return name && !s->lock_path ? fbp_fail_nomem(strlen(name), "a path") : FBP_OK;
}

fbp_status fbp_sink_lock(struct fbp_sink *s, const struct fbp_part_inputs *inputs, bool *left)
{
    FBP_TRY(fbp_part_lock(inputs, s->log, &s->log_fd, left, &s->log_made));
    return fbp_sink_lock_second(s, inputs);
}
