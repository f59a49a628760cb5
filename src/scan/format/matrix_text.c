/* Plain text tables: numbers, blanks, commas or semicolons, comments. */
#include "scan/format/number_table.h"

#include "array/file/bytes.h"

#include "base/base.h"

#include <ctype.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const size_t MOST_BYTES = (size_t)4 << 30;

struct numbers {
    const char *path;
    double *v;
    size_t n, room;
    size_t width;     /* numbers a view */
    const char *what; /* "12 numbers a view" */
    bool heading;     /* the first line may be one, as in CSV */
};

static fbp_status append(struct numbers *a, double x)
{
    if (a->n == a->room) {
        const size_t room = a->room ? 2 * a->room : (size_t)12 * 64;
        size_t bytes = 0;
        FBP_TRY(fbp_mul(room, sizeof *a->v, "a table of numbers", &bytes));
        double *v = realloc(a->v, bytes);
        if (!v)
            return fbp_fail_nomem(bytes, "a table of numbers");
        a->v = v;
        a->room = room;
    }
    a->v[a->n++] = x;
    return FBP_OK;
}

static bool is_gap(char c)
{
    return c == ',' || c == ';' || isspace((unsigned char)c);
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
                            "%s: line %zu: \"%.*s\" is not a number: give %s, comments after #",
                            a->path, line, quoted_length(text), text, a->what);
        if (!isfinite(x))
            return fbp_fail(FBP_ERR_INVALID, "%s: line %zu: a number is not finite: correct it",
                            a->path, line);
        FBP_TRY(append(a, x));
        text = end;
    }
}

/* Names of columns: a line that begins with a letter or a quotation mark, before any number. */
static bool is_heading(const struct numbers *a, const char *text)
{
    while (is_gap(*text))
        text++;
    return a->heading && a->n == 0 && (isalpha((unsigned char)*text) || *text == '"') &&
           strncasecmp(text, "nan", 3) != 0 && strncasecmp(text, "inf", 3) != 0;
}

/* Lines of text[n], which ends with a 0 and is changed. */
static fbp_status read_lines(struct numbers *a, char *text, size_t n, locale_t c_locale)
{
    const char *const end = text + n;
    size_t line = 0;

    for (char *next; text < end; text = next) {
        char *newline = memchr(text, '\n', (size_t)(end - text));
        next = newline ? newline + 1 : text + (end - text);
        line++;
        if (memchr(text, '\0', (size_t)(next - text)))
            return fbp_fail(FBP_ERR_INVALID, "%s: line %zu: a zero byte: give a text file", a->path,
                            line);
        if (newline)
            *newline = '\0';
        if (!(line == 1 && is_heading(a, text)))
            FBP_TRY(read_line(a, text, line, c_locale));
    }
    if (a->n == 0)
        return fbp_fail(FBP_ERR_INVALID, "%s: holds no numbers: give %s", a->path, a->what);
    if (a->n % a->width != 0)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: %zu numbers up to line %zu are not a multiple of %zu: give %s",
                        a->path, a->n, line, a->width, a->what);
    return FBP_OK;
}

static fbp_status load(struct numbers *a)
{
    locale_t c_locale = (locale_t)0;
    char *text = NULL;
    size_t n = 0;
    fbp_status st;

    FBP_TRY(fbp_read_text(a->path, MOST_BYTES, &text, &n));
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    st = c_locale ? read_lines(a, text, n, c_locale) : fbp_fail_nomem(sizeof *a, "a locale");
    if (c_locale)
        freelocale(c_locale);
    free(text);
    if (st != FBP_OK)
        free(a->v);
    return st;
}

fbp_status fbp_number_rows_load(const char *path, size_t width, const char *what, double **out,
                                size_t *n)
{
    struct numbers a = {.path = path, .width = width, .what = what, .heading = true};

    *out = NULL;
    *n = 0;
    FBP_TRY(load(&a));
    *out = a.v;
    *n = a.n / width;
    return FBP_OK;
}

fbp_status fbp_matrices_load(const char *path, double **out, size_t *n_views)
{
    FBP_GIVEN(path, out, n_views);
    struct numbers a = {.path = path, .width = 12, .what = "12 numbers a view"};

    fbp_message_clear();
    *out = NULL;
    *n_views = 0;
    FBP_TRY(load(&a));
    *out = a.v;
    *n_views = a.n / 12;
    return FBP_OK;
}
