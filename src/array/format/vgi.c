/* Reader of volumes that a .vgi file of Volume Graphics or phoenix datos|x describes, with samples
 * in another file, .vol (table fbp_format_vgi). [file1] describes the samples (little-endian, x
 * fastest), and [geometry] contains their spacing. No description is public: the keys are those of
 * files from several scanners.
 * Used by: array/formats.c. */
#include "array/file/bytes.h"
#include "array/file/format.h"
#include "array/format/ini.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool detect(const char *path, const unsigned char *head, size_t n)
{
    return fbp_has_extension(path, ".vgi") && memmem(head, n, "[file1]", 7);
}

/* Get the value of a key; "" if it is absent. */
static const char *value(const struct fbp_ini *ini, const char *section, const char *key)
{
    const char *text = fbp_ini_text(ini, section, key);
    return text ? text : "";
}

/* Read the type of the samples: "unsigned integer" or "float" with BitsPerElement, or a name such
 * as "uint16". Refuse another order of the samples, and several files. */
static fbp_status read_type(const struct fbp_ini *ini, enum fbp_type *type)
{
    const char *name = value(ini, "file1", "Datatype"), *mirror = value(ini, "file1", "Mirror");
    const char *format = value(ini, "file1", "FileFormat");
    const bool is_float = strcasecmp(name, "float") == 0;
    double bits = is_float ? 32 : 0, axes[3] = {0};
    char text[24];
    size_t n_files = 0, n = 3;

    for (size_t i = 0; i < ini->n; i++)
        n_files += strncasecmp(ini->items[i].section, "file", 4) == 0 &&
                   strcasecmp(ini->items[i].key, "Name") == 0;
    if (n_files != 1 || (*format && strcasecmp(format, "raw") != 0))
        return FBP_UNSUPPORTED("%s: found %zu files of samples, FileFormat \"%.20s\", expected 1 "
                               "and raw; export the volume as one raw file",
                               ini->path, n_files, format);
    if ((*mirror && !fbp_parse_numbers(mirror, 3, axes, true, &n)) || n != 3 ||
        ((axes[0] != 0) + (axes[1] != 0) + (axes[2] != 0)) % 2 != 0)
        return FBP_UNSUPPORTED("%s: Mirror = %.40s is not supported; write 0 0 0 there to read the "
                               "samples as they are; the volume is then the mirror image",
                               ini->path, mirror);
    FBP_TRY(fbp_ini_number(ini, "file1", "BitsPerElement", &bits));
    snprintf(text, sizeof text, "%s%.0f", is_float ? "float" : "uint", fmax(0, fmin(bits, 999)));
    *type = fbp_type_from_name(is_float || strcasecmp(name, "unsigned integer") == 0 ? text : name);
    if (*type == FBP_TYPE_NONE)
        return FBP_UNSUPPORTED("%s: Datatype \"%.40s\" of %g bits is not supported; save as float",
                               ini->path, name, bits);
    return FBP_OK;
}

static fbp_status open_vgi(struct fbp_source *src)
{
    struct fbp_ini ini = {.path = src->file};
    double skip = 0, *const mm = src->info.spacing_mm;
    uint64_t bytes = 0;
    size_t n = 0;
    char *path = NULL;
    fbp_status st;

    FBP_TRY_GOTO(fbp_ini_load(&ini));
    FBP_TRY_GOTO(read_type(&ini, &src->info.type));
    FBP_TRY_GOTO(fbp_ini_number(&ini, "file1", "SkipHeader", &skip));
    const char *size = value(&ini, "file1", "Size"), *name = value(&ini, "file1", "Name");
    const char *step = fbp_ini_text(&ini, "geometry", "resolution");
    const char *unit = value(&ini, "geometry", "unit");
    if (!fbp_parse_sizes(size, 3, src->info.n, &n) || n != 3 || !(skip >= 0 && skip <= 1e15))
        FBP_TRY_GOTO(FBP_INVALID("%s: found Size \"%.40s\", SkipHeader %g, expected three "
                                 "sizes and a number of bytes; correct them",
                                 src->path, size, skip));
    if (step && (!fbp_parse_numbers(step, 3, mm, true, &n) || n != 3 ||
                 !(fmin(fmin(mm[0], mm[1]), mm[2]) > 0) || (*unit && strcmp(unit, "mm") != 0)))
        FBP_TRY_GOTO(FBP_INVALID("%s: found resolution \"%.60s\", unit \"%.9s\", expected "
                                 "three positive lengths in mm; correct them",
                                 src->path, step, unit));
    src->info.has_spacing = step != NULL;
    src->offset = (uint64_t)skip;
    const char *last = strrchr(name, '\\'); /* a path on the computer of the scanner */
    path = fbp_path_join(src->file, last ? last + 1 : name);
    FBP_TRY_GOTO(fbp_check_path(path));
    st = fbp_source_use_file(src, path, &bytes);
fail:
    free(path);
    fbp_ini_clear(&ini);
    return st;
}

const struct fbp_format fbp_format_vgi = {
    .name = "vgi", .title = "VGI", .extensions = ".vgi", .detect = detect, .open = open_vgi};
