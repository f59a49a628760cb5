#include "base/text.h"

#include "base/status.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
enum { N_UNITS = sizeof unit / sizeof *unit };

char *fbp_bytes_about(char *buf, size_t n, double bytes)
{
    size_t k = 0;

    while (bytes >= 999.5 && k + 1 < N_UNITS) {
        bytes /= 1024;
        k++;
    }
    snprintf(buf, n,
             k == 0 || bytes >= 99.95 ? "%.0f %s"
             : bytes >= 9.995         ? "%.1f %s"
                                      : "%.2f %s",
             bytes, unit[k]);
    return buf;
}

char *fbp_bytes_text(char *buf, size_t n, uint64_t bytes)
{
    FBP_GIVEN_ELSE(buf, buf);
    return fbp_bytes_about(buf, n, (double)bytes);
}

char *fbp_bytes_up_text(char *buf, size_t n, uint64_t bytes)
{
    double value = (double)bytes;
    size_t k = 0;

    for (; value > 999 && k + 1 < N_UNITS; k++)
        value /= 1024;
    const int digits = k == 0 || value > 99.9 ? 0 : value > 9.99 ? 1 : 2;
    const double scale = digits == 2 ? 100 : digits ? 10 : 1;
    snprintf(buf, n, "%.*f %s", digits, ceil(value * scale) / scale, unit[k]);
    return buf;
}

enum { MAX_WORD = 48 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* One letter more of the first word: row[j] is the distance of its beginning to b[0, j). */
static void next_row(size_t *row, size_t i, char letter, const char *b, size_t nb)
{
    size_t diagonal = row[0];

    row[0] = i;
    for (size_t j = 1; j <= nb; j++) {
        const bool same = tolower((unsigned char)letter) == tolower((unsigned char)b[j - 1]);
        const size_t swap = diagonal + !same;
        diagonal = row[j];
        row[j] = least(swap, least(row[j], row[j - 1]) + 1);
    }
}

static size_t edit_distance(const char *a, const char *b)
{
    const size_t na = strlen(a), nb = strlen(b);
    size_t row[MAX_WORD + 1];

    if (na > MAX_WORD || nb > MAX_WORD)
        return MAX_WORD;
    for (size_t j = 0; j <= nb; j++)
        row[j] = j;
    for (size_t i = 1; i <= na; i++)
        next_row(row, i, a[i - 1], b, nb);
    return row[nb];
}

const char *fbp_nearest(const char *word, const char *const *candidates, size_t n)
{
    const char *best = NULL;
    size_t bound = strlen(word) / 2 + 2;

    for (size_t i = 0; i < n; i++) {
        const size_t dist = edit_distance(word, candidates[i]);
        if (dist < bound) {
            bound = dist;
            best = candidates[i];
        }
    }
    return best;
}

char *fbp_strdup(const char *text)
{
    const size_t n = strlen(text) + 1;
    char *copy = malloc(n);
    return copy ? memcpy(copy, text, n) : NULL;
}

char *fbp_format(const char *fmt, ...)
{
    va_list ap, again;
    char *out = NULL;

    va_start(ap, fmt);
    va_copy(again, ap);
    const int n = vsnprintf(NULL, 0, fmt, ap);
    if (n >= 0 && (out = malloc((size_t)n + 1)))
        vsnprintf(out, (size_t)n + 1, fmt, again);
    va_end(again);
    va_end(ap);
    return out;
}

const char *fbp_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

char *fbp_path_join(const char *base, const char *path)
{
    const char *slash = base ? strrchr(base, '/') : NULL;

    if (path[0] == '/' || !slash)
        return fbp_strdup(path);
    return fbp_format("%.*s%s", (int)(slash - base + 1), base, path);
}

bool fbp_has_extension(const char *path, const char *extensions)
{
    const size_t length = strlen(path);

    for (const char *p = extensions; *p;) {
        const size_t n = strcspn(p, " ");
        if (length >= n && strncasecmp(path + length - n, p, n) == 0)
            return true;
        p += n + strspn(p + n, " ");
    }
    return false;
}
