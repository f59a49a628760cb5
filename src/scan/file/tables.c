/* Reads tables of numbers from plain text (blanks, commas or semicolons between numbers, comments
 * after #), CSV with a line of column names, and arrays of any format: fbp_number_table_load(),
 * fbp_matrices_load(), fbp_directions_load(). The tables contain, for example, angles, directions,
 * matrices, profiles and spectra that a scan file names.
 * Used by: cli/, pipeline/, prep/, scan/, scan/folder/, scan/format/. */
#include "scan/file/text.h"

#include "array/array.h"
#include "array/file/bytes.h"
#include "array/file/format.h"
#include "base/text.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

static const size_t MOST_BYTES = (size_t)4 << 30;

struct numbers {
    const char *path;
    double *v;
    size_t n, room;
    size_t width;     /* numbers per row */
    const char *what; /* expected contents, for messages, such as "12 numbers per view" */
    bool heading;     /* true: the first line may contain column names, as in CSV */
};

static bool is_gap(char c)
{
    return c == ',' || c == ';' || isspace((unsigned char)c);
}

static fbp_status read_line(struct numbers *a, const char *text, size_t line)
{
    for (;;) {
        while (is_gap(*text))
            text++;
        if (*text == '\0' || *text == '#')
            return FBP_OK;

        char *end;
        const double x = fbp_number(text, &end);
        const char *digits = text + strspn(text, "+-");
        const bool hexadecimal = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
        const size_t length = strcspn(text, "\r\n#");
        if (end == text || hexadecimal || !(*end == '\0' || *end == '#' || is_gap(*end)))
            return FBP_INVALID(
                "%s: line %zu: \"%.*s\" is not a number; give %s, with comments after #", a->path,
                line, length < 20 ? (int)length : 20, text, a->what);
        if (!isfinite(x))
            return FBP_INVALID("%s: line %zu: a number is not finite; correct it", a->path, line);
        text = end;

        FBP_TRY(
            fbp_reserve((void **)&a->v, sizeof *a->v, a->n + 1, &a->room, "a table of numbers"));
        a->v[a->n++] = x;
    }
}

/* Read a table from text[n], which ends with a 0 byte; line ends in it are overwritten. */
static fbp_status read_lines(struct numbers *a, char *text, size_t n)
{
    const char *const end = text + n;
    size_t line = 0;

    for (char *next; text < end; text = next) {
        char *newline = memchr(text, '\n', (size_t)(end - text));
        next = newline ? newline + 1 : text + (end - text);
        line++;
        if (memchr(text, '\0', (size_t)(next - text)))
            return FBP_INVALID("%s: line %zu: contains a zero byte; give a text file", a->path,
                               line);
        if (newline)
            *newline = '\0';
        /* Column names begin with a letter or a quotation mark. */
        if (line == 1 && a->heading) {
            const char *first = text;
            while (is_gap(*first))
                first++;
            if ((isalpha((unsigned char)*first) || *first == '"') &&
                strncasecmp(first, "nan", 3) != 0 && strncasecmp(first, "inf", 3) != 0)
                continue;
        }
        FBP_TRY(read_line(a, text, line));
    }
    if (a->n == 0)
        return FBP_INVALID("%s: contains no numbers; give %s", a->path, a->what);
    if (a->n % a->width != 0)
        return FBP_INVALID("%s: %zu numbers up to line %zu are not a multiple of %zu; give %s",
                           a->path, a->n, line, a->width, a->what);
    return FBP_OK;
}

static fbp_status load_text(const char *path, size_t width, const char *what, bool heading,
                            double **out, size_t *n_rows)
{
    struct numbers a = {.path = path, .width = width, .what = what, .heading = heading};
    char *text = NULL;
    size_t n = 0;

    *out = NULL;
    *n_rows = 0;
    FBP_TRY(fbp_read_text(path, MOST_BYTES, &text, &n));
    const fbp_status st = read_lines(&a, text, n);
    free(text);
    if (st != FBP_OK) {
        free(a.v);
        return st;
    }
    *out = a.v;
    *n_rows = a.n / width;
    return FBP_OK;
}

fbp_status fbp_matrices_load(const char *path, double **out, size_t *n_views)
{
    FBP_REQUIRE(path, out, n_views);
    fbp_message_clear();
    return load_text(path, 12, "12 numbers per view", false, out, n_views);
}

static fbp_status load_array(fbp_source *source, const char *path, size_t width, const char *what,
                             double **out, size_t *n)
{
    const size_t *size = fbp_source_info(source)->n, rows = size[1] * size[2];
    const bool by_rows = width == 1 || size[0] == width;
    size_t count = 0;

    FBP_TRY(fbp_mul(size[0], rows, "a table of numbers", &count));
    if (count == 0 || !(by_rows || (rows == width && size[2] == 1)))
        return FBP_INVALID("%s: contains %zu x %zu x %zu numbers; give %s", path, size[2], size[1],
                           size[0], what);
    FBP_TRY(fbp_calloc((void **)out, count, sizeof **out, "a table of numbers"));
    *n = count / width;
    double *const v = *out;
    fbp_status st = fbp_source_read(source, 0, size[2], 0, size[1], FBP_F64, v);
    for (size_t i = 0; st == FBP_OK && i < count; i++)
        if (!isfinite(v[i]))
            st = FBP_INVALID("%s: number %zu is not finite; correct it", path, i);
    if (st != FBP_OK || by_rows)
        return st;

    double *by_columns = NULL; /* transpose [width][n] to [n][width] */
    FBP_TRY(fbp_calloc((void **)&by_columns, count, sizeof *by_columns, "a table of numbers"));
    memcpy(by_columns, v, count * sizeof *v);
    for (size_t i = 0; i < *n; i++)
        for (size_t k = 0; k < width; k++)
            v[i * width + k] = by_columns[k * *n + i];
    free(by_columns);
    return FBP_OK;
}

fbp_status fbp_number_table_load(const char *path, size_t width, const char *what, double **out,
                                 size_t *n)
{
    fbp_source *source = NULL;

    *out = NULL;
    *n = 0;
    if (fbp_has_extension(path, ".csv .txt .tsv .dat"))
        return load_text(path, width, what, true, out, n);
    FBP_TRY(fbp_source_open_as(&source, path, NULL, FBP_SOURCE_LIST));
    const fbp_status st = load_array(source, path, width, what, out, n);
    fbp_source_close(&source);
    if (st != FBP_OK) {
        free(*out);
        *out = NULL;
    }
    return st;
}

fbp_status fbp_directions_load(const char *path, double (**out)[3], size_t *n)
{
    FBP_REQUIRE(path, out, n);
    double *list = NULL;

    fbp_message_clear();
    *out = NULL;
    FBP_TRY(fbp_number_table_load(path, 3, "3 numbers per direction", &list, n));
    *out = (double(*)[3])(void *)list;
    return FBP_OK;
}
