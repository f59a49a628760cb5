/* What a scan file says that nobody has measured: kept, and repeated, until somebody confirms it.
 */
#include "io/scan_parts.h"
#include "io/scan_write.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void clear_one(struct fbp_assumed *a)
{
    free(a->key);
    free(a->value);
    free(a->why);
}

void fbp_scan_clear_assumed(struct fbp_scan *scan)
{
    for (size_t i = 0; i < scan->n_assumed; i++)
        clear_one(&scan->assumed[i]);
    free(scan->assumed);
    scan->assumed = NULL;
    scan->n_assumed = 0;
}

fbp_status fbp_scan_assume(struct fbp_scan *scan, const char *key, const char *value,
                           const char *why)
{
    struct fbp_assumed *list =
        realloc(scan->assumed, (scan->n_assumed + 1) * sizeof *scan->assumed);
    struct fbp_assumed one = {fbp_strdup(key), value ? fbp_strdup(value) : NULL, fbp_strdup(why)};

    if (list)
        scan->assumed = list;
    if (!list || !one.key || !one.why || (value && !one.value)) {
        clear_one(&one);
        return fbp_fail_nomem(strlen(key) + strlen(why), "what is assumed");
    }
    scan->assumed[scan->n_assumed++] = one;
    return FBP_OK;
}

fbp_status fbp_scan_note(struct fbp_scan *scan, const char *note)
{
    char *both = fbp_format("%s%s%s", scan->note ? scan->note : "", scan->note ? "; " : "", note);

    if (!both)
        return fbp_fail_nomem(strlen(note), "a note");
    free(scan->note);
    scan->note = both;
    return FBP_OK;
}

void fbp_scan_confirm(struct fbp_scan *scan, const char *key)
{
    size_t kept = 0;

    for (size_t i = 0; i < scan->n_assumed; i++)
        if (strcmp(scan->assumed[i].key, key) == 0)
            clear_one(&scan->assumed[i]);
        else
            scan->assumed[kept++] = scan->assumed[i];
    scan->n_assumed = kept;
}

size_t fbp_scan_assumed(const struct fbp_scan *scan, char *buf, size_t n)
{
    size_t at = 0;

    if (n > 0)
        buf[0] = '\0';
    for (size_t i = 0; i < scan->n_assumed && at < n; i++) {
        const struct fbp_assumed *a = &scan->assumed[i];
        at += (size_t)snprintf(buf + at, n - at, "%s%s%s%s",
                               i ? ", " : "assumed, and confirmed by nobody: ", a->key,
                               a->value ? " " : "", a->value ? a->value : "");
    }
    if (at > 0 && at < n)
        at += (size_t)snprintf(buf + at, n - at,
                               ": put right what is wrong, and remove what is right from "
                               "\"assumed\" in %s",
                               scan->path ? scan->path : "the scan file");
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
        FBP_TRY(fbp_scan_assume(f->scan, item->string, value[0] ? value : NULL, item->valuestring));
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
