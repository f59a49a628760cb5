/* Reader of BES3T, the format of Bruker's EPR spectrometers: a text description .DSC with samples
 * in .DTA (table fbp_format_bes3t). It opens the samples as an array, and reads descriptions for
 * the import of scans (bes3t.h).
 *
 * The array FILE is [ZPTS][YPTS][XPTS]; FILE:sinogram contains the same spectra as views of one
 * row. If the samples are complex, both contain the real parts, and FILE:imaginary contains the
 * imaginary parts as [ZPTS][YPTS][XPTS].
 * Used by: array/formats.c, scan/format/bes3t.c. */
#include "array/format/bes3t.h"
#include "array/file/bytes.h"
#include "array/file/format.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- the text of a description */

bool fbp_bes3t_detect(const char *path, const unsigned char *head, size_t n)
{
    (void)path;
    return n >= 5 && memcmp(head, "#DESC", 5) == 0;
}

/* Remove blanks at both ends of a text, and quotes around it. */
static char *trim(char *text)
{
    text = fbp_ini_trim(text);
    const size_t n = strlen(text);
    if (n < 2 || text[0] != '\'' || text[n - 1] != '\'')
        return text;
    text[n - 1] = '\0';
    return trim(text + 1);
}

fbp_status fbp_bes3t_load(struct fbp_ini *out)
{
    enum { MAX_BYTES = 4 << 20 };
    const char *part = "";
    size_t n = 0, n_lines = 1;

    FBP_TRY(fbp_read_text(out->path, MAX_BYTES, &out->text, &n));
    if (!fbp_bes3t_detect(out->path, (const unsigned char *)out->text, n) || strlen(out->text) != n)
        return FBP_INVALID("%s: is not a BES3T description (a text file that begins with #DESC); "
                           "name the .DSC file of the measurement",
                           out->path);
    for (const char *p = out->text; *p; p++)
        n_lines += *p == '\n';
    FBP_TRY(fbp_calloc((void **)&out->items, n_lines, sizeof *out->items, "lines"));
    for (char *line = out->text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        line = trim(line);
        if (!*line || *line == '*')
            continue;
        if (*line == '#' || strncmp(line, ".DVC", 4) == 0) {
            /* A line such as "#SPL 1.2 * …" begins the layer SPL, ".DVC grdUnit, 1.0" a device. */
            char *name = *line == '.' ? line + 4 + strspn(line + 4, " \t") : line + 1;
            name[strcspn(name, " \t,")] = '\0';
            part = name;
            continue;
        }
        char *end = line + strcspn(line, " \t");
        char *value = *end ? end + 1 : end;
        *end = '\0';
        out->items[out->n++] = (struct fbp_ini_item){part, line, trim(value)};
    }
    return FBP_OK;
}

/* Look up the value of a key of a .DSC description in the list words[n]; *out: its index.
 * FBP_ERR_UNSUPPORTED if the value is not in the list. If an optional key is missing, *out is 0. */
static fbp_status choose(const struct fbp_ini *d, const char *key, const char *const *words,
                         size_t n, bool optional, size_t *out)
{
    const char *text = fbp_ini_text(d, "DESC", key);
    char list[80] = "";

    *out = 0;
    if (!text)
        return optional ? FBP_OK : fbp_ini_missing(d, "DESC", key);
    for (; *out < n; (*out)++)
        if (strcmp(text, words[*out]) == 0)
            return FBP_OK;
    for (size_t i = 0; i < n; i++) {
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? i + 1 < n ? ", " : " or " : "",
                 words[i]);
    }
    return FBP_UNSUPPORTED("%s: %s: found \"%.40s\", expected %s; %s", d->path, key, text, list,
                           strchr(text, ',') ? "save each of its data sets as a file of its own"
                                             : "save the file in one of these forms");
}

fbp_status fbp_bes3t_samples(const struct fbp_ini *d, struct fbp_bes3t_samples *out)
{
    static const char *const orders[] = {"BIG", "LIT"}, *const parts[] = {"REAL", "CPLX"};
    static const char *const formats[] = {"C", "S", "I", "F", "D"};
    static const enum fbp_type types[] = {FBP_I8, FBP_I16, FBP_I32, FBP_F32, FBP_F64};
    static const char *const counts[] = {"XPTS", "YPTS", "ZPTS"};
    size_t order, part, format;

    FBP_TRY(choose(d, "BSEQ", orders, 2, false, &order));
    FBP_TRY(choose(d, "IKKF", parts, 2, true, &part));
    FBP_TRY(choose(d, "IRFMT", formats, 5, false, &format));
    const char *other = part == 1 ? fbp_ini_text(d, "DESC", "IIFMT") : NULL;
    if (other && strcmp(other, formats[format]) != 0)
        return FBP_UNSUPPORTED("%s: IRFMT is %s, but IIFMT is %.20s; save real and imaginary parts "
                               "in the same number format",
                               d->path, formats[format], other);
    *out = (struct fbp_bes3t_samples){
        .n = {1, 1, 1}, .type = types[format], .big_endian = order == 0, .complex = part == 1};
    for (int i = 0; i < 3; i++)
        if (i == 0 || fbp_ini_text(d, "DESC", counts[i]))
            FBP_TRY(fbp_ini_count(d, "DESC", counts[i], &out->n[i]));
    return FBP_OK;
}

/* ---- files beside a description */

/* Name of another file of a BES3T measurement: "a.DSC" becomes "a.DTA" ("a.dsc" becomes "a.dta").
 * malloc'ed; NULL when out of memory. */
static char *beside(const char *path, const char *upper, const char *lower)
{
    const size_t n = strlen(path);
    char *name = fbp_strdup(path), *end = name ? strrchr(name, '.') : NULL;

    if (end && n >= 4 && end == name + n - 4)
        memcpy(end + 1, end[1] >= 'a' ? lower : upper, 3);
    return name;
}

fbp_status fbp_bes3t_positions(const struct fbp_ini *d, const struct fbp_bes3t_samples *s,
                               char **path, double *out)
{
    static const struct {
        const char *name;
        enum fbp_type type;
    } types[] = {{"D", FBP_F64}, {"F", FBP_F32}, {"I", FBP_I32}, {"S", FBP_I16}};
    const char *format = fbp_ini_text(d, "DESC", "XFMT");
    enum fbp_type type = format ? FBP_TYPE_NONE : FBP_F64;
    uint64_t bytes = 0;
    bool there = false;
    int fd = -1;

    *path = beside(d->path, "XGF", "xgf");
    if (!*path)
        return fbp_fail_nomem(strlen(d->path), "a path");
    for (size_t i = 0; format && i < sizeof types / sizeof *types; i++)
        if (strcmp(format, types[i].name) == 0)
            type = types[i].type;
    if (type == FBP_TYPE_NONE)
        return FBP_UNSUPPORTED("%s: XFMT: found \"%.20s\", expected D, F, I or S", d->path, format);
    FBP_TRY(fbp_file_exists(*path, &there));
    if (!there)
        return fbp_fail(FBP_ERR_IO,
                        "%s: XTYP is IGD, but the file of the sample positions, %s, is missing; "
                        "copy it into the folder of the .DSC file",
                        d->path, *path);

    /* The numbers of the .XGF file are read into the end of `out`, and converted in place. */
    const size_t n = s->n[0], size = fbp_type_size(type);
    unsigned char *const in = (unsigned char *)out + n * (sizeof *out - size);
    fbp_status st = fbp_open_file(*path, &fd, &bytes);
    if (st == FBP_OK && bytes != (uint64_t)n * size)
        st = FBP_INVALID("%s: the .XGF file has %llu bytes, but XPTS and XFMT describe %llu; copy "
                         "both files again",
                         d->path, (unsigned long long)bytes, (unsigned long long)n * size);
    if (st == FBP_OK)
        st = fbp_read_at(fd, *path, 0, in, n * size);
    if (fd >= 0)
        close(fd);
    FBP_TRY(st);
    if (fbp_is_foreign(s->big_endian))
        fbp_swap_bytes(in, size, n);
    fbp_to_double(type, 0, 0, in, n, out);
    return FBP_OK;
}

/* Open a BES3T measurement as a source, by the name of its .DSC or its .DTA file. */
static fbp_status open_bes3t(struct fbp_source *src)
{
    const bool data = fbp_has_extension(src->file, ".dta");
    const bool imaginary = src->member && strcmp(src->member, "imaginary") == 0;
    const bool sinogram = src->member && (strcmp(src->member, "sinogram") == 0 ||
                                          strcmp(src->member, FBP_SINOGRAM) == 0);
    char *path = data ? beside(src->file, "DSC", "dsc") : fbp_strdup(src->file);
    char *samples = NULL, why[512];
    struct fbp_array_info *info = &src->info;
    struct fbp_ini d = {.path = path};
    struct fbp_bes3t_samples s;
    uint64_t size = 0, bytes = 0;
    fbp_status st;

    FBP_TRY(fbp_check_path(path));
    if (data)
        FBP_TRY_GOTO(fbp_inputs_add(&src->inputs, path));
    FBP_TRY_GOTO(fbp_bes3t_load(&d));
    FBP_TRY_GOTO(fbp_bes3t_samples(&d, &s));
    if (src->member && !sinogram && !(s.complex && imaginary))
        FBP_TRY_GOTO(FBP_INVALID("%s: has no array %.40s; omit the name, or give the name sinogram "
                                 "to read the spectra as views of one row%s",
                                 src->file, src->member,
                                 s.complex   ? ", or imaginary to read the imaginary parts"
                                 : imaginary ? "; the samples are not complex"
                                             : ""));
    memcpy(info->n, s.n, sizeof s.n);
    if (sinogram) {
        info->n[2] = s.n[1] * s.n[2];
        info->n[1] = 1;
    }
    for (int i = 0; i < 3; i++)
        info->spacing_mm[i] = 1;
    info->type = s.type;
    info->big_endian = s.big_endian;

    samples = beside(path, "DTA", "dta");
    FBP_TRY_GOTO(fbp_check_path(samples));
    st = fbp_source_use_file(src, samples, &size);
    if (st == FBP_ERR_IO) {
        snprintf(why, sizeof why, "%s", fbp_message());
        fbp_message_clear();
        st = fbp_fail(st, "%s; copy the .DTA file into the folder of the .DSC file", why);
    }
    FBP_TRY_GOTO(st);
    FBP_TRY_GOTO(fbp_array_bytes(src->path, info, &bytes));
    if (__builtin_mul_overflow(bytes, s.complex ? 2 : 1, &bytes) || bytes != size)
        FBP_TRY_GOTO(FBP_INVALID("%s: the .DTA file has %llu bytes, but XPTS, YPTS, ZPTS, IRFMT "
                                 "and IKKF describe %llu; copy both files again",
                                 src->path, (unsigned long long)size, (unsigned long long)bytes));
    src->imaginary |= imaginary;
    if (s.complex)
        fbp_source_take_complex_part(src);
fail:
    fbp_ini_clear(&d);
    free(samples);
    free(path);
    return st;
}

const struct fbp_format fbp_format_bes3t = {
    .name = "bes3t",
    .title = "BES3T",
    .extensions = ".dsc .dta",
    .detect = fbp_bes3t_detect,
    .open = open_bes3t,
    .not_growing = "--follow cannot read BES3T files; reconstruct when the measurement is complete",
    .has_members = true,
};
