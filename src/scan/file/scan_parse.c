/* From a file to JSON, with the place of a mistake. */
#include "array/file/bytes.h"
#include "base/text.h"
#include "scan/file/scan_json.h"

#include <stdlib.h>
#include <string.h>

static const size_t MAX_BYTES = (size_t)256 << 20;

/* cJSON stops one behind a character that should have been the quote of a key. */
static const char *key_start(const char *text, const char *at)
{
    if (at - text < 2 || strchr("\"{[-0123456789 \t\r\n", at[-1]))
        return at;
    const char *before = at - 2;
    while (before > text && strchr(" \t\r\n", *before))
        before--;
    return *before == '{' || *before == ',' ? at - 1 : at;
}

static fbp_status syntax_error(const char *path, const char *text, const char *at)
{
    size_t line = 1;
    const char *start = text;

    at = key_start(text, at);
    for (const char *p = text; p < at; p++)
        if (*p == '\n') {
            line++;
            start = p + 1;
        }
    if (strncmp(at, "\\u0000", 6) == 0)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: line %zu, column %zu: a text holds the character \\u0000, which would "
                        "end it: remove that",
                        path, line, (size_t)(at - start) + 1);
    return fbp_fail(FBP_ERR_INVALID,
                    "%s: line %zu, column %zu: not valid JSON here%s: check commas, quotes and "
                    "brackets; a comment is a key: \"//\": \"…\"",
                    path, line, (size_t)(at - start) + 1, *at ? "" : " (the file ends too early)");
}

fbp_status fbp_json_read(const char *path, cJSON **out)
{
    char *text = NULL;
    const char *end = NULL;
    size_t size = 0;
    fbp_status st = FBP_OK;

    *out = NULL;
    FBP_TRY(fbp_read_text(path, MAX_BYTES, &text, &size));
    if (strlen(text) != size)
        st = fbp_fail(FBP_ERR_INVALID, "%s: contains zero bytes: name the scan's JSON file", path);
    else if ((st = fbp_json_parse(text, size, &end, out)) == FBP_ERR_INVALID)
        st = syntax_error(path, text, end ? end : text);
    free(text);
    return st;
}
