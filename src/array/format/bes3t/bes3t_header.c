/* The text of a description (.DSC), and what it says of its samples. */
#include "array/file/bytes.h"
#include "array/format/bes3t/bes3t.h"

#include "base/base.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum { MAX_BYTES = 4 << 20 };

bool fbp_bes3t_detect(const char *path, const unsigned char *head, size_t n)
{
    (void)path;
    return n >= 5 && memcmp(head, "#DESC", 5) == 0;
}

/* Without blanks (and carriage returns) at both ends, and without quotes around all of it. */
static char *trim(char *text)
{
    text += strspn(text, " \t\r");
    size_t n = strlen(text);
    while (n > 0 && isspace((unsigned char)text[n - 1]))
        text[--n] = '\0';
    if (n < 2 || text[0] != '\'' || text[n - 1] != '\'')
        return text;
    text[n - 1] = '\0';
    return trim(text + 1);
}

/* "#SPL 1.2 * …" begins a layer, ".DVC grdUnit, 1.0" a device; the name ends there. */
static bool begins_part(char *line, const char **part)
{
    char *name = line + 1;

    if (*line != '#' && strncmp(line, ".DVC", 4) != 0)
        return false;
    if (*line == '.')
        name = line + 4 + strspn(line + 4, " \t");
    name[strcspn(name, " \t,")] = '\0';
    *part = name;
    return true;
}

static void read_line(struct fbp_bes3t *d, char *line, const char **part)
{
    line = trim(line);
    if (!*line || *line == '*' || begins_part(line, part))
        return;
    char *end = line + strcspn(line, " \t");
    char *value = *end ? end + 1 : end;
    *end = '\0';
    d->items[d->n++] = (struct fbp_bes3t_item){*part, line, trim(value)};
}

static size_t count_lines(const char *text)
{
    size_t n = 1;

    for (; *text; text++)
        n += *text == '\n';
    return n;
}

fbp_status fbp_bes3t_load(struct fbp_bes3t *out, const char *path)
{
    const char *part = "";
    size_t n = 0;

    *out = (struct fbp_bes3t){.path = path};
    FBP_TRY(fbp_read_text(path, MAX_BYTES, &out->text, &n));
    if (!fbp_bes3t_detect(path, (const unsigned char *)out->text, n) || strlen(out->text) != n)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: is no BES3T description (a text that begins with #DESC): name the "
                        ".DSC file of the measurement",
                        path);
    FBP_TRY(fbp_calloc((void **)&out->items, count_lines(out->text), sizeof *out->items, "lines"));
    for (char *line = out->text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        read_line(out, line, &part);
    }
    return FBP_OK;
}

void fbp_bes3t_clear(struct fbp_bes3t *d)
{
    free(d->text);
    free(d->items);
    *d = (struct fbp_bes3t){0};
}

const char *fbp_bes3t_text(const struct fbp_bes3t *d, const char *part, const char *key)
{
    for (size_t i = 0; i < d->n; i++)
        if (strcmp(d->items[i].key, key) == 0 && strcmp(d->items[i].part, part) == 0)
            return *d->items[i].value ? d->items[i].value : NULL;
    return NULL;
}

fbp_status fbp_bes3t_missing(const struct fbp_bes3t *d, const char *part, const char *key)
{
    return fbp_fail(FBP_ERR_INVALID, "%s: %s: %s is missing: is the file complete?", d->path, part,
                    key);
}

fbp_status fbp_bes3t_number(const struct fbp_bes3t *d, const char *part, const char *key,
                            double *out, const char **unit)
{
    const char *text = fbp_bes3t_text(d, part, key);
    char *end = NULL;

    if (!text)
        return fbp_bes3t_missing(d, part, key);
    const double x = fbp_number(text, &end);
    if (end == text || (*end && !isspace((unsigned char)*end)) || !isfinite(x))
        return fbp_fail(FBP_ERR_INVALID, "%s: %s: found \"%.40s\", expected a number", d->path, key,
                        text);
    *out = x;
    if (unit)
        *unit = end + strspn(end, " \t");
    return FBP_OK;
}

fbp_status fbp_bes3t_count(const struct fbp_bes3t *d, const char *part, const char *key,
                           size_t *out)
{
    double x = 0;

    FBP_TRY(fbp_bes3t_number(d, part, key, &x, NULL));
    if (!(x >= 1 && x <= 1e6 && x == floor(x)))
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: %s: found %g, expected a whole number from 1 to 1000000", d->path, key,
                        x);
    *out = (size_t)x;
    return FBP_OK;
}

/* Index of the value among words[n]; a missing key is the first of them where it has a default. */
static fbp_status choose(const struct fbp_bes3t *d, const char *key, const char *const *words,
                         size_t n, bool optional, size_t *out)
{
    const char *text = fbp_bes3t_text(d, "DESC", key);
    char list[80] = "";

    *out = 0;
    if (!text)
        return optional ? FBP_OK : fbp_bes3t_missing(d, "DESC", key);
    for (; *out < n; (*out)++)
        if (strcmp(text, words[*out]) == 0)
            return FBP_OK;
    for (size_t i = 0; i < n; i++) {
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? i + 1 < n ? ", " : " or " : "",
                 words[i]);
    }
    return fbp_fail(FBP_ERR_UNSUPPORTED, "%s: %s: found \"%.40s\", expected %s: %s", d->path, key,
                    text, list,
                    strchr(text, ',') ? "save each of its data sets as a file of its own"
                                      : "save it in one of these ways");
}

fbp_status fbp_bes3t_samples(const struct fbp_bes3t *d, struct fbp_bes3t_samples *out)
{
    static const char *const orders[] = {"BIG", "LIT"}, *const parts[] = {"REAL", "CPLX"};
    static const char *const formats[] = {"C", "S", "I", "F", "D"};
    static const enum fbp_type types[] = {FBP_I8, FBP_I16, FBP_I32, FBP_F32, FBP_F64};
    static const char *const counts[] = {"XPTS", "YPTS", "ZPTS"};
    size_t order, part, format;

    FBP_TRY(choose(d, "BSEQ", orders, 2, false, &order));
    FBP_TRY(choose(d, "IKKF", parts, 2, true, &part));
    FBP_TRY(choose(d, "IRFMT", formats, 5, false, &format));
    const char *other = part == 1 ? fbp_bes3t_text(d, "DESC", "IIFMT") : NULL;
    if (other && strcmp(other, formats[format]) != 0)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: IRFMT is %s and IIFMT %.20s: save real and imaginary parts as numbers "
                        "of one type",
                        d->path, formats[format], other);
    *out = (struct fbp_bes3t_samples){
        .n = {1, 1, 1}, .type = types[format], .big_endian = order == 0, .complex = part == 1};
    for (int i = 0; i < 3; i++)
        if (i == 0 || fbp_bes3t_text(d, "DESC", counts[i]))
            FBP_TRY(fbp_bes3t_count(d, "DESC", counts[i], &out->n[i]));
    return FBP_OK;
}
