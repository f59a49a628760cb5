/* The table of array file formats, which array/format/list.h lists. Functions find the format of a
 * file name or folder (fbp_format_of_name()), and the format that writes an output
 * (fbp_format_to_write()), and check that several processes can write it. fbp_array_formats() is
 * the public list of formats.
 * Used by: cli/, array/, pipeline/, scan/, scan/folder/. */
#include "array/array.h"
#include "array/file/bytes.h"
#include "array/file/format.h"
#include "base/text.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define FBP_FORMAT(name) extern const struct fbp_format fbp_format_##name;
#include "array/format/list.h"
#undef FBP_FORMAT

enum { MOST = 32, N_LISTS = 3, LIST_BYTES = 80 };

static const struct fbp_format *formats[MOST + 1] = {
#define FBP_FORMAT(name) &fbp_format_##name,
#include "array/format/list.h"
#undef FBP_FORMAT
};

static struct fbp_array_format public_formats[MOST];
static const struct fbp_array_format *public_list[MOST + 1];

const struct fbp_format *fbp_format_at(size_t i)
{
    return i < MOST ? formats[i] : NULL;
}

bool fbp_formats_add(const struct fbp_format *format)
{
    size_t n = 0;

    while (formats[n])
        n++;
    if (n < MOST)
        formats[n] = format;
    return n < MOST;
}

const struct fbp_format *fbp_format_of_name(const char *path)
{
    for (size_t i = 0; formats[i]; i++)
        if (fbp_has_extension(path, formats[i]->extensions))
            return formats[i];
    return NULL;
}

const struct fbp_format *fbp_format_of_folder(const char *path)
{
    if (!fbp_is_folder(path))
        return NULL;
    for (size_t i = 0; formats[i]; i++)
        if (formats[i]->is_folder && formats[i]->is_folder(path))
            return formats[i];
    return NULL;
}

const struct fbp_sink_format *fbp_format_to_write(const char *path, size_t *n)
{
    char name[PATH_MAX];

    for (size_t i = 0; formats[i]; i++)
        for (const struct fbp_sink_format *f = formats[i]->files; f && f->extensions; f++) {
            *n = formats[i]->has_members ? fbp_member_output(path, f->extensions) : strlen(path);
            if (*n >= sizeof name)
                continue; /* longer than any path */
            memcpy(name, path, *n);
            name[*n] = '\0';
            if (fbp_has_extension(name, f->extensions))
                return f;
        }
    *n = strlen(path);
    return NULL;
}

const struct fbp_format *fbp_format_of_slices(const char *path)
{
    struct fbp_pattern p;

    for (size_t i = 0; formats[i]; i++) {
        /* whether the format stores a whole volume in one file with this extension */
        bool one_file = false;

        if (!formats[i]->slices || !fbp_has_extension(path, formats[i]->slices->extensions))
            continue;
        for (const struct fbp_sink_format *f = formats[i]->files; f && f->extensions; f++)
            one_file |= fbp_has_extension(path, f->extensions);
        if (!one_file || fbp_pattern_place(path, strlen(path), &p))
            return formats[i];
    }
    return NULL;
}

fbp_status fbp_write_mode_check(const char *path, const struct fbp_sink_format *format,
                                const struct fbp_write_mode *ways)
{
    size_t n;

    if (!format) {
        if (ways->parts && strcmp(path, "hash:") == 0)
            return FBP_UNSUPPORTED(
                "hash: the hash needs all slices in one process, but --part computes "
                "only some; write a volume, or omit --part");
        if (fbp_format_of_slices(path))
            return FBP_OK;
        format = fbp_format_to_write(path, &n);
    }
    if (!format || !ways->parts || format->chunks)
        return FBP_OK;
    if (format->packs_header || (ways->compress && format->can_compress))
        return FBP_UNSUPPORTED(
            "%s: a compressed file cannot be written in parts; write it uncompressed, "
            "and compress it when it is complete",
            path);
    return FBP_OK;
}

static void append(char *list, size_t n, const char *extensions)
{
    const size_t at = strlen(list);

    snprintf(list + at, n - at, "%s%s", at && *extensions ? " " : "", extensions);
}

static void append_files(const struct fbp_format *format, bool compressed, char *list, size_t n)
{
    for (const struct fbp_sink_format *f = format->files; f && f->extensions; f++)
        if (!compressed || f->can_compress || f->packs_header)
            append(list, n, f->extensions);
}

char *fbp_formats_written(char *buf, size_t n)
{
    buf[0] = '\0';
    for (size_t i = 0; formats[i]; i++) {
        append_files(formats[i], false, buf, n);
        if (formats[i]->slices && !formats[i]->files)
            append(buf, n, formats[i]->slices->extensions);
    }
    return buf;
}

static void fill_public_list(void)
{
    static char lists[MOST][N_LISTS][LIST_BYTES];

    for (size_t i = 0; formats[i]; i++) {
        const struct fbp_format *f = formats[i];

        append_files(f, false, lists[i][0], LIST_BYTES);
        append_files(f, true, lists[i][1], LIST_BYTES);
        if (f->slices)
            append(lists[i][2], LIST_BYTES, f->slices->extensions);
        public_formats[i] = (struct fbp_array_format){
            .struct_size = sizeof public_formats[i],
            .name = f->name,
            .title = f->title,
            .read = f->extensions,
            .written = lists[i][0],
            .compressed = lists[i][1],
            .slices = lists[i][2],
            .headerless = !f->open,
            .has_members = f->has_members,
            .integers_only = !f->files && f->slices && f->slices->integers_only,
            .folders = f->is_folder,
        };
        public_list[i] = &public_formats[i];
    }
}

const struct fbp_array_format *const *fbp_array_formats(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, fill_public_list);
    return public_list;
}
