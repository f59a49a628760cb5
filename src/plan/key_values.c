#include "plan/key_values.h"

#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_KEYS = 32, MOST_WORD = FBP_KEY_WORD_ROOM - 1 };

struct reading {
    const char *who;
    const struct fbp_key *keys;
    size_t n_keys;
    bool seen[MOST_KEYS];
    void *out;
};

/* A number as people write it: no "nan", "inf" or hexadecimal. */
static bool read_number(const char *text, const char **end, double *out)
{
    char *e;

    if (!isdigit((unsigned char)text[0]) && text[0] != '.')
        return false;
    if (text[0] == '0' && tolower((unsigned char)text[1]) == 'x')
        return false;
    errno = 0;
    *out = strtod(text, &e);
    *end = e;
    return e != text && errno == 0 && isfinite(*out);
}

/* "G" of "GB/s": 10^9.  Of bytes as elsewhere: "G" and "GiB" are 2^30, "GB" is 10^9. */
static double prefix(const char **at, double base)
{
    static const char letters[] = "KMGT";
    const char *found = **at ? strchr(letters, toupper((unsigned char)**at)) : NULL;

    if (!found)
        return 1;
    ++*at;
    return pow(base, (double)(found - letters + 1));
}

/* The unit behind a number; 0: it is another one. */
static double scale_of(enum fbp_key_unit unit, const char *text)
{
    const char *at = text;
    double scale;

    switch (unit) {
    case FBP_KEY_RATE:
        scale = prefix(&at, 1000);
        return at > text && strcmp(at, "B/s") == 0 ? scale : 0;
    case FBP_KEY_BYTES:
        scale = prefix(&at, 1024);
        if (strcmp(at, "B") == 0 && at > text)
            return at = text, prefix(&at, 1000);
        return *at == '\0' || (at > text && strcmp(at, "iB") == 0) ? scale : 0;
    default:
        return *text == '\0' ? 1 : 0;
    }
}

static fbp_status set_value(const struct reading *r, const struct fbp_key *key, const char *text)
{
    void *field = (char *)r->out + key->offset;
    const char *unit = "";
    double v = 0, scale = 0;

    if (key->unit == FBP_KEY_WORD) {
        snprintf(field, FBP_KEY_WORD_ROOM, "%s", text);
        return FBP_OK;
    }
    const bool whole = key->unit == FBP_KEY_COUNT || key->unit == FBP_KEY_INT;
    if (read_number(text, &unit, &v))
        scale = scale_of(key->unit, unit);
    v *= scale;
    if (scale <= 0 || !(v >= key->least && v <= key->most) || (whole && v != floor(v)))
        return fbp_fail(FBP_ERR_INVALID, "%s: %s=%.*s: expected %s", r->who, key->name, MOST_WORD,
                        text, key->expected);
    if (key->unit == FBP_KEY_INT)
        *(int *)field = (int)v;
    else if (key->unit == FBP_KEY_COUNT)
        *(size_t *)field = (size_t)v;
    else if (key->unit == FBP_KEY_BYTES)
        *(uint64_t *)field = (uint64_t)v;
    else
        *(double *)field = v;
    return FBP_OK;
}

static fbp_status find_key(const struct reading *r, const char *name, size_t *out)
{
    const char *names[MOST_KEYS];
    char known[240] = "";

    for (size_t i = 0; i < r->n_keys; i++) {
        const size_t used = strlen(known);
        names[i] = r->keys[i].name;
        snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", names[i]);
        *out = i;
        if (strcmp(name, names[i]) == 0)
            return FBP_OK;
    }
    const char *near = fbp_nearest(name, names, r->n_keys);
    if (near)
        return fbp_fail(FBP_ERR_INVALID, "%s: unknown key \"%.*s\": did you mean %s?", r->who,
                        MOST_WORD, name, near);
    return fbp_fail(FBP_ERR_INVALID, "%s: unknown key \"%.*s\": use %s", r->who, MOST_WORD, name,
                    known);
}

/* "KEY=VALUE"; the = becomes the end of a string. */
static fbp_status read_one(struct reading *r, char *word)
{
    char *equals = strchr(word, '=');
    size_t k = 0;

    if (!word[0])
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: nothing is given, or there is a comma too many: expected "
                        "KEY=VALUE,KEY=VALUE, as in gups=4,read=2GB/s",
                        r->who);
    if (equals == word)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: \"%.*s\": there is no key before \"=\": expected KEY=VALUE, as in "
                        "read=2GB/s",
                        r->who, MOST_WORD, word);
    if (!equals)
        return fbp_fail(FBP_ERR_INVALID, "%s: \"%.*s\": expected KEY=VALUE, as in gups=4", r->who,
                        MOST_WORD, word);
    *equals = '\0';
    FBP_TRY(find_key(r, word, &k));
    if (r->seen[k])
        return fbp_fail(FBP_ERR_INVALID, "%s: %s is given twice: give it once", r->who,
                        r->keys[k].name);
    r->seen[k] = true;
    return set_value(r, &r->keys[k], equals + 1);
}

fbp_status fbp_key_values_read(const char *who, const char *text, const struct fbp_key *keys,
                               size_t n_keys, void *out)
{
    struct reading r = {.who = who, .keys = keys, .n_keys = n_keys, .out = out};
    char *copy = fbp_strdup(text);
    fbp_status st = FBP_OK;

    if (!copy)
        return fbp_fail(FBP_ERR_NOMEM, "%s: no memory for its words: close other programs", who);
    for (char *word = copy, *comma; st == FBP_OK && word; word = comma) {
        comma = strchr(word, ',');
        if (comma)
            *comma++ = '\0';
        st = read_one(&r, word);
    }
    free(copy);
    return st;
}
