/* What a scan file says that nobody has measured: kept, and repeated, until somebody confirms it.
 */
#include "array/array.h"
#include "scan/file/scan_write.h"
#include "scan/scan_parts.h"

#include "base/base.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Behind what was written already; returns the length of all. */
static size_t put(char *buf, size_t n, size_t at, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
static size_t put(char *buf, size_t n, size_t at, const char *fmt, ...)
{
    va_list ap;

    if (at >= n)
        return at;
    va_start(ap, fmt);
    const int more = vsnprintf(buf + at, n - at, fmt, ap);
    va_end(ap);
    return at + (size_t)(more > 0 ? more : 0);
}

/* A list that can be edited has short entries, and a remedy; what a foreign file does not say has
 * it in each entry. */
static size_t put_group(char *buf, size_t n, size_t at, const struct fbp_assumed *a, size_t n_group)
{
    const bool listed = fbp_has_extension(a->file, ".json");

    at = put(buf, n, at, "%s%s%s: ", at ? "; " : "", a->file,
             listed ? " assumes what nobody has confirmed" : " does not say");
    for (size_t i = 0; i < n_group; i++) {
        at = put(buf, n, at, "%s%s", i ? ", " : "", a[i].key);
        if (a[i].value)
            at = put(buf, n, at, listed ? " %s" : ", taken as %s", a[i].value);
        if (!listed)
            at = put(buf, n, at, " (%s)", a[i].why);
    }
    return listed ? put(buf, n, at,
                        ": put right what is wrong, remove what is right from \"assumed\" there")
                  : at;
}

size_t fbp_scan_assumed(const struct fbp_scan *given, char *buf, size_t n)
{
    struct fbp_scan whole, *const scan = &whole;
    size_t at = 0;

    if (n > 0)
        FBP_GIVEN_ELSE(0, buf);
    if (n > 0)
        buf[0] = '\0';
    if (FBP_TAKE(scan, scan, given) != FBP_OK)
        return 0;
    const struct fbp_assumed *list = scan->assumed;
    for (size_t i = 0, end; i < scan->n_assumed; i = end) {
        for (end = i + 1; end < scan->n_assumed && strcmp(list[end].file, list[i].file) == 0;)
            end++;
        at = put_group(buf, n, at, &list[i], end - i);
    }
    return scan->n_assumed;
}

/* What stands at "detector.pitch_mm", if it is short; "" otherwise. */
static void value_at(const cJSON *root, const char *path, char *buf, size_t n)
{
    const char *dot = strchr(path, '.');
    char parent[32];

    buf[0] = '\0';
    if (dot) {
        snprintf(parent, sizeof parent, "%.*s", (int)(dot - path), path);
        root = cJSON_GetObjectItemCaseSensitive(root, parent);
        path = dot + 1;
    }
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(root, path);
    if (!v)
        snprintf(buf, n, "none");
    else if (cJSON_IsNumber(v))
        snprintf(buf, n, "%.10g", v->valuedouble);
    else if (cJSON_IsString(v))
        snprintf(buf, n, "\"%.40s\"", v->valuestring);
}

bool fbp_scan_file_assumes(const struct fbp_scan_file *f, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(
               cJSON_GetObjectItemCaseSensitive(f->top.object, "assumed"), key) != NULL;
}

fbp_status fbp_scan_read_assumed(const struct fbp_scan_file *f)
{
    const cJSON *object = cJSON_GetObjectItemCaseSensitive(f->top.object, "assumed"), *item;
    char value[64];

    if (object && !cJSON_IsObject(object))
        return fbp_json_wrong(&f->top, "assumed", "an object: a key of this file, and why");
    cJSON_ArrayForEach(item, object)
    {
        if (item->string[0] == '_' || strncmp(item->string, "//", 2) == 0)
            continue;
        if (!cJSON_IsString(item))
            return fbp_fail(FBP_ERR_INVALID, "%s: assumed.%.60s: expected text, why it is assumed",
                            f->top.file, item->string);
        value_at(f->top.object, item->string, value, sizeof value);
        FBP_TRY(fbp_scan_assume(f->scan, f->top.file, item->string, value[0] ? value : NULL,
                                item->valuestring));
    }
    return FBP_OK;
}

void fbp_scan_put_assumed(struct fbp_writer *w, const struct fbp_scan *scan)
{
    if (scan->n_assumed == 0)
        return;
    fbp_put_key(w, "assumed");
    for (size_t i = 0; i < scan->n_assumed; i++) {
        fputs(i ? ",\n    " : "{\n    ", w->f);
        fbp_put_text(w, scan->assumed[i].key);
        fputs(": ", w->f);
        fbp_put_text(w, scan->assumed[i].why);
    }
    fputs("\n  }", w->f);
}
