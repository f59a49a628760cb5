/* Streams behind stdout and stderr. All output, also that of libraries, passes through them; they
 * escape control characters, so no file name or file content can control the terminal. API: say.h.
 */
#include "say.h"

#include "fbp/types.h"

#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
    LONGEST = 4,
    ESCAPED = 8
}; /* greatest number of bytes of a UTF-8 character, of its escape */

/* One stream, with the first bytes of a character that is not complete yet. */
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

/* Number of bytes at the end of the text that begin an incomplete UTF-8 character. */
static size_t unfinished(const char *text, size_t n)
{
    for (size_t back = 1; back < LONGEST && back <= n; back++) {
        const unsigned char byte = (unsigned char)text[n - back];
        const size_t length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
        if ((byte & 0xc0) != 0x80)
            return length > back ? back : 0;
    }
    return 0;
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
        s->n_held = unfinished(in, all);
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

void say_open_streams(void)
{
    stdout = open_stream(&output, stdout, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF);
    stderr = open_stream(&messages, stderr, _IONBF);
}

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

static size_t terminal_width(void)
{
    struct winsize size;

    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

void say_bar(const char *line)
{
    char text[240] = "\r\033[K";
    const size_t n = strlen(text), width = terminal_width();
    const size_t len = strnlen(line, width < sizeof text - n ? width - 1 : sizeof text - n - 1);

    memcpy(text + n, line, len);
    (void)!write_all(STDERR_FILENO, text, n + len); /* a failure only loses the bar */
}
