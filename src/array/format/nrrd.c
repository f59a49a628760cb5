/* Reader and writer of NRRD: .nrrd (header and samples) and .nhdr (header, samples in another
 * file); table fbp_format_nrrd. A header has lines "field: value", "key:=value" and comments, up
 * to an empty line or, if the samples are in another file, to the end of the file.
 * https://teem.sourceforge.net/nrrd/format.html
 * Used by: array/formats.c. */
#include "array/file/bytes.h"
#include "array/file/format.h"
#include "base/text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Keys of fbp in an NRRD header, which other readers ignore: scale and offset of integers (value =
 * scale * number + offset), and fbp_array_info.history. */
#define SCALE   "fbp scale"
#define OFFSET  "fbp offset"
#define HISTORY "fbp history"

enum { FIRST_READ = 1 << 14, MAX_HEADER = 1 << 22, MAX_AXES = 16 };

/* Fields of an NRRD header as they were read; check_header() checks whether they fit together. */
struct header {
    size_t dim;
    size_t n_sizes, sizes[MAX_AXES];
    size_t n_spacings, n_mins, n_units, n_space_units;
    double spacings[MAX_AXES], mins[MAX_AXES];
    double unit_mm[MAX_AXES], space_unit_mm[MAX_AXES]; /* NaN: not a length */
    bool is_cell[MAX_AXES];                            /* centering: samples fill cells */
    bool is_place[MAX_AXES], is_time[MAX_AXES];        /* from the field "kinds" */
    size_t space_dim;
    size_t n_steps;
    double steps[MAX_AXES][3]; /* space directions; NaN: none */
    bool has_origin;
    double origin[3];
    bool big_endian, has_endian, has_components;
    char type[32], encoding[16];
    long long line_skip, byte_skip;
    char unit[16], history[256];
    double scale, offset;
    char data_file[1024]; /* value of "data file"; "": samples follow the header */
    bool gzip;            /* the encoding is gzip */
};

static bool detect(const char *path, const unsigned char *head, size_t n)
{
    (void)path;
    return n >= 8 && memcmp(head, "NRRD", 4) == 0;
}

/* ---- values of fields */

static const char *skip_blanks(const char *p)
{
    return p + strspn(p, " \t");
}

static bool text(const char *value, char *out, size_t n)
{
    return snprintf(out, n, "%s", value) < (int)n;
}

/* Take the next word of a field's value, or the text between quotes, and advance *p; false at the
 * end of the value, or if a quote is missing or the word is too long. */
static bool next_word(const char **p, char *out, size_t size)
{
    const bool quoted = **p == '"';
    const char *from = *p + quoted;
    const size_t n = strcspn(from, quoted ? "\"" : " \t");

    if (!**p || n >= size || (quoted && from[n] != '"'))
        return false;
    memcpy(out, from, n);
    out[n] = '\0';
    *p = skip_blanks(from + n + quoted);
    return true;
}

/* Parse units of length; out[i]: millimetres per unit i, 1 for the units "" and "???", NaN for a
 * word that is not a unit of length. */
static bool units(const char *value, double out[MAX_AXES], size_t *n)
{
    char word[64];

    for (*n = 0; *value; (*n)++) {
        if (*n == MAX_AXES || !next_word(&value, word, sizeof word))
            return false;
        const bool none = !*word || strcmp(word, "???") == 0;
        const double mm = none ? 1 : fbp_length_unit_mm(word, strlen(word));
        out[*n] = mm > 0 ? mm : NAN;
    }
    return *n > 0;
}

static bool is_one_of(const char *word, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcasecmp(word, list[i]) == 0)
            return true;
    return false;
}

/* Parse the field "kinds", one word per axis. An axis counts as one of space (is_place: domain,
 * space), as one of time (is_time: time, list), as a plain index, or, with any other kind, as the
 * components of an element, such as a colour (has_components). */
static bool kinds(const char *value, struct header *h)
{
    static const char *const plain[] = {"domain", "space", "time",  "list",  "stub",
                                        "none",   "???",   "point", "scalar"};
    char word[64];

    for (size_t n = 0; *value; n++) {
        if (n == MAX_AXES || !next_word(&value, word, sizeof word))
            return false;
        h->has_components |= !is_one_of(word, plain, sizeof plain / sizeof *plain);
        h->is_place[n] |= is_one_of(word, plain, 2);
        h->is_time[n] |= is_one_of(word, plain + 2, 2);
    }
    return true;
}

/* Parse a vector "(x,y,z)" of up to three numbers. All vectors of a header must have as many
 * numbers as the space has dimensions. */
static bool vector(const char **p, struct header *h, double out[3])
{
    const char *q = *p;
    size_t n = 0;

    if (*q != '(')
        return false;
    memset(out, 0, 3 * sizeof *out);
    while (n < 3 && *q != ')') {
        char *end = NULL;
        q = skip_blanks(q + 1);
        out[n++] = fbp_number(q, &end);
        if (end == q)
            return false;
        q = skip_blanks(end);
        if (*q != ',' && *q != ')')
            return false;
    }
    if (*q != ')')
        return false;
    *p = skip_blanks(q + 1);
    if (h->space_dim == 0)
        h->space_dim = n;
    return h->space_dim == n;
}

static bool directions(const char *value, struct header *h)
{
    for (h->n_steps = 0; *value; h->n_steps++) {
        double *step = h->steps[h->n_steps];
        if (h->n_steps == MAX_AXES)
            return false;
        if (strncasecmp(value, "none", 4) == 0) {
            step[0] = step[1] = step[2] = NAN;
            value = skip_blanks(value + 4);
        } else if (!vector(&value, h, step)) {
            return false;
        }
    }
    return h->n_steps > 0;
}

/* Set one field of an NRRD header; unknown fields are ignored. key: in lower case, without blanks.
 * false: the value is damaged or not supported. */
static bool set(struct header *h, const char *key, const char *value)
{
    char word[64];
    size_t n = 0;

    if (strcmp(key, "dimension") == 0)
        return fbp_parse_sizes(value, 1, &h->dim, &n) && h->dim > 0;
    if (strcmp(key, "sizes") == 0)
        return fbp_parse_sizes(value, MAX_AXES, h->sizes, &h->n_sizes);
    if (strcmp(key, "type") == 0)
        return text(value, h->type, sizeof h->type);
    if (strcmp(key, "encoding") == 0)
        return text(value, h->encoding, sizeof h->encoding);
    if (strcmp(key, "endian") == 0) {
        h->big_endian = strcasecmp(value, "big") == 0;
        h->has_endian = h->big_endian || strcasecmp(value, "little") == 0;
        return h->has_endian;
    }
    if (strcmp(key, "spacings") == 0)
        return fbp_parse_numbers(value, MAX_AXES, h->spacings, false, &h->n_spacings);
    if (strcmp(key, "axismins") == 0)
        return fbp_parse_numbers(value, MAX_AXES, h->mins, false, &h->n_mins);
    if (strcmp(key, "units") == 0)
        return units(value, h->unit_mm, &h->n_units);
    if (strcmp(key, "spaceunits") == 0)
        return units(value, h->space_unit_mm, &h->n_space_units);
    if (strcmp(key, "centers") == 0 || strcmp(key, "centerings") == 0) {
        for (; *value; n++) {
            if (n == MAX_AXES || !next_word(&value, word, sizeof word))
                return false;
            h->is_cell[n] = strcmp(word, "cell") == 0;
        }
        return true;
    }
    if (strcmp(key, "kinds") == 0)
        return kinds(value, h);
    if (strcmp(key, "space") == 0 || strcmp(key, "spacedimension") == 0) {
        /* "space" names a space of three dimensions, such as "right-anterior-superior"; a name with
         * time is refused. "space dimension" is a number. */
        long long dim = 3;
        if (key[5] ? !fbp_parse_integer(value, &dim) || dim < 1 || dim > 3
                   : strcasestr(value, "time") != NULL)
            return false;
        if (h->space_dim == 0)
            h->space_dim = (size_t)dim;
        return h->space_dim == (size_t)dim;
    }
    if (strcmp(key, "spacedirections") == 0)
        return directions(value, h);
    if (strcmp(key, "spaceorigin") == 0) {
        h->has_origin = vector(&value, h, h->origin) && !*value;
        return h->has_origin;
    }
    if (strcmp(key, "lineskip") == 0)
        return fbp_parse_integer(value, &h->line_skip) && h->line_skip >= 0;
    if (strcmp(key, "byteskip") == 0)
        return fbp_parse_integer(value, &h->byte_skip) && h->byte_skip >= -1;
    if (strcmp(key, "datafile") == 0)
        return *value && text(value, h->data_file, sizeof h->data_file);
    if (strcmp(key, "sampleunits") == 0 && (!next_word(&value, h->unit, sizeof h->unit) || *value))
        h->unit[0] = '\0'; /* fbp writes only short units */
    return true;
}

/* Parse the NRRD header all[n], from the first line on. The text is cut into lines. */
static fbp_status parse(const char *path, char *all, size_t n, struct header *h)
{
    for (char *line = all, *next; line < all + n; line = next) {
        char *newline = memchr(line, '\n', (size_t)(all + n - line));
        char key[64];
        size_t length = 0, count = 0;
        bool fine = true;

        next = newline ? newline + 1 : all + n;
        if (newline)
            *newline = '\0';
        for (size_t end = strlen(line); end > 0 && isspace((unsigned char)line[end - 1]);)
            line[--end] = '\0';
        if (line == all || *line == '#' || !*line) /* the first line is the magic number */
            continue;
        const char *colon = strchr(line, ':');
        if (!colon)
            return FBP_INVALID(
                "%s: NRRD header: no field in the line \"%.40s\"; correct the header", path, line);
        if (colon[1] == '=') { /* "key:=value" */
            const char *value = colon + 2;
            length = (size_t)(colon - line);
            if (length == sizeof SCALE - 1 && strncmp(line, SCALE, length) == 0)
                fine = fbp_parse_numbers(value, 1, &h->scale, false, &count) && isfinite(h->scale);
            else if (length == sizeof OFFSET - 1 && strncmp(line, OFFSET, length) == 0)
                fine =
                    fbp_parse_numbers(value, 1, &h->offset, false, &count) && isfinite(h->offset);
            else if (length == sizeof HISTORY - 1 && strncmp(line, HISTORY, length) == 0)
                snprintf(h->history, sizeof h->history, "%.255s", value);
            if (!fine)
                return FBP_INVALID("%s: NRRD header: \"%.80s\" is damaged; correct it", path, line);
            continue;
        }
        if (colon - line >= (long)sizeof key) /* longer than any known field */
            continue;
        for (const char *c = line; c < colon; c++) /* blanks in the name of a field do not count */
            if (!isspace((unsigned char)*c))
                key[length++] = (char)tolower((unsigned char)*c);
        key[length] = '\0';
        const char *value = skip_blanks(colon + 1);
        if (!set(h, key, value))
            return FBP_INVALID(
                "%s: NRRD header: \"%.40s: %.80s\" is not supported or damaged; correct it", path,
                key, value);
        struct fbp_pattern several;
        if ((strncmp(h->data_file, "LIST", 4) == 0 && strchr(" \t", h->data_file[4])) ||
            fbp_pattern_parse(h->data_file, &several))
            return FBP_UNSUPPORTED("%s: NRRD: samples in several files (data file: %s) are not "
                                   "supported; save them as one file, or name the files by a "
                                   "pattern with \"raw\" in the scan file, such as "
                                   "\"slice%%03d.raw 1 100\"",
                                   path, h->data_file);
    }
    return FBP_OK;
}

/* ---- the samples */

/* Find the samples in src->fd: from byte `at` on, skip the lines ("line skip") and bytes ("byte
 * skip") that the header states. Set src->offset, or open the compressed stream. */
static fbp_status place_samples(struct fbp_source *src, const struct header *h, uint64_t at)
{
    const uint64_t size = fbp_file_bytes(src->fd);
    uint64_t bytes = 0;
    char chunk[4096];

    if (src->growing && h->byte_skip == -1)
        return FBP_UNSUPPORTED("%s: NRRD header: --follow cannot read a file with \"byte skip: "
                               "-1\", which counts from the end; give the number of bytes",
                               src->path);
    FBP_TRY(fbp_array_bytes(src->path, &src->info, &bytes));
    for (long long lines = h->line_skip; lines > 0;) {
        const size_t n = size - at < sizeof chunk ? (size_t)(size - at) : sizeof chunk;
        if (n == 0)
            return FBP_INVALID("%s: NRRD header: the file has fewer lines than \"line skip\"; "
                               "correct \"line skip\"",
                               src->path);
        FBP_TRY(fbp_read_at(src->fd, src->path, at, chunk, n));
        const char *p = chunk;
        while (lines > 0 && (p = memchr(p, '\n', n - (size_t)(p - chunk)))) {
            p++;
            lines--;
        }
        at += p ? (size_t)(p - chunk) : n;
    }
    src->offset = at;
    if (h->gzip)
        return fbp_inflate_open(src, 0, (uint64_t)h->byte_skip, bytes);
    if (h->byte_skip == -1) /* the samples are the last bytes of the file */
        src->offset = size >= bytes && size - bytes > at ? size - bytes : at;
    else
        src->offset += (uint64_t)h->byte_skip;
    if (!src->growing && (size < bytes || src->offset > size - bytes))
        return FBP_INVALID("%s: the file has %llu bytes, but its header describes %llu bytes of "
                           "samples from byte %llu on; the file is truncated, copy it again",
                           src->path, (unsigned long long)size, (unsigned long long)bytes,
                           (unsigned long long)src->offset);
    return FBP_OK;
}

static enum fbp_type element_type(const char *name)
{
    static const struct {
        enum fbp_type type;
        const char *const names[6];
    } table[] = {
        {FBP_I8, {"signed char", "int8", "int8_t"}},
        {FBP_U8, {"uchar", "unsigned char", "uint8", "uint8_t"}},
        {FBP_I16, {"short", "short int", "signed short", "signed short int", "int16", "int16_t"}},
        {FBP_U16, {"ushort", "unsigned short", "unsigned short int", "uint16", "uint16_t"}},
        {FBP_I32, {"int", "signed int", "int32", "int32_t"}},
        {FBP_U32, {"uint", "unsigned int", "uint32", "uint32_t"}},
        {FBP_F32, {"float"}},
        {FBP_F64, {"double"}},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        for (size_t k = 0; k < 6 && table[i].names[k]; k++)
            if (strcasecmp(name, table[i].names[k]) == 0)
                return table[i].type;
    return FBP_TYPE_NONE;
}

static fbp_status check_header(const char *path, struct header *h)
{
    const enum fbp_type type = element_type(h->type);
    const bool has_steps = h->n_steps == 4;

    /* A series of volumes: the fourth axis is one of time, or has no direction in space, and the
     * first three axes are neither. */
    bool series = h->is_time[3] || (has_steps && isnan(h->steps[3][0]) && !h->is_place[3]);
    for (size_t i = 0; i < 3; i++)
        series = series && !h->is_time[i] && !(has_steps && isnan(h->steps[i][0]));

    if (h->n_sizes == 0 || h->n_sizes != h->dim)
        return FBP_INVALID(
            "%s: NRRD header: dimension %zu, but %zu sizes; the file is damaged, copy it again",
            path, h->dim, h->n_sizes);
    if (h->dim < 2 || h->dim > 4 || h->has_components)
        return FBP_UNSUPPORTED("%s: NRRD: %zu axes%s, expected two or three axes of scalar values, "
                               "or four for a series; save one component as a separate file",
                               path, h->dim,
                               h->has_components ? ", one of them of components" : "");
    if (h->dim == 4 && !series)
        return FBP_UNSUPPORTED(
            "%s: NRRD: four axes, but the last is not declared to be time (\"kinds: domain domain "
            "domain time\"); declare it, or save one volume, or one component, as a separate file",
            path);
    if (h->n_steps && h->n_steps != h->dim)
        return FBP_INVALID("%s: NRRD header: %zu space directions for %zu axes; correct the header",
                           path, h->n_steps, h->dim);
    if ((h->n_spacings && h->n_spacings != h->dim) || (h->n_mins && h->n_mins != h->dim))
        return FBP_INVALID(
            "%s: NRRD header: %zu spacings and %zu axis mins for %zu axes; correct the header",
            path, h->n_spacings, h->n_mins, h->dim);
    if (type == FBP_TYPE_NONE)
        return FBP_UNSUPPORTED("%s: NRRD header: type: \"%s\" is not supported; save it as int8 to "
                               "int32, uint8 to uint32, float or double",
                               path, h->type);
    h->gzip = strcasecmp(h->encoding, "gzip") == 0 || strcasecmp(h->encoding, "gz") == 0;
    if (!h->gzip && strcasecmp(h->encoding, "raw") != 0)
        return FBP_UNSUPPORTED(
            "%s: NRRD header: encoding: \"%s\" is not supported; save it as raw or gzip", path,
            h->encoding);
    if (!h->has_endian && fbp_type_size(type) > 1)
        return FBP_INVALID(
            "%s: NRRD header: endian is missing; add \"endian: little\" or \"endian: big\"", path);
    if (h->gzip && h->byte_skip == -1)
        return FBP_INVALID("%s: NRRD header: \"byte skip: -1\" is allowed with \"encoding: raw\" "
                           "only; give the number of bytes",
                           path);
    return FBP_OK;
}

/* Set spacing and origin of the axes of space (the first three) from the space directions or,
 * without these, from the spacings. Nothing is set if one of these axes has neither, or a unit that
 * is not a length. Axes without a unit are in mm. */
static fbp_status take_place(struct fbp_source *src, const struct header *h)
{
    const size_t n = h->dim < 3 ? h->dim : 3; /* axes of space */
    double step[3][3] = {{0}}, origin[3] = {0};

    if (h->n_steps) {
        for (size_t c = 0; c < h->space_dim; c++) {
            const double mm = c < h->n_space_units ? h->space_unit_mm[c] : 1;
            origin[c] = mm * h->origin[c];
            for (size_t i = 0; i < n; i++)
                step[i][c] = mm * h->steps[i][c];
            if (isnan(mm))
                return FBP_OK;
        }
        for (size_t i = 0; i < n; i++)
            if (isnan(step[i][0]))
                return FBP_OK;
        return fbp_source_take_axes(src, n, (const double(*)[3])step, origin);
    }
    if (!h->n_spacings)
        return FBP_OK;
    for (size_t i = 0; i < n; i++) {
        const double mm = i < h->n_units ? h->unit_mm[i] : 1;
        step[i][i] = mm * h->spacings[i];
        if (isnan(step[i][i]))
            return FBP_OK;
        if (step[i][i] <= 0)
            return FBP_INVALID("%s: NRRD header: spacing %g is not positive; correct the header",
                               src->path, h->spacings[i]);
        if (h->n_mins && !isnan(h->mins[i]))
            origin[i] = mm * (h->mins[i] + (h->is_cell[i] ? h->spacings[i] / 2 : 0));
        else if (h->has_origin && i < h->space_dim)
            origin[i] = mm * h->origin[i];
    }
    return fbp_source_take_axes(src, n, (const double(*)[3])step, origin);
}

/* Read the text of an NRRD header, malloc'ed. *closed: the header ends with an empty line, after
 * which samples may follow. */
static fbp_status read_header(const struct fbp_source *src, char **out, size_t *n, bool *closed)
{
    const size_t size = (size_t)fbp_file_bytes(src->fd);

    for (size_t most = FIRST_READ;; most *= 8) {
        const size_t has = size < most ? size : most;
        free(*out);
        *out = NULL;
        FBP_TRY(fbp_calloc((void **)out, has + 1, 1, "an NRRD header"));
        FBP_TRY(fbp_read_at(src->fd, src->path, 0, *out, has));
        for (const char *p = *out, *end = *out + has; (p = memchr(p, '\n', (size_t)(end - p)));) {
            const size_t left = (size_t)(end - ++p);
            const bool crlf = left >= 2 && p[0] == '\r' && p[1] == '\n';
            *closed = crlf || (left >= 1 && p[0] == '\n');
            *n = (size_t)(p - *out) + (crlf ? 2 : 1);
            if (*closed)
                return FBP_OK;
        }
        *n = has;
        if (has == size)
            return FBP_OK;
        if (most >= MAX_HEADER)
            return FBP_INVALID("%s: NRRD header: the empty line at its end is missing; the file is "
                               "damaged, copy it again",
                               src->path);
    }
}

static fbp_status open_nrrd(struct fbp_source *src)
{
    struct fbp_array_info *info = &src->info;
    char *text = NULL, *path = NULL;
    struct header *h = NULL;
    uint64_t bytes = 0, size = 0;
    bool closed = false;
    fbp_status st;
    size_t n = 0;

    FBP_TRY(fbp_calloc((void **)&h, 1, sizeof *h, "an NRRD header"));
    FBP_TRY_GOTO(read_header(src, &text, &n, &closed));
    if (n < 8 || memcmp(text, "NRRD", 4) != 0)
        FBP_TRY_GOTO(FBP_INVALID(
            "%s: not an NRRD file, despite its file name; convert it, or correct the name",
            src->path));
    FBP_TRY_GOTO(parse(src->path, text, n, h));
    FBP_TRY_GOTO(check_header(src->path, h));
    for (size_t i = 0; i < 3; i++) {
        info->n[i] = i < h->dim ? h->sizes[i] : 1;
        info->spacing_mm[i] = 1;
    }
    if (h->dim == 4)
        FBP_TRY_GOTO(fbp_frames_take(src->path, info, h->sizes[3]));
    info->type = element_type(h->type);
    info->big_endian = h->big_endian;
    memcpy(info->unit, h->unit, sizeof h->unit);
    memcpy(info->history, h->history, sizeof h->history);
    info->scale = h->scale;
    info->offset = h->scale != 0 ? h->offset : 0;
    FBP_TRY_GOTO(fbp_array_bytes(src->path, info, &bytes));
    FBP_TRY_GOTO(take_place(src, h));
    snprintf(info->format, sizeof info->format, h->data_file[0] ? "nhdr" : "nrrd");

    /* The samples follow the header, or are in the file that the field "data file" names. */
    if (h->data_file[0]) {
        path = fbp_path_join(src->path, h->data_file);
        FBP_TRY_GOTO(fbp_check_path(path));
        FBP_TRY_GOTO(fbp_source_use_file(src, path, &size));
        st = place_samples(src, h, 0);
    } else if (closed) {
        st = place_samples(src, h, n);
    } else {
        st = FBP_INVALID("%s: NRRD header: has neither an empty line at its end nor a \"data "
                         "file\"; the file is truncated, copy it again",
                         src->path);
    }
fail:
    free(path);
    free(text);
    free(h);
    return st;
}

static fbp_status write_header(const char *path, const struct fbp_array_info *info, bool compressed,
                               const char *data_file, char **out)
{
    const bool series = fbp_array_frames(info) > 1;
    char place[480] = "", frames[32] = "", unit[40] = "", scale[160] = "", history[300] = "";
    char a[32], b[32], c[32], origin[100];
    const char *type = info->type == FBP_U8    ? "uint8"
                       : info->type == FBP_U16 ? "uint16"
                       : info->type == FBP_I16 ? "int16"
                       : info->type == FBP_F64 ? "double"
                                               : "float";
    bool given = false;

    FBP_TRY(fbp_sink_spacing(path, info, &given));
    /* x, y and z of fbp are written as the axes left, posterior and superior. */
    if (given)
        snprintf(place, sizeof place,
                 "space: left-posterior-superior\n"
                 "space directions: (%s,0,0) (0,%s,0) (0,0,%s)%s\n"
                 "space origin: (%s)\nspace units: \"mm\" \"mm\" \"mm\"\n",
                 fbp_number_text(a, info->spacing_mm[0]), fbp_number_text(b, info->spacing_mm[1]),
                 fbp_number_text(c, info->spacing_mm[2]), series ? " none" : "",
                 fbp_triple_text(origin, sizeof origin, ",", info->origin_mm));
    if (info->unit[0])
        snprintf(unit, sizeof unit, "sample units: \"%.15s\"\n", info->unit);
    if (info->history[0])
        snprintf(history, sizeof history, HISTORY ":=%s\n", info->history);
    if (info->scale != 0)
        snprintf(scale, sizeof scale, SCALE ":=%s\n" OFFSET ":=%s\n",
                 fbp_number_text(a, info->scale), fbp_number_text(b, info->offset));
    if (series)
        snprintf(frames, sizeof frames, " %zu", info->time_points);
    *out = fbp_format("NRRD0004\ntype: %s\ndimension: %d\n%ssizes: %zu %zu %zu%s\n"
                      "kinds: domain domain domain%s\nendian: little\nencoding: %s\n%s%s%s%s%s\n",
                      type, series ? 4 : 3, place, info->n[0], info->n[1], fbp_frame_slices(info),
                      frames, series ? " time" : "", compressed ? "gzip" : "raw", unit, scale,
                      history, data_file ? "data file: " : "", data_file ? data_file : "");
    return *out ? FBP_OK : fbp_fail_nomem(512, "an NRRD header");
}

static fbp_status layout(const char *path, const struct fbp_array_info *info,
                         uint64_t compressed_bytes, struct fbp_layout *out)
{
    const bool compressed = compressed_bytes > 0;
    const char *name;

    if (fbp_has_extension(path, ".nhdr")) {
        FBP_TRY(fbp_layout_pair(out, path, ".nhdr", compressed ? ".raw.gz" : ".raw", &name));
        return write_header(path, info, compressed, name, &out->side_text);
    }
    FBP_TRY(write_header(path, info, compressed, NULL, &out->header));
    out->header_bytes = strlen(out->header);
    return fbp_layout_one(out, path);
}

static const struct fbp_sink_format files[] = {
    {.extensions = ".nrrd", .layout = layout, .can_compress = true, .gzip = true, .frames = true},
    {.extensions = ".nhdr", .layout = layout, .can_compress = true, .gzip = true, .frames = true},
    {0},
};

const struct fbp_format fbp_format_nrrd = {
    .name = "nrrd",
    .title = "NRRD",
    .extensions = ".nrrd .nhdr",
    .detect = detect,
    .open = open_nrrd,
    .files = files,
};
