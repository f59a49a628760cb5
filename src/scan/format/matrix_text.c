/* Plain text matrices: numbers, blanks or commas, comments. */
#include "fbp/scan.h"

#include "array/bytes.h"

#include "base/mem.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct numbers {
    const char *path;
    double *v;
    size_t n, room;
};

static fbp_status append(struct numbers *a, double x)
{
    if (a->n == a->room) {
        const size_t room = a->room ? 2 * a->room : (size_t)12 * 64;
        size_t bytes = 0;
        FBP_TRY(fbp_mul(room, sizeof *a->v, "matrices", &bytes));
        double *v = realloc(a->v, bytes);
        if (!v)
            return fbp_fail_nomem(bytes, "matrices");
        a->v = v;
        a->room = room;
    }
    a->v[a->n++] = x;
    return FBP_OK;
}

static bool is_gap(char c)
{
    return c == ',' || isspace((unsigned char)c);
}

/* Of what is quoted of a line: 20 characters at most. */
static int quoted_length(const char *text)
{
    const size_t n = strcspn(text, "\r\n#");

    return n < 20 ? (int)n : 20;
}

/* strtod() would take it. */
static bool is_hexadecimal(const char *text)
{
    text += strspn(text, "+-");
    return text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
}

static fbp_status read_line(struct numbers *a, const char *text, size_t line, locale_t c_locale)
{
    for (;;) {
        while (is_gap(*text))
            text++;
        if (*text == '\0' || *text == '#')
            return FBP_OK;
        char *end;
        const double x = strtod_l(text, &end, c_locale);
        if (end == text || is_hexadecimal(text) || !(*end == '\0' || *end == '#' || is_gap(*end)))
            return fbp_fail(FBP_ERR_INVALID,
                            "%s: line %zu: \"%.*s\" is not a number: give 12 numbers a view, "
                            "comments after #",
                            a->path, line, quoted_length(text), text);
        if (!isfinite(x))
            return fbp_fail(FBP_ERR_INVALID, "%s: line %zu: a number is not finite: correct it",
                            a->path, line);
        FBP_TRY(append(a, x));
        text = end;
    }
}

static fbp_status read_lines(struct numbers *a, FILE *f, locale_t c_locale)
{
    char *text = NULL;
    size_t room = 0, line = 0;
    ssize_t length;
    fbp_status st = FBP_OK;

    while (st == FBP_OK && (length = getline(&text, &room, f)) >= 0) {
        const size_t mark = line == 0 && strncmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0; /* UTF-8 */
        line++;
        if (strlen(text) != (size_t)length)
            st = fbp_fail(FBP_ERR_INVALID, "%s: line %zu: a zero byte: give a text file", a->path,
                          line);
        else
            st = read_line(a, text + mark, line, c_locale);
    }
    free(text);
    FBP_TRY(st);
    if (!feof(f))
        return fbp_fail(FBP_ERR_IO, "%s: cannot read: %s", a->path, strerror(errno));
    if (a->n == 0)
        return fbp_fail(FBP_ERR_INVALID, "%s: holds no numbers: give 12 numbers a view", a->path);
    if (a->n % 12 != 0)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: %zu numbers up to line %zu are not a multiple of 12: give 3x4 numbers "
                        "a view",
                        a->path, a->n, line);
    return FBP_OK;
}

fbp_status fbp_matrices_load(const char *path, double **out, size_t *n_views)
{
    struct numbers a = {.path = path};
    locale_t c_locale = (locale_t)0;
    fbp_status st;
    FILE *f;

    fbp_message_clear();
    *out = NULL;
    *n_views = 0;
    FBP_TRY(fbp_open_stream(path, &f));
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    st = c_locale ? read_lines(&a, f, c_locale) : fbp_fail_nomem(sizeof a, "a locale");
    if (c_locale)
        freelocale(c_locale);
    fclose(f);
    if (st != FBP_OK) {
        free(a.v);
        return st;
    }
    *out = a.v;
    *n_views = a.n / 12;
    return FBP_OK;
}
