/* The table of array formats, and what the public interface says of it. */
#include "array/formats.h"

#include "array/file/member.h"
#include "array/file/pattern.h"
#include "base/text.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define FBP_FORMAT(name) extern const struct fbp_format fbp_format_##name;
#include "array/format/list.h"
#undef FBP_FORMAT

enum { MOST = 32, N_LISTS = 3, LIST_BYTES = 80 };

static const struct fbp_format *formats[MOST + 1] = {
#define FBP_FORMAT(name) &fbp_format_##name,
#include "array/format/list.h"
#undef FBP_FORMAT
};

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
    struct stat is;

    if (stat(path, &is) < 0 || !S_ISDIR(is.st_mode))
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
                continue; /* longer than any path is */
            memcpy(name, path, *n);
            name[*n] = '\0';
            if (fbp_has_extension(name, f->extensions))
                return f;
        }
    *n = strlen(path);
    return NULL;
}

static bool is_one_file(const struct fbp_format *format, const char *path)
{
    for (const struct fbp_sink_format *f = format->files; f && f->extensions; f++)
        if (fbp_has_extension(path, f->extensions))
            return true;
    return false;
}

const struct fbp_format *fbp_format_of_slices(const char *path)
{
    struct fbp_pattern p;

    for (size_t i = 0; formats[i]; i++)
        if (formats[i]->slices && fbp_has_extension(path, formats[i]->slices->extensions) &&
            (fbp_pattern_place(path, strlen(path), &p) || !is_one_file(formats[i], path)))
            return formats[i];
    return NULL;
}

static void append(char *list, size_t n, const char *extensions)
{
    const size_t at = strlen(list);

    snprintf(list + at, n - at, "%s%s", at && *extensions ? " " : "", extensions);
}

static void list_files(const struct fbp_format *format, bool compressed, char *list, size_t n)
{
    for (const struct fbp_sink_format *f = format->files; f && f->extensions; f++)
        if (!compressed || f->can_compress || f->packs_header)
            append(list, n, f->extensions);
}

char *fbp_formats_written(char *buf, size_t n)
{
    buf[0] = '\0';
    for (size_t i = 0; formats[i]; i++) {
        list_files(formats[i], false, buf, n);
        if (formats[i]->slices && !formats[i]->files)
            append(buf, n, formats[i]->slices->extensions);
    }
    return buf;
}

static struct fbp_array_format told[MOST];
static const struct fbp_array_format *told_list[MOST + 1];

static void tell(const struct fbp_format *format, struct fbp_array_format *out,
                 char lists[N_LISTS][LIST_BYTES])
{
    list_files(format, false, lists[0], LIST_BYTES);
    list_files(format, true, lists[1], LIST_BYTES);
    if (format->slices)
        append(lists[2], LIST_BYTES, format->slices->extensions);
    *out = (struct fbp_array_format){
        .struct_size = sizeof *out,
        .name = format->name,
        .title = format->title,
        .read = format->extensions,
        .written = lists[0],
        .compressed = lists[1],
        .slices = lists[2],
        .headerless = !format->open,
        .has_members = format->has_members,
        .integers_only = !format->files && format->slices && format->slices->integers_only,
        .folders = format->is_folder,
    };
}

static void tell_all(void)
{
    static char lists[MOST][N_LISTS][LIST_BYTES];

    for (size_t i = 0; formats[i]; i++) {
        tell(formats[i], &told[i], lists[i]);
        told_list[i] = &told[i];
    }
}

const struct fbp_array_format *const *fbp_array_formats(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, tell_all);
    return told_list;
}
