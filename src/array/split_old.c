/* The pieces that an older file under the same name has: found, noted, removed. */
#include "array/file/bytes.h"
#include "array/file/outfile.h"
#include "array/split.h"

#include "base/mem.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_BYTES = 16 << 20, DIGITS = 8 };

static const char hex[] = "0123456789abcdef";

/* malloc'ed "BASE.", where "%" stands twice, as in the names that a virtual data set has. */
static char *written_base(const struct fbp_sink *s)
{
    const char *base = fbp_base_name(s->path);
    char *out = malloc(2 * strlen(base) + 2), *to = out;

    for (; out && *base; base++) {
        if (*base == '%')
            *to++ = '%';
        *to++ = *base;
    }
    if (out)
        strcpy(to, ".");
    return out;
}

/* A name begins behind a zero; "v.h5." within "av.h5.0123abcd/" is another's. */
static void find_token(const char *text, size_t n, const char *base, struct fbp_split_token *out)
{
    const size_t before = strlen(base);

    for (const char *at = text, *end = text + n;
         (at = memmem(at, (size_t)(end - at), base, before)); at++) {
        const char *token = at + before;
        if (at == text || at[-1] != '\0' || token + DIGITS >= end || token[DIGITS] != '/' ||
            strspn(token, hex) != DIGITS)
            continue;
        memcpy(out->text, token, DIGITS);
        return;
    }
}

/* Of the file itself, not of what a link leads to; *there: false if there is none. */
static fbp_status look_at(const char *path, struct stat *is, bool *there)
{
    *there = lstat(path, is) == 0;
    return *there || errno == ENOENT || errno == ENOTDIR
               ? FBP_OK
               : fbp_fail(FBP_ERR_IO, "%s: cannot look at it: %s", path, strerror(errno));
}

/* Such a file is small, and has the names as they are. */
fbp_status fbp_split_named(const struct fbp_sink *s, const char *file, struct fbp_split_token *out)
{
    char *text = NULL, *base;
    struct stat is;
    size_t n = 0;
    bool there;

    *out = (struct fbp_split_token){.text = ""};
    FBP_TRY(look_at(file, &is, &there));
    if (!there || !S_ISREG(is.st_mode) || is.st_size > MOST_BYTES || is.st_size == 0)
        return FBP_OK;
    base = written_base(s);
    if (!base)
        return fbp_fail_nomem(strlen(s->path), "a path");
    const fbp_status st = fbp_read_text(file, MOST_BYTES, &text, &n);
    if (st == FBP_OK)
        find_token(text, n, base, out);
    free(text);
    free(base);
    return st;
}

static char *name_folder(const struct fbp_sink *s, const struct fbp_split_token *token)
{
    return fbp_format("%s.%s", s->path, token->text);
}

char *fbp_split_left(const struct fbp_sink *s)
{
    struct fbp_split_token left = {.text = ""}, used = left;

    if (s->format && s->format->split && fbp_split_named(s, s->part, &left) == FBP_OK)
        (void)!fbp_split_named(s, s->path, &used);
    return left.text[0] && strcmp(left.text, used.text) != 0
               ? fbp_format(" and %s.%s", s->path, left.text)
               : fbp_strdup("");
}

/* "slices_0000-0063.h5", "frame_2_slices_00-63.h5" */
static bool is_piece(const struct fbp_sink *s, const char *name)
{
    static const char digits[] = "0123456789";
    const char *at = name;

    if (strncmp(at, "frame_", 6) == 0) {
        at += 6 + strspn(at + 6, digits);
        at += *at == '_';
    }
    if (strncmp(at, "slices_", 7) != 0)
        return false;
    at += 7 + strspn(at + 7, digits);
    if (*at++ != '-')
        return false;
    at += strspn(at, digits);
    return strcmp(at, s->format->split->extension) == 0;
}

/* All that can be. */
static fbp_status remove_pieces(const struct fbp_sink *s, const char *folder, DIR *dir)
{
    const struct dirent *e;
    fbp_status st = FBP_OK;

    while ((errno = 0, e = readdir(dir)))
        if (is_piece(s, e->d_name) && unlinkat(dirfd(dir), e->d_name, 0) < 0 && errno != ENOENT)
            st = fbp_fail(FBP_ERR_IO, "%s/%s: cannot remove: %s", folder, e->d_name,
                          strerror(errno));
    return errno ? fbp_fail(FBP_ERR_IO, "%s: cannot list: %s", folder, strerror(errno)) : st;
}

/* What else lies in it stays, and the folder then, too. */
static fbp_status remove_folder(const struct fbp_sink *s, const char *folder)
{
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

    if (!dir && fd >= 0)
        close(fd);
    if (!dir)
        return errno == ENOENT || errno == ENOTDIR || errno == ELOOP
                   ? FBP_OK
                   : fbp_fail(FBP_ERR_IO, "%s: cannot list: %s", folder, strerror(errno));
    const fbp_status st = remove_pieces(s, folder, dir);
    closedir(dir);
    if (st == FBP_OK)
        rmdir(folder);
    return st;
}

fbp_status fbp_split_remove_folder(const struct fbp_sink *s, const struct fbp_split_token *token)
{
    char *folder = token->text[0] ? name_folder(s, token) : NULL;

    if (!folder)
        return token->text[0] ? fbp_fail_nomem(strlen(s->path), "a path") : FBP_OK;
    const fbp_status st = remove_folder(s, folder);
    free(folder);
    return st;
}

/* Is a file, a pattern or a folder in the folder, or that itself? */
static bool lies_in(const char *path, const struct stat *folder)
{
    char *above = fbp_path_join(path, ".");
    struct stat is;

    bool in = stat(path, &is) == 0 && is.st_dev == folder->st_dev && is.st_ino == folder->st_ino;
    if (above && stat(above, &is) == 0)
        in |= is.st_dev == folder->st_dev && is.st_ino == folder->st_ino;
    free(above);
    return in;
}

fbp_status fbp_split_spare(const struct fbp_sink *s, const struct fbp_sink_params *params,
                           const struct fbp_split_token *token)
{
    char *folder = token->text[0] ? name_folder(s, token) : NULL;
    const char *hit = NULL;
    struct stat is;

    if (!folder)
        return token->text[0] ? fbp_fail_nomem(strlen(s->path), "a path") : FBP_OK;
    const bool there = !params->force && stat(folder, &is) == 0;
    free(folder);
    for (size_t i = 0; there && i < params->n_keep && !hit; i++)
        if (params->keep[i] && lies_in(params->keep[i], &is))
            hit = params->keep[i];
    return hit ? fbp_fail(FBP_ERR_INVALID,
                          "%s: this output would replace the volume that %s is a part of, which is "
                          "read for it: choose another name, or give --force",
                          s->path, hit)
               : FBP_OK;
}

static char *name_note(const struct fbp_sink *s)
{
    return fbp_format("%s.old", s->part);
}

static fbp_status write_note(const struct fbp_sink *s, const char *note,
                             const struct fbp_split_token *old)
{
    char *line = fbp_format("%s.%s\n", fbp_base_name(s->path), old->text);
    fbp_status st;
    int fd;

    if (!line)
        return fbp_fail_nomem(strlen(s->path), "a path");
    st = fbp_part_create(note, &fd);
    if (st == FBP_OK) {
        st = fbp_append(fd, note, line);
        if (st == FBP_OK)
            st = fbp_sync_file(fd, note);
        close(fd);
    }
    free(line);
    return st;
}

/* Of "BASE.TOKEN\n" the whole, or what a kill has left of it. */
static bool is_note(const struct fbp_sink *s, const char *text, size_t n,
                    struct fbp_split_token *old)
{
    const char *base = fbp_base_name(s->path);
    const size_t before = strlen(base) + 1, end = before + DIGITS;

    for (size_t k = 0; k < n; k++) {
        const bool fits = k + 1 < before ? text[k] == base[k]
                          : k < before   ? text[k] == '.'
                          : k < end      ? text[k] != '\0' && strchr(hex, text[k])
                                         : k == end && text[k] == '\n';
        if (!fits)
            return false;
    }
    if (n == end + 1)
        memcpy(old->text, text + before, DIGITS);
    return true;
}

/* What a note says; "": nothing, or it is not there.  Other files of that name are refused. */
static fbp_status read_note(const struct fbp_sink *s, const char *note, struct fbp_split_token *old)
{
    char text[600] = "";
    struct stat is;
    size_t got = 0;
    bool there;

    *old = (struct fbp_split_token){.text = ""};
    FBP_TRY(look_at(note, &is, &there));
    if (!there)
        return FBP_OK;
    if (S_ISREG(is.st_mode))
        FBP_TRY(fbp_read_head(note, text, sizeof text - 1, &got));
    if (S_ISREG(is.st_mode) && is_note(s, text, got, old))
        return FBP_OK;
    return fbp_fail(FBP_ERR_INVALID,
                    "%s: is there and was not left by fbp, which needs that name: move it away or "
                    "remove it, or choose another name for the output",
                    note);
}

fbp_status fbp_split_check_note(const struct fbp_sink *s)
{
    struct fbp_split_token old;
    char *note = name_note(s);
    const fbp_status st =
        note ? read_note(s, note, &old) : fbp_fail_nomem(strlen(s->path), "a path");

    free(note);
    return st;
}

fbp_status fbp_split_note_old(const struct fbp_sink *s)
{
    const struct fbp_sink_params none = {.struct_size = sizeof none};
    const struct fbp_part_inputs inputs = {.params = &none};
    struct fbp_split_token old, before;
    char *note;

    FBP_TRY(fbp_split_named(s, s->path, &old));
    note = name_note(s);
    if (!note)
        return fbp_fail_nomem(strlen(s->path), "a path");
    fbp_status st = read_note(s, note, &before);
    if (st == FBP_OK) /* of whoever was killed here before */
        st = fbp_part_clear(&inputs, note, true);
    if (st == FBP_OK && old.text[0])
        st = write_note(s, note, &old);
    free(note);
    return st;
}

/* They may be another user's by now.  The new volume needs none of them, and is complete. */
static void remove_old(struct fbp_sink *s, const struct fbp_split_token *old)
{
    if (fbp_split_remove_folder(s, old) == FBP_OK)
        return;
    free(s->note);
    s->note = fbp_format("%s: it belongs to a volume that was replaced: remove %s.%s yourself",
                         fbp_message(), s->path, old->text);
    fbp_message_clear();
}

static fbp_status settle(struct fbp_sink *s, const char *note)
{
    struct fbp_split_token old, used;
    bool there;

    FBP_TRY(read_note(s, note, &old));
    if (!old.text[0])
        return FBP_OK;
    FBP_TRY(fbp_is_there(s->path, &there));
    FBP_TRY(fbp_split_named(s, s->path, &used));
    if (there && strcmp(old.text, used.text) != 0) { /* else it was moved away, perhaps */
        fbp_sync_folder(s->path); /* the new one has its name, whatever happens now */
        remove_old(s, &old);
    }
    return unlink(note) == 0 || errno == ENOENT
               ? FBP_OK
               : fbp_fail(FBP_ERR_IO, "%s: cannot remove: %s", note, strerror(errno));
}

fbp_status fbp_split_settle_old(struct fbp_sink *s)
{
    char *note = name_note(s);
    const fbp_status st = note ? settle(s, note) : fbp_fail_nomem(strlen(s->path), "a path");

    free(note);
    return st;
}
