/* Converts the text of an option on the command line to the value of its struct field
 * (opt_set_value()), and describes valid values for error messages, help and completion.
 * Used by: manual/completion.c, manual/manual.c, opt.c, opt_help.c. */
#include "opt.h"

#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool opt_takes_value(const struct opt *o)
{
    return o->type != OPT_BOOL;
}

static bool in_range(const struct opt *o, double v)
{
    if (!isfinite(v))
        return false;
    if (o->min < o->max)
        return v >= o->min && v <= o->max;
    if (o->type == OPT_BYTES) /* 0 bytes is invalid, because the library would use its default */
        return v >= 1 && v < 0x1p53;
    return o->type == OPT_DOUBLE || o->type == OPT_DOUBLES || (v >= 0 && v < 0x1p53);
}

/* Read a decimal number at the beginning of text; *end: the text after it. False for "inf", "nan"
 * and hexadecimal numbers, which strtod() would accept. */
static bool read_number(const char *text, const char **end, double *out)
{
    char *e;

    if (!isdigit((unsigned char)text[strspn(text, "+-.")]) ||
        strncasecmp(text + strspn(text, "+-"), "0x", 2) == 0)
        return false;
    errno = 0;
    *out = strtod(text, &e);
    *end = e;
    return e != text && errno == 0;
}

static bool read_whole(const char *text, const char **end, double *out)
{
    return read_number(text, end, out) && *out == floor(*out);
}

static bool is_length(const struct opt *o)
{
    return o->arg && strstr(o->arg, "MM");
}

/* Convert *v to mm if the option is a length and a unit follows; *end moves behind it. */
static void take_unit(const struct opt *o, const char **end, double *v)
{
    static const struct {
        const char name[3];
        double factor, divisor; /* both whole, so that 25um is exactly 0.025 */
    } units[] = {{"um", 1, 1000}, {"mm", 1, 1}, {"cm", 10, 1}, {"m", 1000, 1}};

    for (size_t i = 0; is_length(o) && i < sizeof units / sizeof *units; i++) {
        const size_t n = strlen(units[i].name);
        if (strncmp(*end, units[i].name, n) != 0)
            continue;
        *v = *v * units[i].factor / units[i].divisor;
        *end += n;
        return;
    }
}

static size_t list_length(const struct opt *o)
{
    return o->bytes / (o->type == OPT_SIZES ? sizeof(size_t) : sizeof(double));
}

/* Read at most 8 numbers of an option, separated by the character in its metavariable (comma or x).
 * Returns the number of values; 0: the text is malformed, or a number is out of range. */
static size_t read_list(const struct opt *o, const char *text, double v[8])
{
    const char separator = strchr(o->arg, ',') ? ',' : 'x';
    const bool whole = o->type == OPT_SIZES;
    const size_t count = list_length(o);

    for (size_t n = 0; n < count && n < 8; text++) {
        const char *end;
        if (!(whole ? read_whole : read_number)(text, &end, &v[n]))
            return 0;
        take_unit(o, &end, &v[n]);
        if (!in_range(o, v[n]))
            return 0;
        n++;
        text = end;
        if (*text == '\0')
            return n;
        if (*text != separator)
            return 0;
    }
    return 0;
}

/* True if text is the word that the metavariable permits, such as "auto" in "X|auto". */
static bool is_word(const struct opt *o, const char *text)
{
    const char *bar = o->arg ? strrchr(o->arg, '|') : NULL;

    return bar && islower((unsigned char)bar[1]) && strcasecmp(text, bar + 1) == 0;
}

static bool set_list(const struct opt *o, const char *text, void *field)
{
    double v[8];
    const bool automatic = o->type == OPT_DOUBLES && strstr(o->arg, "|auto");
    const bool fewer = strstr(o->arg, "...") != NULL;
    const size_t count = list_length(o);
    size_t n = read_list(o, text, v);

    if (fewer && n > 0) {
        for (; n < count; n++)
            v[n] = 0;
    } else if (automatic && is_word(o, text)) {
        v[0] = INFINITY;
        n = 1;
    } else if (n != count && (automatic || !(n == 1 && strchr(o->arg, '|')))) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const double value = v[n == 1 ? 0 : i];
        if (o->type == OPT_SIZES)
            ((size_t *)field)[i] = (size_t)value;
        else
            ((double *)field)[i] = value;
    }
    return true;
}

/* Read the whole number at *text, one end of a range such as "80:100", and advance *text. If there
 * is no number, *out stays unchanged. False: the number is too large. */
static bool read_end(const char **text, size_t *out)
{
    char *end;

    if (!isdigit((unsigned char)**text))
        return true;
    errno = 0;
    const unsigned long long v = strtoull(*text, &end, 10);
    *out = (size_t)v;
    *text = end;
    return errno == 0 && v < (unsigned long long)1 << 53;
}

/* Set the ranges of an option from "80:100", "80:", ":100", ":", or "80" if the metavariable
 * permits it. False: malformed, or an end is not above its start. */
static bool set_ranges(const struct opt *o, const char *text, void *field)
{
    struct opt_range *out = field;
    const size_t count = o->bytes / sizeof *out;
    const bool single = strchr(o->arg, '|') != NULL;

    for (size_t i = 0; i < count; i++, text++, out++) {
        const char *start = text;
        *out = (struct opt_range){.given = true};
        if (!read_end(&text, &out->first))
            return false;
        if (*text != ':') {
            if (!single || text == start)
                return false;
            out->single = true;
            out->end = out->first + 1;
        } else {
            start = ++text;
            if (!read_end(&text, &out->end) || (text > start && out->end <= out->first))
                return false;
        }
        if (*text != (i + 1 < count ? ',' : '\0'))
            return false;
    }
    return true;
}

const char *opt_choice(const struct opt *o, size_t i)
{
    if (o->list)
        return o->list(i);
    return o->names ? o->names[i] : NULL;
}

static bool set_number(const struct opt *o, const char *text, void *field)
{
    const char *end;
    double v;

    if (o->type == OPT_DOUBLE && is_word(o, text)) {
        *(double *)field = INFINITY;
        return true;
    }
    if (o->type == OPT_DOUBLE || o->type == OPT_BYTES) {
        if (!read_number(text, &end, &v))
            return false;
        take_unit(o, &end, &v);
    } else if (!read_whole(text, &end, &v)) {
        return false;
    }
    if (o->type == OPT_BYTES) {
        static const char letters[] = "KMGT";
        const char *at = *end ? strchr(letters, toupper((unsigned char)*end)) : NULL;
        if (at)
            end += strncmp(end + 1, "iB", 3) == 0 ? 3 : 1;
        v = floor(at ? ldexp(v, 10 * (int)(at - letters + 1)) : v);
    }
    if (*end || !in_range(o, v) || (o->type == OPT_INT && v > INT_MAX))
        return false;
    if (o->type == OPT_DOUBLE)
        *(double *)field = v;
    else if (o->type == OPT_INT)
        *(int *)field = (int)v;
    else
        *(size_t *)field = (size_t)v;
    return true;
}

static bool append(struct opt_words *words, const char *text)
{
    const char **list = realloc(words->list, (words->n + 1) * sizeof *list);

    if (!list)
        return false;
    words->list = list;
    list[words->n++] = text;
    return *text != '\0';
}

bool opt_set_value(const struct opt *o, const char *text, void *args)
{
    void *field = (char *)args + o->offset;
    const char *name;

    switch (o->type) {
    case OPT_STRING:
        *(const char **)field = text;
        return *text != '\0';
    case OPT_WORDS:
        return append(field, text);
    case OPT_BOOL:
        *(bool *)field = true;
        return true;
    case OPT_SIZES:
    case OPT_DOUBLES:
        return set_list(o, text, field);
    case OPT_RANGES:
        return set_ranges(o, text, field);
    case OPT_ENUM:
        text = fbp_usual_name(text);
        for (unsigned i = 0; *text && (name = opt_choice(o, i)); i++)
            if (fbp_same_name(text, name)) {
                *(unsigned *)field = i;
                return true;
            }
        return false;
    case OPT_INT:
    case OPT_SIZE:
    case OPT_BYTES:
    case OPT_DOUBLE:
        return set_number(o, text, field);
    }
    return false;
}

void opt_describe(const struct opt *o, char *buf, size_t n)
{
    static const char *const noun[] = {
        [OPT_STRING] = "text",
        [OPT_INT] = "a whole number",
        [OPT_SIZE] = "a whole number",
        [OPT_BYTES] = "at least 1, with an optional suffix K, M, G or T, such as 600M",
        [OPT_DOUBLE] = "a number",
        [OPT_SIZES] = "whole numbers",
        [OPT_DOUBLES] = "numbers",
        [OPT_RANGES] = "whole numbers from 0, a TO above its FROM",
    };
    const char *name;
    int len = 0;

    if (o->type == OPT_ENUM) {
        len = snprintf(buf, n, "one of");
        for (size_t i = 0, k = 0; (name = opt_choice(o, i)) && (size_t)len < n; i++)
            if (*name)
                len += snprintf(buf + len, n - (size_t)len, "%s%s", k++ ? ", " : " ", name);
        return;
    }
    len = snprintf(buf, n, "%s", noun[o->type]);
    if (o->min < o->max && (size_t)len < n)
        snprintf(buf + len, n - (size_t)len, " from %.10g to %.10g%s", o->min, o->max,
                 is_length(o) ? " in mm, or with the unit um, mm, cm or m, such as 25um" : "");
    else if ((o->type == OPT_INT || o->type == OPT_SIZE || o->type == OPT_SIZES) && (size_t)len < n)
        snprintf(buf + len, n - (size_t)len, " from 0"); /* as in_range() checks */
}
