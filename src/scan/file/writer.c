/* Writes text files and JSON (struct fbp_writer; fbp_writer_open(), fbp_put_…()): scan files,
 * geometries of other programs, drawings. JSON is written without cJSON, which would put all
 * numbers of a list on one line.
 * Used by: picture/, scan/, scan/format/. */
#include "scan/file/text.h"

#include "array/file/bytes.h"

#include <math.h>
#include <string.h>

fbp_status fbp_writer_open(struct fbp_writer *w, const char *path)
{
    *w = (struct fbp_writer){.path = path};
    w->c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!w->c_locale)
        return fbp_fail_nomem(1, "a locale");

    const fbp_status st = fbp_outfile_open(&w->out, path);
    if (st != FBP_OK) {
        fbp_outfile_clear(&w->out);
        freelocale(w->c_locale);
        return st;
    }
    w->f = w->out.f;
    w->old_locale = uselocale(w->c_locale);
    return FBP_OK;
}

fbp_status fbp_writer_open_json(struct fbp_writer *w, const char *path)
{
    FBP_TRY(fbp_writer_open(w, path));
    w->object = true;
    fputc('{', w->f);
    return FBP_OK;
}

fbp_status fbp_writer_settle(struct fbp_writer *w, fbp_status st, struct fbp_outfile *settled)
{
    if (w->object)
        fputs("\n}\n", w->f);
    if (st == FBP_OK && w->not_finite)
        st = FBP_INVALID("%s: the scan contains a number that is not finite; correct it", w->path);
    if (st == FBP_OK)
        st = fbp_outfile_settle(&w->out);
    uselocale(w->old_locale);
    freelocale(w->c_locale);
    if (st != FBP_OK)
        fbp_outfile_clear(&w->out);
    *settled = w->out;
    return st;
}

fbp_status fbp_writer_close(struct fbp_writer *w, fbp_status st)
{
    struct fbp_outfile settled;

    st = fbp_writer_settle(w, st, &settled);
    if (st == FBP_OK)
        st = fbp_outfile_publish(&settled, 1);
    fbp_outfile_clear(&settled);
    return st;
}

void fbp_put_key(struct fbp_writer *w, const char *key)
{
    fprintf(w->f, "%s\n  \"%s\": ", w->any ? "," : "", key);
    w->any = true;
}

void fbp_put_text(struct fbp_writer *w, const char *text)
{
    fputc('"', w->f);
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c < 0x20)
            fprintf(w->f, "\\u%04x", (unsigned)c);
        else if (c == '"' || c == '\\')
            fprintf(w->f, "\\%c", c);
        else
            fputc(c, w->f);
    }
    fputc('"', w->f);
}

void fbp_put_number(struct fbp_writer *w, double x)
{
    char text[32];

    w->not_finite |= !isfinite(x);
    fputs(isfinite(x) ? fbp_number_text(text, x) : "0", w->f);
}

void fbp_put_numbers(struct fbp_writer *w, const double *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        fputs(i ? ", " : "[", w->f);
        fbp_put_number(w, v[i]);
    }
    fputc(']', w->f);
}

void fbp_put_list(struct fbp_writer *w, const double *v, size_t n, double scale)
{
    if (n == 1) {
        fbp_put_number(w, v[0] * scale);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        fputs(i == 0 ? "[" : i % 8 ? ", " : ",\n    ", w->f);
        fbp_put_number(w, v[i] * scale);
    }
    fputc(']', w->f);
}

void fbp_put_key_text(struct fbp_writer *w, const char *key, const char *text)
{
    fbp_put_key(w, key);
    fbp_put_text(w, text);
}

void fbp_put_key_number(struct fbp_writer *w, const char *key, double x)
{
    fbp_put_key(w, key);
    fbp_put_number(w, x);
}

void fbp_put_key_numbers(struct fbp_writer *w, const char *key, const double *v, size_t n)
{
    fbp_put_key(w, key);
    fbp_put_numbers(w, v, n);
}

void fbp_put_row(struct fbp_writer *w, size_t k, const double *v, size_t n)
{
    fputs(k ? ",\n    " : "[\n    ", w->f);
    fbp_put_numbers(w, v, n);
}
