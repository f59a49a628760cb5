/* Functions for text: sizes in bytes (fbp_bytes_text()), similar names (fbp_nearest()) and aliases,
 * paths, safe printing of text from files, and parsing of JSON (text.h).
 * Used by: bench/, cli/, analysis/, array/, base/, pipeline/,
 * prep/, scan/. */
#include "base/text.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
enum { N_UNITS = sizeof unit / sizeof *unit };

char *fbp_bytes_estimate_text(char *buf, size_t n, double bytes)
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
    FBP_REQUIRE_ELSE(buf, buf);
    return fbp_bytes_estimate_text(buf, n, (double)bytes);
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

/* Edit distance by dynamic programming (Wagner and Fischer 1974), with one row in memory. */
size_t fbp_edit_distance(const char *a, const char *b)
{
    enum { MAX_WORD = 48 };
    const size_t na = strlen(a), nb = strlen(b);
    size_t row[MAX_WORD + 1];

    if (na > MAX_WORD || nb > MAX_WORD)
        return MAX_WORD;
    for (size_t j = 0; j <= nb; j++)
        row[j] = j;
    for (size_t i = 1; i <= na; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            const bool same = tolower((unsigned char)a[i - 1]) == tolower((unsigned char)b[j - 1]);
            const size_t replace = diagonal + !same;
            const size_t insert = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = replace < insert ? replace : insert;
        }
    }
    return row[nb];
}

bool fbp_same_name(const char *a, const char *b)
{
    for (;; a++, b++) {
        a += strspn(a, "-_ ");
        b += strspn(b, "-_ ");
        if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
            return false;
        if (!*a)
            return true;
    }
}

const char *fbp_usual_name(const char *name)
{
    static const char *const meant[][2] = {
        {"hanning", "hann"},        {"ramp", "ram-lak"},  {"shepp", "shepp-logan"},
        {"parallel3d", "parallel"}, {"float", "float32"}, {"uint8_t", "uint8"},
        {"uint16_t", "uint16"},
    };

    for (size_t i = 0; i < sizeof meant / sizeof *meant; i++)
        if (strcasecmp(name, meant[i][0]) == 0)
            return meant[i][1];
    return name;
}

const char *fbp_nearest(const char *word, const char *const *candidates, size_t n)
{
    const char *best = NULL;
    size_t bound = strlen(word) / 2 + 2;

    for (size_t i = 0; i < n; i++) {
        const size_t dist = fbp_edit_distance(word, candidates[i]);
        if (dist < bound) {
            bound = dist;
            best = candidates[i];
        }
    }
    return best;
}

fbp_status fbp_check_path(const char *path)
{
    return path ? FBP_OK : fbp_fail_nomem(1, "a path");
}

char *fbp_strdup(const char *text)
{
    const size_t n = strlen(text) + 1;
    char *copy = malloc(n);
    return copy ? memcpy(copy, text, n) : NULL;
}

char *fbp_format(const char *fmt, ...)
{
    char *out;
    va_list ap;

    va_start(ap, fmt);
    const int n = vasprintf(&out, fmt, ap);
    va_end(ap);
    return n >= 0 ? out : NULL;
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

/* Decode the first UTF-8 character of text[0..n) into *number; returns its length, 1 to 4, or 0 if
 * it is not well formed (Unicode 15, 3.9). */
static size_t decode(const unsigned char *text, size_t n, unsigned *number)
{
    static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000}; /* least number per length: a
                                                                     longer encoding of a smaller
                                                                     number is invalid */
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

size_t fbp_printable(char *out, size_t room, const char *text, size_t n, const char *keep)
{
    FBP_REQUIRE_ELSE(0, out, text, keep);
    size_t used = 0;

    for (size_t i = 0; i < n;) {
        const unsigned char *at = (const unsigned char *)text + i;
        unsigned c = 0;
        char one[8];
        const size_t len = decode(at, n - i, &c);
        const bool kept = len == 1 && c != 0 && strchr(keep, (int)c);
        /* true for a control character: C0, DEL, C1 (Unicode 15, 23.1), line or paragraph end, or
         * change of direction */
        const bool control = c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x2028 && c <= 0x202e) ||
                             (c >= 0x2066 && c <= 0x2069);
        if (len > 0 && (kept || !control))
            snprintf(one, sizeof one, "%.*s", (int)len, (const char *)at);
        else
            snprintf(one, sizeof one, "\\u%04x", len > 0 ? c : *at);
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

fbp_status fbp_json_parse(const char *text, size_t n, const char **end, cJSON **out)
{
    enum { TREE_BYTES = 32 }; /* estimated memory of the parsed tree per byte of text */
    const char *zero = text;

    *out = cJSON_ParseWithLengthOpts(text, n + 1, end, end != NULL);
    if (!*out) {
        /* cJSON_ParseWithLengthOpts() returns NULL if the text is not JSON, and also if an
         * allocation fails.  To distinguish these cases, parse once more, and check whether memory
         * for the tree can be allocated. */
        *out = cJSON_ParseWithLengthOpts(text, n + 1, end, end != NULL);
        void *volatile room = *out ? NULL : malloc(TREE_BYTES * (n + 1));
        const bool has_room = room;
        free(room);
        if (!*out)
            return has_room ? FBP_ERR_INVALID : fbp_fail_nomem(n, "JSON");
    }
    while ((zero = strchr(zero, '\\')) && strncmp(zero, "\\u0000", 6) != 0)
        zero += 2; /* an escape sequence other than \u0000 */
    if (!zero)
        return FBP_OK;
    cJSON_Delete(*out); /* reject the text, because in C a string would end at the character 0 */
    *out = NULL;
    if (end)
        *end = zero;
    return FBP_ERR_INVALID;
}
