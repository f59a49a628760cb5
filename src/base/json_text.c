/* cJSON says of text that it does not understand and of memory that has ended that there is no
 * value.  So text that it refuses is looked at once more, without memory: if that finds no mistake,
 * memory was it. */
#include "base/json_text.h"

#include "base/mem.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

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
