/* Implementation of choices.h: permitted values of command-line options (functions choices_…(),
 * such as choices_precision()), and the file name extensions that fbp can read, write and
 * compress, both from tables of the library.
 * Used by: bench/host/, bench/kernels/, bench/pipeline/, bench/predict/, bench/rabbitct/, cli/. */
#include "choices.h"

#include "fbp/array.h"
#include "fbp/fbp.h"
#include "fbp/geometry_file.h"

#include "array/file/bytes.h"
#include "base/text.h"
#include "geometry/directions.h"
#include "geometry/kind.h"

#include <stdio.h>
#include <string.h>

/* Lists of file name extensions that an array format (struct fbp_array_format) has. */
enum list {
    READ,       /* files that fbp can read */
    FILES,      /* files that fbp can write and that hold a whole volume */
    WRITTEN,    /* list FILES or, if it is empty, files that hold one slice */
    COMPRESSED, /* files that fbp can compress */
};

/* A list of extensions of a format, such as ".mha .mhd"; "": none. */
static const char *list_of(const struct fbp_array_format *f, enum list list)
{
    return list == READ                      ? f->read
           : list == COMPRESSED              ? f->compressed
           : list == WRITTEN && !*f->written ? f->slices
                                             : f->written;
}

/* True if `path` ends in one of the extensions, which are separated by blanks (".mha .mhd").
 * inside: paths FILE:ARRAY are accepted, too, if FILE ends in an extension. */
static bool ends_in(const char *path, const char *extensions, bool inside)
{
    char member[24];

    if (fbp_has_extension(path, extensions))
        return true;
    for (const char *p = extensions; inside && *p;) {
        const size_t n = strcspn(p, " ");
        snprintf(member, sizeof member, "%.*s:", (int)n, p);
        if (strcasestr(path, member))
            return true;
        p += n + strspn(p + n, " ");
    }
    return false;
}

static bool is_listed(const char *path, enum list list)
{
    for (const struct fbp_array_format *const *f = fbp_array_formats(); *f; f++)
        if (ends_in(path, list_of(*f, list), (*f)->has_members))
            return true;
    return false;
}

bool cli_is_volume(const char *path)
{
    return is_listed(path, WRITTEN);
}

bool cli_is_volume_folder(const char *path)
{
    for (const struct fbp_array_format *const *f = fbp_array_formats(); *f; f++)
        if ((*f)->folders && ends_in(path, (*f)->written, (*f)->has_members))
            return true;
    return false;
}

bool cli_can_compress(const char *path)
{
    return is_listed(path, COMPRESSED);
}

/* Write the extensions in the given list of all array formats to buf[n], separated by ", "; last:
 * separator before the last extension, such as " or ". */
static void list_extensions(enum list list, const char *last, char *buf, size_t n)
{
    size_t at = 0, before = 0, length = 0;
    const char *name = "";

    buf[0] = '\0';
    for (const struct fbp_array_format *const *f = fbp_array_formats(); *f; f++)
        for (const char *p = list_of(*f, list); *p && at < n;) {
            name = p;
            length = strcspn(p, " ");
            before = at;
            at += (size_t)snprintf(buf + at, n - at, "%s%.*s", at ? ", " : "", (int)length, p);
            p += length + strspn(p + length, " ");
        }
    if (before > 0 && at < n)
        snprintf(buf + before, n - before, "%s%.*s", last, (int)length, name);
}

const char *cli_volumes(void)
{
    static char text[300];

    list_extensions(WRITTEN, " or ", text, sizeof text);
    return text;
}

const char *cli_packed(void)
{
    static char text[120];

    list_extensions(COMPRESSED, " or ", text, sizeof text);
    return text;
}

char *cli_with_formats(const char *text, char *buf, size_t n)
{
    static const struct {
        const char *key;
        enum list list;
    } keys[] = {{"{read}", READ}, {"{written}", FILES}, {"{compressed}", COMPRESSED}};
    size_t at = 0;

    buf[0] = '\0';
    while (*text && at + 1 < n) {
        size_t i = 0;
        while (i < 3 && strncmp(text, keys[i].key, strlen(keys[i].key)) != 0)
            i++;
        if (i == 3) {
            buf[at++] = *text++;
            buf[at] = '\0';
            continue;
        }
        list_extensions(keys[i].list, ", ", buf + at, n - at);
        at += strlen(buf + at);
        text += strlen(keys[i].key);
    }
    return buf;
}

enum { MOST_FORMATS = 64 };

/* Return the list of formats of geometry files, a static array; *n receives its length. */
static const struct fbp_geometry_format_info *geometry_formats(size_t *n)
{
    static struct fbp_geometry_format_info formats[MOST_FORMATS];
    static size_t known;

    if (known == 0) {
        formats[0].struct_size = sizeof *formats;
        known = fbp_geometry_formats(formats, MOST_FORMATS);
        known = known < MOST_FORMATS ? known : MOST_FORMATS;
    }
    *n = known;
    return formats;
}

const char *choices_kind_or_none(size_t i)
{
    const char *name = i > 0 ? fbp_kind_listed(i - 1) : "";

    return i == 0 || !name || fbp_kind_has_lines((enum fbp_kind)(i - 1)) ? name : "";
}

FBP_NAMES(choices_weights, [FBP_ANGULAR_DEFAULT] = "", [FBP_ANGULAR_AUTO] = "auto",
          [FBP_ANGULAR_EQUAL] = "equal")

const char *choices_quadrature(size_t i)
{
    return i == 0 || i == FBP_QUADRATURE_GIVEN + 1 ? "" : fbp_quadrature_name(i - 1);
}

FBP_NAMES(
    choices_precision, [FBP_PRECISION_DEFAULT] = "", [FBP_PRECISION_EXACT] = "exact",
    [FBP_PRECISION_FAST] = "fast", [FBP_PRECISION_HALF] = "half", [FBP_PRECISION_DOUBLE] = "double")

const char *choices_output_type(size_t i)
{
    const enum fbp_type type = (enum fbp_type)i;

    if (i > FBP_F64)
        return NULL;
    return type == FBP_U8 || type == FBP_U16 || type == FBP_I16 || type == FBP_F32 ||
                   type == FBP_F64
               ? fbp_type_name(type)
               : "";
}

const char *choices_sample_type(size_t i)
{
    if (i > FBP_F64)
        return NULL;
    return i == FBP_F32 || i == FBP_F64 ? fbp_type_name((enum fbp_type)i) : "";
}

/* Name of geometry file format i, as an option value; "": fbp cannot write this format (written
 * true) or read it (written false); NULL: i is beyond the last format. */
static const char *geometry_format(size_t i, bool written)
{
    size_t n;
    const struct fbp_geometry_format_info *formats = geometry_formats(&n);

    if (i >= n)
        return NULL;
    return (written ? formats[i].writes : formats[i].reads) ? formats[i].name : "";
}

const char *choices_geometry_read(size_t i)
{
    return geometry_format(i, false);
}

const char *choices_geometry_written(size_t i)
{
    return geometry_format(i, true);
}
