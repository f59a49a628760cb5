/* Text: formatting, safe printing of text from files, JSON. */
#include "base/text.h"

#include "fbp/types.h"

#include "base/mem.h"
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

/* Text that may come from a file, for a terminal: UTF-8 stays, what a terminal would obey does not.
 * Unicode 15, 3.9 (well-formed UTF-8) and 23.1 (control codes). */

/* The first character of text[0..n): its length, 1 to 4, or 0 if it is none, and its number. */
static size_t decode(const unsigned char *text, size_t n, unsigned *number)
{
    static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000}; /* longer forms are no UTF-8 */
    const unsigned lead = text[0];
    const size_t len = lead < 0x80            ? 1
                       : (lead >> 5) == 0x06u ? 2
                       : (lead >> 4) == 0x0eu ? 3
                       : (lead >> 3) == 0x1eu ? 4
                                              : 0;

    if (len == 0 || len > n)
        return 0;
    *number = len == 1 ? lead : lead & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) {
        if ((text[i] & 0xc0u) != 0x80)
            return 0;
        *number = *number << 6 | (text[i] & 0x3fu);
    }
    const bool surrogate = *number >= 0xd800 && *number <= 0xdfff;
    return *number < least[len] || *number > 0x10ffff || surrogate ? 0 : len;
}

/* C0, DEL, C1; ends of lines and paragraphs, and what turns the direction of writing round. */
static bool commands_terminal(unsigned number)
{
    return number < 0x20 || (number >= 0x7f && number < 0xa0) ||
           (number >= 0x2028 && number <= 0x202e) || (number >= 0x2066 && number <= 0x2069);
}

size_t fbp_printable(char *out, size_t room, const char *text, size_t n, const char *keep)
{
    FBP_GIVEN_ELSE(0, out, text, keep);
    size_t used = 0;

    for (size_t i = 0; i < n;) {
        const unsigned char *at = (const unsigned char *)text + i;
        unsigned number = 0;
        char one[8];
        const size_t len = decode(at, n - i, &number);
        const bool kept = len == 1 && number != 0 && strchr(keep, (int)number);
        if (len > 0 && (kept || !commands_terminal(number)))
            snprintf(one, sizeof one, "%.*s", (int)len, (const char *)at);
        else
            snprintf(one, sizeof one, "\\u%04x", len > 0 ? number : *at);
        const size_t more = strlen(one);
        if (used + more >= room)
            break;
        memcpy(out + used, one, more);
        used += more;
        i += len > 0 ? len : 1;
    }
    if (room > 0)
        out[used] = '\0';
    return used;
}

/* cJSON says of text that it does not understand and of memory that has ended that there is no
 * value.  So text that it refuses is looked at once more, without memory: if that finds no mistake,
 * memory was it. */

/* cJSON's own bounds. */
enum { DEEPEST = CJSON_NESTING_LIMIT, LONGEST_NUMBER = 63 };

static const char *value(const char *p, int depth);

static const char *skip(const char *p)
{
    while (*p && (unsigned char)*p <= ' ')
        p++;
    return p;
}

/* Four hexadecimal digits; -1 if they are none. */
static long hex(const char *p)
{
    const size_t n = strspn(p, "0123456789abcdefABCDEF");
    char digits[5] = "";

    if (n < 4)
        return -1;
    memcpy(digits, p, 4);
    return strtol(digits, NULL, 16);
}

/* Behind the escape at p, a backslash; NULL if it is none. */
static const char *escape(const char *p)
{
    if (p[1] != 'u')
        return p[1] && strchr("bfnrt\"\\/", p[1]) ? p + 2 : NULL;
    const long first = hex(p + 2);
    if (first < 0 || (first >= 0xdc00 && first < 0xe000))
        return NULL;
    if (first < 0xd800 || first >= 0xe000)
        return p + 6;
    const long second = p[6] == '\\' && p[7] == 'u' ? hex(p + 8) : -1;
    return second >= 0xdc00 && second < 0xe000 ? p + 12 : NULL;
}

/* Behind what begins at p; NULL where that is a mistake.  So do all of these. */
static const char *string(const char *p)
{
    if (*p++ != '"')
        return NULL;
    while (p && *p != '"')
        p = *p == '\0' ? NULL : *p == '\\' ? escape(p) : p + 1;
    return p ? p + 1 : NULL;
}

static const char *number(const char *p)
{
    const size_t n = strspn(p, "+-0123456789eE.");
    char *end = NULL;

    if (n > LONGEST_NUMBER || *p == '+' || *p == '.')
        return NULL;
    (void)strtod(p, &end);
    return end > p && (size_t)(end - p) == n ? end : NULL;
}

static const char *pair(const char *p, int depth)
{
    p = string(p);
    if (!p || *(p = skip(p)) != ':')
        return NULL;
    return value(skip(p + 1), depth);
}

/* A list of values, or of keys and values. */
static const char *list(const char *p, char last, int depth)
{
    const bool keys = last == '}';

    if (depth >= DEEPEST)
        return NULL;
    p = skip(p + 1);
    if (*p == last)
        return p + 1;
    for (;;) {
        p = keys ? pair(p, depth + 1) : value(p, depth + 1);
        if (!p)
            return NULL;
        p = skip(p);
        if (*p == last)
            return p + 1;
        if (*p != ',')
            return NULL;
        p = skip(p + 1);
    }
}

static const char *value(const char *p, int depth)
{
    static const char *const words[] = {"null", "true", "false"};

    if (*p == '"')
        return string(p);
    if (*p == '[' || *p == '{')
        return list(p, *p == '[' ? ']' : '}', depth);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncmp(p, words[i], strlen(words[i])) == 0)
            return p + strlen(words[i]);
    return number(p);
}

/* JSON for certain; what only cJSON might accept is none. */
static bool is_json(const char *text, bool whole)
{
    const char *end;

    if (strncmp(text, "\xEF\xBB\xBF", 3) == 0)
        text += 3;
    end = value(skip(text), 0);
    return end && (!whole || *skip(end) == '\0');
}

fbp_status fbp_json_parse(const char *text, size_t n, const char **end, cJSON **out)
{
    const char *zero = text;

    *out = cJSON_ParseWithLengthOpts(text, n + 1, end, end != NULL);
    while (*out && (zero = strchr(zero, '\\')) && strncmp(zero, "\\u0000", 6) != 0)
        zero += 2; /* an escape */
    if (*out && !zero)
        return FBP_OK;
    if (*out) { /* C's strings end there */
        cJSON_Delete(*out);
        *out = NULL;
        if (end)
            *end = zero;
        return FBP_ERR_INVALID;
    }
    return is_json(text, end != NULL) ? fbp_fail_nomem(n, "JSON") : FBP_ERR_INVALID;
}
