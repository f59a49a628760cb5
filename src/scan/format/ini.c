/* Reads text files of key = value lines (fbp_ini_load(), fbp_ini_number()), with or without
 * [sections], such as logs of scanners, for the importers of such files (importers.h).
 * Used by: bruker.c, leap.c, nikon.c. */
#include "scan/format/importers.h"

#include "array/array.h"
#include "array/file/bytes.h"
#include "array/names.h"
#include "base/base.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { MAX_BYTES = 1 << 28 };

/* Remove blanks and carriage returns at both ends of a text. */
static char *trim(char *text)
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
        line = trim(line);
        char *end = *line == '[' ? strchr(line, ']') : NULL, *equals = strchr(line, '=');
        if (end) {
            *end = '\0';
            section = trim(line + 1);
        } else if (equals && *line != ';' && *line != '#') {
            *equals = '\0';
            ini->items[ini->n++] = (struct fbp_ini_item){section, trim(line), trim(equals + 1)};
        }
    }
    return FBP_OK;
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

static fbp_status needed_number(const struct fbp_ini *ini, const char *section, const char *key,
                                double *out)
{
    if (!fbp_ini_text(ini, section, key) && !*section)
        return FBP_INVALID("%s: %s is missing; add it", ini->path, key);
    if (!fbp_ini_text(ini, section, key))
        return FBP_INVALID("%s: [%s] has no %s; check that the file is complete", ini->path,
                           section, key);
    return fbp_ini_number(ini, section, key, out);
}

fbp_status fbp_ini_positive(const struct fbp_ini *ini, const char *section, const char *key,
                            double *out)
{
    FBP_TRY(needed_number(ini, section, key, out));
    if (!(*out > 0))
        return FBP_INVALID("%s: %s: found %g, expected a number above 0", ini->path, key, *out);
    return FBP_OK;
}

fbp_status fbp_ini_count(const struct fbp_ini *ini, const char *section, const char *key,
                         size_t *out)
{
    double x = 0;

    FBP_TRY(needed_number(ini, section, key, &x));
    if (!(x >= 1 && x <= 1e6 && x == floor(x)))
        return FBP_INVALID("%s: %s: found %g, expected a whole number from 1 to 1000000", ini->path,
                           key, x);
    *out = (size_t)x;
    return FBP_OK;
}

fbp_status fbp_ini_panel(const struct fbp_ini *ini, const char *section, const char *columns,
                         const char *rows, const char *projections,
                         const struct fbp_geometry_known *known, struct fbp_panel *out)
{
    const bool both = fbp_ini_text(ini, section, columns) && fbp_ini_text(ini, section, rows);
    char *first = projections ? fbp_stack_name(projections, 0) : NULL;
    fbp_source *source = NULL;

    *out = (struct fbp_panel){0, 0};
    if (!both && known->panel.n_columns > 0)
        *out = known->panel;
    else if (!both && first && access(first, F_OK) == 0 &&
             fbp_source_open(&source, first, NULL) == FBP_OK)
        *out = (struct fbp_panel){fbp_source_info(source)->n[0], fbp_source_info(source)->n[1]};
    fbp_source_close(&source);
    free(first);
    if (out->n_columns == 0 || fbp_ini_text(ini, section, columns))
        FBP_TRY(fbp_ini_count(ini, section, columns, &out->n_columns));
    if (out->n_rows == 0 || fbp_ini_text(ini, section, rows))
        FBP_TRY(fbp_ini_count(ini, section, rows, &out->n_rows));
    return FBP_OK;
}

/* Compare keys without regard to case, blanks, '-' and '_': "Post alignment" is "Postalignment". */
static bool same_key(const char *a, const char *b)
{
    for (;; a++, b++) {
        a += strspn(a, " -_");
        b += strspn(b, " -_");
        if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
            return false;
        if (!*a)
            return true;
    }
}

fbp_status fbp_ini_note_ignored(const struct fbp_ini *ini, const struct fbp_ini_ignored *table,
                                size_t n, struct fbp_scan *out)
{
    for (size_t i = 0; i < ini->n; i++) {
        const struct fbp_ini_item *item = &ini->items[i];
        for (size_t k = 0; k < n && *item->value; k++) {
            const struct fbp_ini_ignored *key = &table[k];
            char *end = NULL;
            if (strcasecmp(item->section, key->section) != 0 || !same_key(item->key, key->key))
                continue;
            const double x = fbp_number(item->value, &end);
            const bool neutral =
                key->neutral_text
                    ? strncasecmp(item->value, key->neutral_text, strlen(key->neutral_text)) == 0
                    : end != item->value && fabs(x - key->neutral) < 1e-9;
            if (!neutral)
                FBP_TRY(fbp_scan_note_ignored(out, ini->path, item->key, item->value, key->remedy));
        }
    }
    return FBP_OK;
}
