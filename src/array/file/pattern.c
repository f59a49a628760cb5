/* Names with a place for a number. */
#include "array/file/pattern.h"

#include "base/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A number at the end of text[n], a blank before it; shortens n. */
static bool last_number(const char *text, size_t *n, unsigned long long *out)
{
    size_t at = *n;

    while (at > 0 && isdigit((unsigned char)text[at - 1]))
        at--;
    if (at == *n || *n - at > 15 || at == 0 || text[at - 1] != ' ')
        return false;
    *out = strtoull(text + at, NULL, 10);
    *n = at - 1;
    return true;
}

bool fbp_pattern_place(const char *text, size_t n, struct fbp_pattern *out)
{
    const char *percent = memrchr(text, '%', n);

    *out = (struct fbp_pattern){.prefix = text};
    if (!percent)
        return false;
    const char *p = percent + 1;
    if (p + 1 < text + n && p[0] == '0' && isdigit((unsigned char)p[1])) {
        out->width = p[1] - '0';
        p += 2;
    }
    if (p >= text + n || *p != 'd')
        return false;
    out->suffix = p + 1;
    out->n_prefix = (int)(percent - text);
    out->n_suffix = (int)(text + n - out->suffix);
    return true;
}

bool fbp_pattern_parse(const char *path, struct fbp_pattern *out)
{
    unsigned long long first, last;
    size_t n = strlen(path);

    if (!last_number(path, &n, &last) || !last_number(path, &n, &first) ||
        !fbp_pattern_place(path, n, out))
        return false;
    out->first = first;
    out->last = last;
    return true;
}

bool fbp_pattern_fits(const struct fbp_pattern *p, const char *name, unsigned long long *number)
{
    const char *base = memrchr(p->prefix, '/', (size_t)p->n_prefix);
    const char *prefix = base ? base + 1 : p->prefix;
    const size_t n = (size_t)(p->prefix + p->n_prefix - prefix);

    if (strncmp(name, prefix, n) != 0)
        return false;
    const size_t digits = strspn(name + n, "0123456789");
    const char *rest = name + n + digits;
    *number = strtoull(name + n, NULL, 10);
    return digits > 0 && digits < 18 && strlen(rest) == (size_t)p->n_suffix &&
           strncmp(rest, p->suffix, (size_t)p->n_suffix) == 0;
}

char *fbp_pattern_name(const struct fbp_pattern *p, unsigned long long number)
{
    return fbp_format("%.*s%0*llu%.*s", p->n_prefix, p->prefix, p->width, number, p->n_suffix,
                      p->suffix);
}
