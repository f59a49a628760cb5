/* Volumes of several files: v.h5 names the folder v.h5.TOKEN, where its pieces lie.  What is
 * unfinished is named by v.h5.part, with a journal beside it, and what was replaced by
 * v.h5.part.old. */
#include "faults.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOKEN = 8 };

static bool is_token(const char *text)
{
    return strspn(text, "0123456789abcdef") == TOKEN;
}

static bool ends_in(const char *name, const char *end)
{
    const size_t n = strlen(name), m = strlen(end);

    return n >= m && strcmp(name + n - m, end) == 0;
}

/* malloc'ed; samples may be longer, and name nothing. */
static char *read_some(const char *path, size_t *n)
{
    enum { MOST = 1 << 16 };
    FILE *f = fopen(path, "rb");
    char *text = calloc(MOST + 1, 1);

    if (!text) {
        perror(path);
        exit(1);
    }
    *n = f ? fread(text, 1, MOST, f) : 0;
    if (f)
        fclose(f);
    return text;
}

/* "BASE.TOKEN", which is followed by `end`. */
static void find_token(const char *text, size_t n, const char *base, char end, char *token)
{
    const size_t before = strlen(base);

    for (const char *at = text; (at = memmem(at, n - (size_t)(at - text), base, before)); at++) {
        const char *found = at + before + 1;
        if (at[before] == '.' && is_token(found) && found[TOKEN] == end &&
            (at == text || at[-1] == '\0')) {
            memcpy(token, found, TOKEN);
            return;
        }
    }
}

/* Lines of slices begin with a number. */
static bool has_slices(const char *text)
{
    for (; text && *text; text = strchr(text, '\n'), text += text != NULL)
        if (isdigit((unsigned char)*text))
            return true;
    return false;
}

void fault_look_into(struct fault_file *f, const char *path)
{
    char base[sizeof f->name];
    const char *slash = strrchr(f->name, '/');
    size_t n;

    snprintf(base, sizeof base, "%s", slash ? slash + 1 : f->name);
    char *part = strstr(base, ".part");
    const bool log = strstr(base, ".part.log"), old = ends_in(base, ".h5.part.old");
    if (!log && !old && !ends_in(base, ".h5") && !ends_in(base, ".h5.part"))
        return;
    char *text = read_some(path, &n);
    if (part)
        *part = '\0';
    if (log)
        f->has_slices = has_slices(text);
    else
        find_token(text, n, base, old ? '\n' : '/', f->token);
    free(text);
}

/* Does the file of this name, with `end` behind it, name the folder? */
static bool names(const struct fault_files *all, const char *volume, const char *end,
                  const char *token)
{
    char name[sizeof all->file->name + 12];

    snprintf(name, sizeof name, "%s%s", volume, end);
    const struct fault_file *f = fault_find(all, name);
    return f && strncmp(f->token, token, TOKEN) == 0;
}

enum fault_place fault_place(const struct fault_files *all, const struct fault_file *f)
{
    char volume[sizeof f->name];
    char *slash;

    snprintf(volume, sizeof volume, "%s", f->name);
    slash = strrchr(volume, '/');
    const size_t n = slash ? (size_t)(slash - volume) : 0;
    if (n < TOKEN + 2 || volume[n - TOKEN - 1] != '.' || !is_token(volume + n - TOKEN))
        return strstr(f->name, ".part") ? FAULT_UNFINISHED : FAULT_FINAL;
    const char *token = f->name + n - TOKEN;
    volume[n - TOKEN - 1] = '\0';
    if (names(all, volume, "", token))
        return FAULT_FINAL;
    return names(all, volume, ".part", token) || names(all, volume, ".part.old", token)
               ? FAULT_UNFINISHED
               : FAULT_LOST;
}
