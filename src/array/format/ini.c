/* Reads text files of key = value lines (fbp_ini_load(), fbp_ini_number()), with or without
 * [sections], such as logs of scanners. bes3t.c fills the same struct from descriptions of another
 * form.
 * Used by: array/format/, scan/format/. */
#include "array/format/ini.h"
#include "array/file/bytes.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

enum { MAX_BYTES = 1 << 28 };

char *fbp_ini_trim(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    size_t n = strlen(text);
    while (n > 0 && isspace((unsigned char)text[n - 1]))
        text[--n] = '\0';
    return text;
}

fbp_status fbp_ini_load(struct fbp_ini *ini)
{
    const char *section = "";
    size_t n = 0, n_lines = 1;

    FBP_TRY(fbp_read_text(ini->path, MAX_BYTES, &ini->text, &n));
    if (strlen(ini->text) != n)
        return FBP_INVALID(
            "%s: found a zero byte after %zu bytes; the file is damaged, or not a text file",
            ini->path, strlen(ini->text));
    for (const char *p = ini->text; *p; p++)
        n_lines += *p == '\n';
    FBP_TRY(fbp_calloc((void **)&ini->items, n_lines, sizeof *ini->items, "lines"));
    for (char *line = ini->text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        line = fbp_ini_trim(line);
        char *end = *line == '[' ? strchr(line, ']') : NULL, *equals = strchr(line, '=');
        if (end) {
            *end = '\0';
            section = fbp_ini_trim(line + 1);
        } else if (equals && *line != ';' && *line != '#') {
            *equals = '\0';
            ini->items[ini->n++] =
                (struct fbp_ini_item){section, fbp_ini_trim(line), fbp_ini_trim(equals + 1)};
        }
    }
    return FBP_OK;
}

void fbp_ini_clear(struct fbp_ini *ini)
{
    free(ini->text);
    free(ini->items);
    *ini = (struct fbp_ini){0};
}

const char *fbp_ini_text(const struct fbp_ini *ini, const char *section, const char *key)
{
    for (size_t i = 0; i < ini->n; i++)
        if (strcasecmp(ini->items[i].key, key) == 0 &&
            strcasecmp(ini->items[i].section, section) == 0)
            return *ini->items[i].value ? ini->items[i].value : NULL;
    return NULL;
}

fbp_status fbp_ini_number(const struct fbp_ini *ini, const char *section, const char *key,
                          double *out)
{
    const char *text = fbp_ini_text(ini, section, key);
    char *end = NULL;

    if (!text)
        return FBP_OK;
    const double x = fbp_number(text, &end);
    if (end == text || (*end && !isspace((unsigned char)*end)) || !isfinite(x))
        return FBP_INVALID("%s: %s: found \"%.40s\", expected a number", ini->path, key, text);
    *out = x;
    return FBP_OK;
}

fbp_status fbp_ini_missing(const struct fbp_ini *ini, const char *section, const char *key)
{
    if (!*section)
        return FBP_INVALID("%s: %s is missing; add it", ini->path, key);
    return FBP_INVALID("%s: [%s] has no %s; check that the file is complete", ini->path, section,
                       key);
}

fbp_status fbp_ini_need(const struct fbp_ini *ini, const char *section, const char *key,
                        double *out)
{
    return fbp_ini_text(ini, section, key) ? fbp_ini_number(ini, section, key, out)
                                           : fbp_ini_missing(ini, section, key);
}

fbp_status fbp_ini_positive(const struct fbp_ini *ini, const char *section, const char *key,
                            double *out)
{
    FBP_TRY(fbp_ini_need(ini, section, key, out));
    if (!(*out > 0))
        return FBP_INVALID("%s: %s: found %g, expected a number above 0", ini->path, key, *out);
    return FBP_OK;
}

fbp_status fbp_ini_count(const struct fbp_ini *ini, const char *section, const char *key,
                         size_t *out)
{
    double x = 0;

    FBP_TRY(fbp_ini_need(ini, section, key, &x));
    if (!(x >= 1 && x <= 1e6 && x == floor(x)))
        return FBP_INVALID("%s: %s: found %g, expected a whole number from 1 to 1000000", ini->path,
                           key, x);
    *out = (size_t)x;
    return FBP_OK;
}
