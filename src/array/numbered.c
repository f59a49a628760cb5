/* Sorts the files of a folder by the number in their names that counts them, and describes missing
 * numbers: fbp_number_files(). Numbers may have signs and decimals; a date, alone or with a
 * time, is one number.
 * Used by: names.c, scan/folder/folder_list.c, scan/scan_views.c. */
#include "array/names.h"
#include "base/text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 8, NAME = 256, DECIMALS = 1, STAMPS = 2 };

static const char figures[] = "0123456789";

/* A number in a file name; its value is value * 10^-digits. */
struct number {
    long long value;
    int digits, length; /* number of decimals; number of characters in the path */
    bool stamp;         /* a date, possibly with a time */
    const char *text;   /* its position in the path */
};

struct entry {
    char *path;
    struct number v[MOST];
};

struct table {
    struct entry *files;
    size_t n, m; /* number of files; numbers per name */
};

/* The numbers at position `at` in the names of all files. */
struct column {
    size_t at;
    bool differs; /* all files have different numbers here */
    /* greatest common divisor of the differences between the numbers of consecutive files */
    long long step;
    long long missing; /* number of multiples of `step` in the range without a file */
    /* order of preference; 0 (best): consecutive files differ by 1; 1: by more; 2: decimals, dates
     * or many missing numbers */
    int rank;
};

static bool is_digit(char c)
{
    return isdigit((unsigned char)c);
}

/* Whether p begins with two digits that form a number below `limit`. */
static bool two_below(const char *p, int limit)
{
    return is_digit(p[0]) && is_digit(p[1]) && 10 * (p[0] - '0') + p[1] - '0' < limit;
}

/* Length of a date (and time) such as 20260101_120000 or 2026-01-01T12-00-00; 0: no date. */
static size_t stamp_length(const char *p)
{
    const size_t run = strspn(p, figures), gap = run == 4 && p[4] && strchr("-_.", p[4]);
    size_t n = 8 + 2 * gap;

    if ((run != 8 && !gap) || (strncmp(p, "19", 2) != 0 && strncmp(p, "20", 2) != 0) ||
        !two_below(p + 4 + gap, 13) || (gap && p[7] != p[4]) || !two_below(p + 6 + 2 * gap, 32) ||
        is_digit(p[n]))
        return 0;
    const char *t = p + n + 1;
    if (!p[n] || !strchr("-_. T", p[n]) || !two_below(t, 24))
        return n;
    const size_t apart = t[2] && strchr("-_.:h", t[2]);
    const char *minutes = t + 2 + apart, *end = minutes + 4 + apart;
    const bool timed = two_below(minutes, 60) && (!apart || minutes[2]) &&
                       two_below(minutes + 2 + apart, 60) && !is_digit(*end);
    return timed ? (size_t)(end - p) : n;
}

/* Parse the number at p, a position in `name`; it may begin with '-'. Returns its length; 0: no
 * number, or one of too many digits. */
static size_t read_number(const char *name, const char *p, unsigned how, struct number *out)
{
    const bool decimals = how & DECIMALS;
    const bool minus = decimals && *p == '-' && (p == name || strchr("_ =(", p[-1]));
    const char *start = p + minus;
    const size_t stamp = how & STAMPS ? stamp_length(start) : 0;
    size_t n = stamp ? stamp : strspn(start, figures), m = 0;

    *out = (struct number){.text = p, .stamp = stamp > 0};
    if (n > 0 && decimals && !stamp && start[n] == '.' && (start == name || start[-1] != '.'))
        m = strspn(start + n + 1, figures);
    if (m > 0 && (start[n + 1 + m] != '.' || !is_digit(start[n + 2 + m]))) { /* not 1.2.3 */
        out->digits = (int)m;
        n += 1 + m;
    }
    if (n > 18 + stamp)
        return 0;
    for (size_t i = 0; i < n; i++)
        if (is_digit(start[i]))
            out->value = 10 * out->value + start[i] - '0';
    out->value *= minus ? -1 : 1;
    out->length = (int)(n > 0 ? n + minus : 0);
    return (size_t)out->length;
}

/* Parse all numbers of a file name, at most MOST; rest: the name with '#' in place of each number.
 * Returns how many numbers there are. */
static size_t read_name(const char *name, unsigned how, struct number v[MOST], char rest[NAME])
{
    size_t n = 0, used = 0;

    for (const char *p = name; *p && used + 1 < NAME;) {
        const size_t length = n < MOST ? read_number(name, p, how, &v[n]) : 0;
        size_t skip = length ? length : 1;
        if (!length && is_digit(*p)) /* too many digits */
            skip = strspn(p, figures);
        for (size_t i = 0; i < (length ? 1 : skip) && used + 1 < NAME; i++)
            rest[used++] = length ? '#' : p[i];
        n += length > 0;
        p += skip;
    }
    rest[used] = '\0';
    return n;
}

void fbp_number_skeleton(const char *name, char *out)
{
    struct number v[MOST];

    (void)read_name(name, DECIMALS | STAMPS, v, out);
}

/* Compare two files by the number at one position (`column`) in their names; column MOST: by all
 * numbers in turn. */
static int by_number(const void *a, const void *b, void *column)
{
    const struct entry *x = a, *y = b;
    const size_t only = *(const size_t *)column;

    for (size_t c = only < MOST ? only : 0; c < MOST && (only == MOST || c == only); c++)
        if (x->v[c].value != y->v[c].value)
            return x->v[c].value < y->v[c].value ? -1 : 1;
    return strverscmp(x->path, y->path);
}

static void sort_by(struct table *t, size_t column)
{
    qsort_r(t->files, t->n, sizeof *t->files, by_number, &column);
}

static long long ten_to(int n)
{
    return llround(pow(10, n));
}

/* Give all numbers at position c the same number of decimals. false if the digits after the point
 * are a counter, as in "1.8", "1.9", "1.10", or if a number then has too many digits. */
static bool level_decimals(const struct table *t, size_t c)
{
    long long low = INT64_MAX, high = 0;
    bool counter = true;
    int most = 0;

    for (size_t i = 0; i < t->n; i++) {
        const struct number *v = &t->files[i].v[c], *first = &t->files[0].v[c];
        const long long one = ten_to(v->digits), behind = llabs(v->value % one);
        counter &= v->digits > 0 && v->value / one == first->value / ten_to(first->digits);
        low = behind < low ? behind : low;
        high = behind > high ? behind : high;
        most = v->digits > most ? v->digits : most;
    }
    for (size_t i = 0; i < t->n; i++) {
        struct number *v = &t->files[i].v[c];
        const long long scale = ten_to(most - v->digits);
        if (llabs(v->value) > INT64_MAX / 4 / scale)
            return false;
        v->value *= scale;
        v->digits = most;
    }
    return !counter || high == low || high - low >= 2 * (long long)t->n;
}

/* Parse the numbers in the names of all files; false if the names differ in more than numbers, or
 * if two names have equal numbers, such as 1.1 and 1.10. */
static bool read_table(struct table *t, unsigned how)
{
    char first[NAME], rest[NAME];
    size_t all = MOST;

    for (size_t i = 0; i < t->n; i++) {
        memset(t->files[i].v, 0, sizeof t->files[i].v);
        const char *name = fbp_base_name(t->files[i].path);
        const size_t m = read_name(name, how, t->files[i].v, i ? rest : first);
        if (i > 0 && (m != t->m || strcmp(first, rest) != 0))
            return false;
        t->m = m;
    }
    for (size_t c = 0; (how & DECIMALS) && c < t->m; c++)
        if (!level_decimals(t, c))
            return false;
    sort_by(t, MOST);
    for (size_t i = 1; (how & DECIMALS) && i < t->n; i++) {
        struct entry a = t->files[i - 1], b = t->files[i];
        a.path = b.path;
        if (by_number(&a, &b, &all) == 0)
            return false;
    }
    return t->m > 0;
}

/* Print a sentence with the missing file numbers, such as "2 files are missing, numbers 19, 40". */
static void describe_gaps(const struct table *t, const struct column *c, char *text, size_t n)
{
    const int digits = t->files[0].v[c->at].digits;
    const bool one = c->missing == 1;
    size_t used = (size_t)snprintf(text, n, "%lld file%s missing, number%s ", c->missing,
                                   one ? " is" : "s are", one ? "" : "s");
    const char *comma = "";

    for (size_t i = 1; i < t->n; i++) {
        const long long a = t->files[i - 1].v[c->at].value + c->step;
        const long long b = t->files[i].v[c->at].value - c->step;
        if (b < a)
            continue;
        if (used + 110 > n) {
            used += (size_t)snprintf(text + used, n - used, ", ...");
            break;
        }
        used += (size_t)snprintf(text + used, n - used, b > a ? "%s%.*f to %.*f" : "%s%.*f", comma,
                                 digits, (double)a / (double)ten_to(digits), digits,
                                 (double)b / (double)ten_to(digits));
        comma = ", ";
    }
    snprintf(text + used, n - used, "; the angle of each view follows from its file number");
}

/* Choose the number (position in the names) that differs in all names and has the best `rank`, and
 * sort the files by it; if there is none, by all numbers in turn. Fill in *out. */
static fbp_status order_table(struct table *t, const char *where, struct fbp_numbering *out)
{
    struct column columns[MOST], *best = NULL;
    const struct entry *files = t->files;
    const long long n = (long long)t->n;
    size_t m = 0;

    /* Steps of each number that changes. */
    for (size_t at = 0; at < t->m; at++) {
        const struct number *first, *last;
        struct column *c = &columns[m];

        sort_by(t, at);
        first = &files[0].v[at];
        last = &files[t->n - 1].v[at];
        if (first->value == last->value)
            continue;
        m++;
        *c = (struct column){.at = at, .differs = true};
        for (size_t i = 1; i < t->n; i++) {
            long long a = files[i].v[at].value - files[i - 1].v[at].value;
            c->differs &= a > 0;
            for (long long rest; c->step; a = c->step, c->step = rest) /* Euclid's algorithm */
                rest = a % c->step;
            c->step = a;
        }
        if (c->differs && !first->stamp)
            c->missing = (last->value - first->value) / c->step + 1 - n;
        c->rank = first->digits || first->stamp || c->missing > n / 4 ? 2 : c->step != 1;
    }

    /* The number that counts the files. */
    for (struct column *c = columns; c < columns + m; c++)
        if (c->differs && (!best || c->rank < best->rank ||
                           (c->rank == best->rank && c->missing < best->missing)))
            best = c;
    sort_by(t, best ? best->at : MOST);
    for (struct column *c = columns; best && c < columns + m; c++) {
        const struct number *a = &files[1].v[best->at], *b = &files[1].v[c->at];
        bool falls = false;

        for (size_t i = 1; i < t->n; i++)
            falls |= files[i].v[c->at].value < files[i - 1].v[c->at].value;
        /* The order is ambiguous if another number of the same preference decreases from file to
         * file, or if the preference is 2 and the first number, which may count groups of files,
         * decreases. */
        if (falls && (c->differs ? c->rank == best->rank : c == columns && best->rank == 2))
            return FBP_INVALID(
                "%s: the order of the files is ambiguous, because the numbers %.*s and "
                "%.*s in names such as %s give different orders; rename or link the "
                "files so that one number counts them",
                where, a->length, a->text, b->length, b->text, fbp_base_name(files[1].path));
    }

    /* Values, gaps, positions. */
    out->n_columns = m;
    FBP_TRY(fbp_calloc((void **)&out->columns, m * t->n, sizeof *out->columns, "file numbers"));
    for (size_t k = 0; k < m; k++) {
        const size_t at = columns[k].at;

        out->digits[k] = files[0].v[at].digits;
        for (size_t i = 0; i < t->n; i++)
            out->columns[k * t->n + i] =
                (double)files[i].v[at].value / (double)ten_to(out->digits[k]);
    }
    if (!best)
        return FBP_OK;
    out->counted = true;
    out->counter = (size_t)(best - columns);
    if (m > 1)
        snprintf(out->order, sizeof out->order, ", ordered by number %.*s",
                 files[0].v[best->at].length, files[0].v[best->at].text);
    if (best->missing > n)
        snprintf(out->gaps, sizeof out->gaps,
                 "the file numbers have more gaps than there are files, so the angles of the views "
                 "are assumed to be consecutive; list the angles if files are missing");
    if (best->missing <= 0 || best->missing > n)
        return FBP_OK;
    describe_gaps(t, best, out->gaps, sizeof out->gaps);
    FBP_TRY(fbp_calloc((void **)&out->places, t->n, sizeof *out->places, "file numbers"));
    for (size_t i = 0; i < t->n; i++)
        out->places[i] =
            (size_t)((files[i].v[best->at].value - files[0].v[best->at].value) / best->step);
    return FBP_OK;
}

fbp_status fbp_number_files(char **paths, size_t n, const char *where, struct fbp_numbering *out)
{
    struct table t = {.n = n};
    fbp_status st = FBP_OK;
    bool alike = false;

    *out = (struct fbp_numbering){.counted = false};
    if (n < 2)
        return FBP_OK;
    FBP_TRY(fbp_calloc((void **)&t.files, n, sizeof *t.files, "names of files"));
    for (size_t i = 0; i < n; i++)
        t.files[i].path = paths[i];
    for (unsigned how = DECIMALS | STAMPS; !alike && how < 4; how--)
        alike = read_table(&t, how);
    if (alike)
        st = order_table(&t, where, out);
    for (size_t i = 0; i < n && !alike; i++)
        memset(t.files[i].v, 0, sizeof t.files[i].v);
    if (!alike) /* the files remain sorted by name */
        sort_by(&t, MOST);
    for (size_t i = 0; i < n; i++)
        paths[i] = t.files[i].path;
    free(t.files);
    if (st != FBP_OK)
        fbp_numbering_clear(out);
    return st;
}

void fbp_numbering_clear(struct fbp_numbering *n)
{
    free(n->places);
    free(n->columns);
    *n = (struct fbp_numbering){.counted = false};
}
