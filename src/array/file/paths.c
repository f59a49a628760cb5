/*
 * Names of inputs and outputs: patterns with numbers, arrays inside files, lists of inputs.
 * array/stack*.c, array/source.c and the formats call it.
 */
#include "array/file/format.h"
#include "base/base.h"
#include "base/text.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

const char FBP_SINOGRAM[] = "?sinogram";

fbp_status fbp_member_split(const char *path, char **file, char **member)
{
    const size_t n = strlen(path), end = sizeof FBP_SINOGRAM - 1;
    char *name = fbp_strdup(path);
    size_t cut = 0, at = 0; /* length of the file's name, start of the member's; 0: no member */

    *file = *member = NULL;
    if (!name)
        return fbp_fail_nomem(n, "a path");
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
    if (at) {
        name[cut] = '\0';
        *member = fbp_strdup(path + at);
        if (!*member) {
            free(name);
            return fbp_fail_nomem(n, "a path");
        }
    }
    *file = name;
    return FBP_OK;
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
    s->names[s->n] = fbp_strdup(name);
    if (!s->names[s->n])
        return fbp_fail_nomem(strlen(name), "a path");
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
