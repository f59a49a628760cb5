/* Lines "field: value" behind the magic, "key:=value" and comments, up to an empty line. */
#include "array/file/bytes.h"
#include "array/format/nrrd/nrrd.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *skip_blanks(const char *p)
{
    return p + strspn(p, " \t");
}

bool fbp_nrrd_numbers(const char *value, size_t max, double *out, size_t *n)
{
    *n = 0;
    while (*value) {
        char *end = NULL;
        const double x = fbp_number(value, &end);
        if (end == value || *n == max || (*end && !isblank((unsigned char)*end)))
            return false;
        out[(*n)++] = x;
        value = skip_blanks(end);
    }
    return *n > 0;
}

static bool integer(const char *value, long long *out)
{
    char *end = NULL;

    errno = 0;
    *out = strtoll(value, &end, 10);
    return end != value && !*end && !errno;
}

static bool sizes(const char *value, size_t out[NRRD_MAX_AXES], size_t *n)
{
    *n = 0;
    while (*value) {
        char *end = NULL;
        errno = 0;
        const unsigned long long x = strtoull(value, &end, 10);
        if (!isdigit((unsigned char)*value) || errno || *n == NRRD_MAX_AXES || x > SIZE_MAX)
            return false;
        out[(*n)++] = (size_t)x;
        value = skip_blanks(end);
    }
    return *n > 0;
}

static bool text(const char *value, char *out, size_t n)
{
    return snprintf(out, n, "%s", value) < (int)n;
}

/* The next word, or what stands between quotes; false at the end or if it is damaged. */
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

/* Millimetres of a unit; one that is left open is taken as mm, NaN: not a length. */
static double unit_mm(const char *name)
{
    static const struct {
        const char *name;
        double mm;
    } table[] = {
        {"", 1},           {"mm", 1},           {"millimeter", 1}, {"millimeters", 1},
        {"m", 1e3},        {"cm", 10},          {"um", 1e-3},      {"micron", 1e-3},
        {"microns", 1e-3}, {"\xc2\xb5m", 1e-3}, {"nm", 1e-6},      {"\xce\xbcm", 1e-3},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(name, table[i].name) == 0)
            return table[i].mm;
    return NAN;
}

static bool units(const char *value, double out[NRRD_MAX_AXES], size_t *n)
{
    char word[64];

    for (*n = 0; *value; (*n)++) {
        if (*n == NRRD_MAX_AXES || !next_word(&value, word, sizeof word))
            return false;
        out[*n] = unit_mm(strcmp(word, "???") == 0 ? "" : word);
    }
    return *n > 0;
}

static bool centers(const char *value, struct nrrd_header *h)
{
    char word[64];

    for (h->n_centers = 0; *value; h->n_centers++) {
        if (h->n_centers == NRRD_MAX_AXES || !next_word(&value, word, sizeof word))
            return false;
        h->is_cell[h->n_centers] = strcmp(word, "cell") == 0;
    }
    return true;
}

/* Axes that count places, times or views; others count the components of an element. */
static bool kinds(const char *value, struct nrrd_header *h)
{
    static const char *const plain[] = {"domain", "space", "time",  "list",  "stub",
                                        "none",   "???",   "point", "scalar"};
    char word[64];

    static const char *const places[] = {"domain", "space"}, *const times[] = {"time", "list"};

    for (size_t n = 0; *value; n++) {
        bool is_plain = false;
        if (n == NRRD_MAX_AXES || !next_word(&value, word, sizeof word))
            return false;
        for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
            is_plain |= strcasecmp(word, plain[i]) == 0;
        h->has_components |= !is_plain;
        for (size_t i = 0; i < 2; i++) {
            h->is_place[n] |= strcasecmp(word, places[i]) == 0;
            h->is_time[n] |= strcasecmp(word, times[i]) == 0;
        }
    }
    return true;
}

/* "(x,y,z)", of up to three numbers. */
static bool vector(const char **p, double out[3], size_t *n)
{
    const char *q = *p;

    if (*q != '(')
        return false;
    memset(out, 0, 3 * sizeof *out);
    for (*n = 0; *n < 3 && *q != ')';) {
        char *end = NULL;
        q = skip_blanks(q + 1);
        out[(*n)++] = fbp_number(q, &end);
        if (end == q)
            return false;
        q = skip_blanks(end);
        if (*q != ',' && *q != ')')
            return false;
    }
    if (*q != ')')
        return false;
    *p = skip_blanks(q + 1);
    return true;
}

static bool fits_space(struct nrrd_header *h, size_t n)
{
    if (h->space_dim == 0)
        h->space_dim = n;
    return h->space_dim == n;
}

static bool directions(const char *value, struct nrrd_header *h)
{
    for (h->n_steps = 0; *value; h->n_steps++) {
        double *step = h->steps[h->n_steps];
        size_t n = 0;
        if (h->n_steps == NRRD_MAX_AXES)
            return false;
        if (strncasecmp(value, "none", 4) == 0) {
            step[0] = step[1] = step[2] = NAN;
            value = skip_blanks(value + 4);
        } else if (!vector(&value, step, &n) || !fits_space(h, n)) {
            return false;
        }
    }
    return h->n_steps > 0;
}

static bool origin(const char *value, struct nrrd_header *h)
{
    size_t n = 0;

    h->has_origin = vector(&value, h->origin, &n) && !*value && fits_space(h, n);
    return h->has_origin;
}

static bool space_dim(const char *value, struct nrrd_header *h)
{
    long long n = 0;

    if (!integer(value, &n) || n < 1 || n > 3)
        return false;
    return fits_space(h, (size_t)n);
}

/* Three axes; a fourth one is time, which no array here has. */
static bool space(const char *value, struct nrrd_header *h)
{
    return !strcasestr(value, "time") && fits_space(h, 3);
}

static bool endian(const char *value, struct nrrd_header *h)
{
    h->big_endian = strcasecmp(value, "big") == 0;
    h->has_endian = h->big_endian || strcasecmp(value, "little") == 0;
    return h->has_endian;
}

static bool dimension(const char *value, struct nrrd_header *h)
{
    size_t n = 0, dims[NRRD_MAX_AXES];

    if (!sizes(value, dims, &n) || n != 1)
        return false;
    h->dim = dims[0];
    return h->dim > 0;
}

/* One field.  Unknown ones are somebody else's business; names with and without blanks are one. */
static bool set(struct nrrd_header *h, const char *key, const char *value)
{
    if (strcmp(key, "dimension") == 0)
        return dimension(value, h);
    if (strcmp(key, "sizes") == 0)
        return sizes(value, h->sizes, &h->n_sizes);
    if (strcmp(key, "type") == 0)
        return text(value, h->type, sizeof h->type);
    if (strcmp(key, "encoding") == 0)
        return text(value, h->encoding, sizeof h->encoding);
    if (strcmp(key, "endian") == 0)
        return endian(value, h);
    if (strcmp(key, "spacings") == 0)
        return fbp_nrrd_numbers(value, NRRD_MAX_AXES, h->spacings, &h->n_spacings);
    if (strcmp(key, "axismins") == 0)
        return fbp_nrrd_numbers(value, NRRD_MAX_AXES, h->mins, &h->n_mins);
    if (strcmp(key, "units") == 0)
        return units(value, h->unit_mm, &h->n_units);
    if (strcmp(key, "spaceunits") == 0)
        return units(value, h->space_unit_mm, &h->n_space_units);
    if (strcmp(key, "centers") == 0 || strcmp(key, "centerings") == 0)
        return centers(value, h);
    if (strcmp(key, "kinds") == 0)
        return kinds(value, h);
    if (strcmp(key, "space") == 0)
        return space(value, h);
    if (strcmp(key, "spacedimension") == 0)
        return space_dim(value, h);
    if (strcmp(key, "spacedirections") == 0)
        return directions(value, h);
    if (strcmp(key, "spaceorigin") == 0)
        return origin(value, h);
    if (strcmp(key, "lineskip") == 0)
        return integer(value, &h->line_skip) && h->line_skip >= 0;
    if (strcmp(key, "byteskip") == 0)
        return integer(value, &h->byte_skip) && h->byte_skip >= -1;
    if (strcmp(key, "datafile") == 0)
        return *value && text(value, h->data_file, sizeof h->data_file);
    if (strcmp(key, "sampleunits") == 0) { /* a long one is not ours */
        const char *p = value;
        if (!next_word(&p, h->unit, sizeof h->unit) || *p)
            h->unit[0] = '\0';
    }
    return true;
}

/* Lower case, blanks left out, in place. */
static void squeeze(char *key)
{
    char *to = key;

    for (const char *p = key; *p; p++)
        if (!isspace((unsigned char)*p))
            *to++ = (char)tolower((unsigned char)*p);
    *to = '\0';
}

static char *cut_end(char *s)
{
    size_t n = strlen(s);

    while (n > 0 && isspace((unsigned char)s[n - 1]))
        s[--n] = '\0';
    return s;
}

/* "key:=value"; others' are theirs. */
static bool set_own(struct nrrd_header *h, const char *line)
{
    static const char scale[] = NRRD_SCALE ":=", offset[] = NRRD_OFFSET ":=",
                      history[] = NRRD_HISTORY ":=";
    size_t n = 0;

    if (strncmp(line, scale, sizeof scale - 1) == 0)
        return fbp_nrrd_numbers(line + sizeof scale - 1, 1, &h->scale, &n) && isfinite(h->scale);
    if (strncmp(line, history, sizeof history - 1) == 0)
        snprintf(h->history, sizeof h->history, "%.255s", line + sizeof history - 1);
    if (strncmp(line, offset, sizeof offset - 1) == 0)
        return fbp_nrrd_numbers(line + sizeof offset - 1, 1, &h->offset, &n) && isfinite(h->offset);
    return true;
}

static fbp_status parse_line(const char *path, char *line, struct nrrd_header *h)
{
    char *colon = strchr(line, ':');
    char key[64];

    if (*line == '#' || !*line)
        return FBP_OK;
    if (colon && colon[1] == '=') {
        if (set_own(h, line))
            return FBP_OK;
        return fbp_fail(FBP_ERR_INVALID, "%s: NRRD header: \"%.80s\" is damaged: correct it", path,
                        line);
    }
    if (!colon)
        return fbp_fail(FBP_ERR_INVALID, "%s: NRRD header: no field in the line \"%.40s\"", path,
                        line);
    if (colon - line >= (long)sizeof key) /* longer than any that we know */
        return FBP_OK;
    memcpy(key, line, (size_t)(colon - line));
    key[colon - line] = '\0';
    squeeze(key);
    const char *value = skip_blanks(colon + 1);
    if (!set(h, key, value))
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: NRRD header: \"%.40s: %.80s\" is not supported or damaged: correct it",
                        path, key, value);
    return FBP_OK;
}

/* "LIST", or "LIST 2". */
static bool is_list(const char *data_file)
{
    return strncmp(data_file, "LIST", 4) == 0 && strchr(" \t", data_file[4]);
}

fbp_status fbp_nrrd_parse(const char *path, char *all, size_t n, struct nrrd_header *h)
{
    for (char *line = all; line < all + n;) {
        char *newline = memchr(line, '\n', (size_t)(all + n - line));
        char *next = newline ? newline + 1 : all + n;

        if (newline)
            *newline = '\0';
        cut_end(line);
        if (line > all) /* the first one is the magic */
            FBP_TRY(parse_line(path, line, h));
        line = next;
        if (is_list(h->data_file)) {
            h->list = line;
            return FBP_OK;
        }
    }
    return FBP_OK;
}
