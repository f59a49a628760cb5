/* Errors, warnings and notes of the command: each is printed and, with --json, stored for the JSON
 * object that say_close() prints. All commands use these functions; streams.c is the output. */
#include "say.h"

#include "fbp/types.h"

#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* State of the running command. */
static struct {
    bool json, compact, has_result; /* has_result with result NULL: out of memory */
    cJSON *result, *notes, *warnings;
    char error[1400];
} said;

/* Was any allocation of cJSON unsuccessful? cJSON then omits the member without an error. */
static bool lacks_something;

static void *json_memory(size_t n)
{
    void *p = malloc(n);

    lacks_something |= !p;
    return p;
}

void say_watch_memory(void)
{
    cJSON_Hooks hooks = {.malloc_fn = json_memory, .free_fn = free};

    cJSON_InitHooks(&hooks);
}

void say_remember(void)
{
    if (!said.notes)
        said.notes = cJSON_CreateArray();
    if (!said.warnings)
        said.warnings = cJSON_CreateArray();
}

const cJSON *say_remembered(bool warnings)
{
    return warnings ? said.warnings : said.notes;
}

void say_open(bool json)
{
    said.json = json;
    if (json)
        say_remember();
}

bool say_keep(cJSON *result, bool compact)
{
    if (!said.json)
        return false;
    cJSON_Delete(said.result);
    said.result = result;
    said.has_result = true;
    said.compact = compact;
    return true;
}

void say_add(cJSON *measurement)
{
    cJSON *list = cJSON_GetObjectItemCaseSensitive(said.result, "measurements");

    if (!said.result) {
        said.result = cJSON_CreateObject();
        said.has_result = said.compact = true;
        list = cJSON_AddArrayToObject(said.result, "measurements");
    }
    if (!cJSON_AddItemToArray(list, measurement))
        cJSON_Delete(measurement); /* out of memory: json_memory() has recorded it */
}

bool say_failed(void)
{
    return said.error[0] != '\0';
}

const char *say_first_error(void)
{
    return said.error;
}

void say_error(const char *line)
{
    char safe[sizeof said.error];

    fbp_printable(safe, sizeof safe, line, strlen(line), "");
    fprintf(stderr, "fbp: %s\n", safe);
    if (!said.error[0])
        memcpy(said.error, safe, sizeof safe);
}

static void say_line(bool quiet, const char *before, cJSON *list, const char *fmt, va_list ap)
{
    char line[1400], safe[sizeof line];

    vsnprintf(line, sizeof line, fmt, ap); // NOLINT(clang-analyzer-valist.Uninitialized): it is not
    fbp_printable(safe, sizeof safe, line, strlen(line), "");
    if (!quiet)
        fprintf(stderr, "%s%s\n", before, safe);
    if (list)
        cJSON_AddItemToArray(list, cJSON_CreateString(safe));
}

void say_note(bool quiet, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    say_line(quiet, "", said.notes, fmt, ap);
    va_end(ap);
}

void say_warning(bool quiet, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    say_line(quiet, "warning: ", said.warnings, fmt, ap);
    va_end(ap);
}

const char *say_name(const char *text)
{
    static char kept[4][6 * 4096 + 1]; /* longer than any path that a system call accepts */
    static size_t next;

    if (!strpbrk(text, "\n\t"))
        return text;
    char *out = kept[next++ % 4];
    fbp_printable(out, sizeof kept[0], text, strlen(text), "");
    return out;
}

/* cJSON_Print() indents by tabs and puts a tab between key and value. Two spaces replace a tab of
 * the indentation, one space a tab behind a colon. Tabs inside strings are escaped and not
 * affected. */
char *say_json_text(cJSON *value, bool compact)
{
    char *text = value ? (compact ? cJSON_PrintUnformatted : cJSON_Print)(value) : NULL;
    char *out = text && !lacks_something ? malloc(2 * strlen(text) + 2) : NULL, *to = out;

    cJSON_Delete(value);
    for (const char *p = text; out && *p; p++) {
        if (*p == '\t' && (p == text || p[-1] != ':'))
            *to++ = ' ';
        *to++ = (char)(*p == '\t' ? ' ' : *p);
    }
    if (out)
        memcpy(to, "\n", 2);
    free(text);
    return out;
}

int say_json(cJSON *value, bool compact)
{
    char *text = say_json_text(value, compact);

    if (!text) {
        if (!said.error[0]) /* report only the first error */
            fputs("fbp: out of memory for the JSON output; close other programs\n", stderr);
        return 1;
    }
    fputs(text, stdout);
    free(text);
    return 0;
}

/* Append `lines` to the array `key` of the result; create it if missing. Takes ownership of
 * `lines`. */
static void add_lines(cJSON *result, const char *key, cJSON *lines)
{
    cJSON *own = cJSON_GetObjectItemCaseSensitive(result, key);

    if (!lines)
        return; /* out of memory */
    if (!own) {
        cJSON_AddItemToObject(result, key, lines);
        return;
    }
    while (lines && lines->child)
        cJSON_AddItemToArray(own, cJSON_DetachItemFromArray(lines, 0));
    cJSON_Delete(lines);
}

int say_close(int rc)
{
    cJSON *result = said.result;

    if (!said.json || (rc == 0 && !said.has_result)) { /* no result: for example --help */
        cJSON_Delete(said.notes);
        cJSON_Delete(said.warnings);
        return rc;
    }
    if (!result)
        result = cJSON_CreateObject();
    if (rc != 0 && !cJSON_HasObjectItem(result, "error"))
        cJSON_AddStringToObject(result, "error", said.error[0] ? said.error : "failed");
    add_lines(result, "notes", said.notes);
    add_lines(result, "warnings", said.warnings);
    const int printed = say_json(result, said.compact);
    return rc ? rc : printed;
}
