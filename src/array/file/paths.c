/* Parses names of inputs and outputs: patterns with numbers ("%04d", fbp_pattern_parse()), arrays
 * inside files ("FILE:ARRAY", fbp_member_split()), and lists of input names (fbp_inputs_add());
 * format.h declares the functions.
 * Used by: array/, array/file/, array/format/, pipeline/, scan/, scan/file/. */
#include "array/file/format.h"
#include "base/text.h"

#include <ctype.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Parse an integer at the end of text[n], and the blanks before it; *n: length of the text before
 * them. false: the text does not end with blanks and an integer. */
static bool last_number(const char *text, size_t *n, long long *out)
{
    size_t at = *n, digits;

    while (at > 0 && isdigit((unsigned char)text[at - 1]))
        at--;
    digits = *n - at;
    if (digits > 0 && at > 0 && text[at - 1] == '-')
        at--;
    if (digits == 0 || digits > 15 || at == 0 || !isblank((unsigned char)text[at - 1]))
        return false;
    *out = strtoll(text + at, NULL, 10);
    while (at > 0 && isblank((unsigned char)text[at - 1]))
        at--;
    *n = at;
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
    long long first, last;
    size_t n = strlen(path);

    if (!last_number(path, &n, &last) || !last_number(path, &n, &first) || first < 0 || last < 0 ||
        !fbp_pattern_place(path, n, out))
        return false;
    out->first = (unsigned long long)first;
    out->last = (unsigned long long)last;
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

fbp_status fbp_print_path(char **out, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    const int n = vasprintf(out, format, args);
    va_end(args);
    if (n >= 0)
        return FBP_OK;
    *out = NULL;
    return fbp_fail_nomem(strlen(format), "a path");
}

const char FBP_SINOGRAM[] = "?sinogram";

fbp_status fbp_member_split(const char *path, char **file, char **member)
{
    const size_t n = strlen(path), end = sizeof FBP_SINOGRAM - 1;
    char *name = fbp_strdup(path);
    size_t cut = 0, at = 0; /* "FILE:ARRAY": length of FILE; position of ARRAY, 0: no ARRAY */

    *file = *member = NULL;
    FBP_TRY(fbp_check_path(name));
    if (access(path, F_OK) != 0) {
        if (n > end && strcmp(path + n - end, FBP_SINOGRAM) == 0) {
            name[n - end] = '\0';
            if (access(name, F_OK) == 0)
                cut = at = n - end;
            name[n - end] = path[n - end];
        }
        for (char *colon; !at && (colon = strrchr(name, ':'));) { /* from the last one on */
            *colon = '\0';
            if (colon > name && access(name, F_OK) == 0) {
                cut = (size_t)(colon - name);
                at = cut + 1;
            }
        }
    }
    memcpy(name, path, n + 1);
    *file = name;
    if (!at)
        return FBP_OK;
    name[cut] = '\0';
    return fbp_print_path(member, "%s", path + at);
}

size_t fbp_member_output(const char *path, const char *extensions)
{
    const size_t n = strlen(path);
    char name[PATH_MAX]; /* system calls refuse longer ones */
    size_t length = n;

    if (n >= sizeof name)
        return n;
    memcpy(name, path, n + 1);
    if (!fbp_has_extension(name, extensions))
        for (char *colon; length == n && (colon = strrchr(name, ':'));) {
            *colon = '\0';
            if (fbp_has_extension(name, extensions))
                length = (size_t)(colon - name);
        }
    return length;
}

fbp_status fbp_inputs_add(struct fbp_inputs *s, const char *name)
{
    if (!name || (s->n > 0 && strcmp(s->names[s->n - 1], name) == 0))
        return FBP_OK;
    FBP_TRY(
        fbp_reserve((void **)&s->names, sizeof *s->names, s->n + 1, &s->room, "names of files"));
    FBP_TRY(fbp_print_path(&s->names[s->n], "%s", name));
    s->n++;
    return FBP_OK;
}

fbp_status fbp_inputs_add_all(struct fbp_inputs *s, const struct fbp_inputs *more, size_t skip)
{
    for (size_t i = skip; i < more->n; i++)
        FBP_TRY(fbp_inputs_add(s, more->names[i]));
    return FBP_OK;
}

void fbp_inputs_clear(struct fbp_inputs *s)
{
    for (size_t i = 0; i < s->n; i++)
        free(s->names[i]);
    free(s->names);
    *s = (struct fbp_inputs){0};
}
