/* Implementation of say.h: errors, warnings and notes are printed and, with --json or after
 * say_remember(), stored; say_close() prints the JSON object of --json. Also the streams behind
 * stdout and stderr, which escape control characters, because a file name that contains them could
 * control the terminal.
 * Used by: bench/, cli/. */
#include "say.h"

#include "base/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
    LONGEST = 4, /* greatest number of bytes of a UTF-8 character */
    ESCAPED = 8  /* room for the escape that replaces one byte [bytes] */
};

/* An output stream, with the first bytes of an incomplete UTF-8 character. */
struct stream {
    int fd;
    int error; /* errno of a failed write; 0: none failed */
    size_t n_held;
    char held[LONGEST];
};

static bool silent;

void say_nothing(void)
{
    silent = true;
}

void say_again(void)
{
    (void)fflush(stdout); /* discarded, while `silent` is set */
    silent = false;
    if (say_failed())
        fprintf(stderr, "fbp: %s\n", say_first_error());
}

static bool write_all(int fd, const char *text, size_t n)
{
    while (n > 0 && !silent) {
        const ssize_t done = write(fd, text, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return false;
        text += done;
        n -= (size_t)done;
    }
    return true;
}

/* Write function of fopencookie(). */
static ssize_t write_safely(void *cookie, const char *text, size_t n)
{
    struct stream *s = cookie;
    char in[512 + LONGEST], out[sizeof in * ESCAPED + 1];

    for (size_t at = 0; at < n;) {
        const size_t take = n - at < 512 ? n - at : 512;
        memcpy(in, s->held, s->n_held);
        memcpy(in + s->n_held, text + at, take);
        const size_t all = s->n_held + take;
        /* keep the bytes at the end that begin a UTF-8 character but do not complete it */
        s->n_held = 0;
        for (size_t back = 1; back < LONGEST && back <= all; back++) {
            const unsigned char byte = (unsigned char)in[all - back];
            const size_t length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
            if ((byte & 0xc0) == 0x80)
                continue;
            s->n_held = length > back ? back : 0;
            break;
        }
        memcpy(s->held, in + all - s->n_held, s->n_held);
        const size_t m = fbp_printable(out, sizeof out, in, all - s->n_held, "\n\t");
        if (!write_all(s->fd, out, m)) {
            s->error = errno;
            return 0; /* fopencookie() requires 0 for an error */
        }
        at += take;
    }
    return (ssize_t)n;
}

static FILE *open_stream(struct stream *s, FILE *fallback, int mode)
{
    const cookie_io_functions_t functions = {.write = write_safely};
    FILE *f = fopencookie(s, "w", functions);

    if (!f)
        return fallback;
    setvbuf(f, NULL, mode, BUFSIZ);
    return f;
}

static struct stream output = {.fd = STDOUT_FILENO}, messages = {.fd = STDERR_FILENO};

int say_close_output(int rc)
{
    const bool failed = fflush(stdout) != 0 || ferror(stdout);
    const int error = output.error ? output.error : errno; /* an earlier write may have failed */

    if (!failed || rc != 0)
        return rc;
    fprintf(stderr, "fbp: standard output: cannot write: %s%s\n", strerror(error),
            error == ENOSPC || error == EDQUOT ? "; free some space, or write to another disk"
                                               : "");
    return 1;
}

static bool has_bar; /* a progress line is on the screen */

void say_bar(const char *line)
{
    struct winsize size;
    const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    char text[240] = "\r\033[K";
    const size_t n = strlen(text), width = known ? size.ws_col : 80;
    const size_t len = strnlen(line, width < sizeof text - n ? width - 1 : sizeof text - n - 1);

    memcpy(text + n, line, len);
    has_bar = *line;
    /* if writing fails, only the progress bar is missing */
    (void)!write_all(STDERR_FILENO, text, n + len);
}

/* Result and messages of the running command, which say_close() prints with --json. */
static struct said {
    bool json, compact, has_result; /* has_result true, result NULL: out of memory */
    bool printed;                   /* say_document() has printed all results */
    cJSON *result, *notes, *warnings;
    char error[1400];
} said;

/* True after a failed allocation of cJSON: it may have omitted members of an object. */
static bool lacks_something;

static void *json_memory(size_t n)
{
    void *p = malloc(n);

    lacks_something |= !p;
    return p;
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
    cJSON_Hooks hooks = {.malloc_fn = json_memory, .free_fn = free};

    stdout = open_stream(&output, stdout, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF);
    stderr = open_stream(&messages, stderr, _IONBF);
    cJSON_InitHooks(&hooks);
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
    if (has_bar)
        say_bar("");
    fprintf(stderr, "fbp: %s\n", safe);
    if (!said.error[0])
        memcpy(said.error, safe, sizeof safe);
}

static void say_line(bool quiet, const char *before, cJSON *list, const char *fmt, va_list ap)
{
    char line[1400], safe[sizeof line];

    vsnprintf(line, sizeof line, fmt, ap); // NOLINT(clang-analyzer-valist.Uninitialized): ap set
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
    /* Each buffer has room for a path of 4096 characters that are all escaped. */
    static char kept[4][6 * 4096 + 1];
    static size_t next;

    if (!strpbrk(text, "\n\t"))
        return text;
    char *out = kept[next++ % 4];
    fbp_printable(out, sizeof kept[0], text, strlen(text), "");
    return out;
}

/* JSON text of a value. cJSON_Print() indents by tabs and puts a tab between key and value: each
 * tab of the indentation is replaced by two spaces, each tab behind a colon by one space. Tabs
 * inside strings are escaped and not affected. */
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

/* Append `lines` to member `key` of the result, created if missing. Takes ownership of `lines`. */
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

/* Print the stored result, or the first error, with all notes and warnings, as a JSON object. */
static int print_object(int rc)
{
    cJSON *result = said.result ? said.result : cJSON_CreateObject();

    if (rc != 0 && !cJSON_HasObjectItem(result, "error"))
        cJSON_AddStringToObject(result, "error", said.error[0] ? said.error : "failed");
    add_lines(result, "notes", said.notes);
    add_lines(result, "warnings", said.warnings);
    const int printed = say_json(result, said.compact);
    return rc ? rc : printed;
}

int say_document(const char *scan, int rc)
{
    const struct said next = {.json = said.json, .printed = true};

    if (said.json) {
        said.result = said.result ? said.result : cJSON_CreateObject();
        cJSON_AddStringToObject(said.result, "scan", scan);
        said.compact = true;
        rc = print_object(rc);
        (void)fflush(stdout);
    } else {
        cJSON_Delete(said.notes);
        cJSON_Delete(said.warnings);
    }
    said = next;
    if (said.json)
        say_remember();
    return rc;
}

int say_close(int rc)
{
    /* a command that succeeds without a result, such as --help, prints no JSON */
    if (!said.json || said.printed || (rc == 0 && !said.has_result)) {
        cJSON_Delete(said.notes);
        cJSON_Delete(said.warnings);
        return rc;
    }
    return print_object(rc);
}
