/* Parses HTTP/1.1 requests of the viewer's pages, strictly.  server.c calls http_parse(),
 * view_serve.c calls http_number(). */
#include "serve/http.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

/* Part of the received bytes; not terminated by 0. */
struct span {
    const char *at;
    size_t n;
};

static bool is_token(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("!#$%&'*+-.^_`|~", c));
}

/* Take the text before the next `end` from rest, and skip `end`; false: there is no `end`. */
static bool take(struct span *rest, char end, struct span *out)
{
    const char *found = rest->n ? memchr(rest->at, end, rest->n) : NULL;

    if (!found)
        return false;
    *out = (struct span){rest->at, (size_t)(found - rest->at)};
    rest->n -= out->n + 1;
    rest->at = found + 1;
    return true;
}

/* Take a line that ends in CR LF; false: none, or the line contains a single CR or LF. */
static bool take_line(struct span *rest, struct span *out)
{
    if (!take(rest, '\n', out) || out->n == 0 || out->at[out->n - 1] != '\r')
        return false;
    out->n--;
    return memchr(out->at, '\r', out->n) == NULL;
}

static bool copy(char *out, struct span text)
{
    if (text.n >= HTTP_TEXT)
        return false;
    if (text.n)
        memcpy(out, text.at, text.n);
    out[text.n] = '\0';
    return true;
}

static bool is(struct span text, const char *word)
{
    return text.n == strlen(word) && memcmp(text.at, word, text.n) == 0;
}

static bool is_name(struct span text, const char *name)
{
    return text.n == strlen(name) && strncasecmp(text.at, name, text.n) == 0;
}

/* Split "/path?query": visible ASCII without percent-encoding.  Returns the HTTP status. */
static int take_target(struct span target, struct http_request *out)
{
    struct span path = target, query = {"", 0};

    if (target.n == 0 || target.at[0] != '/')
        return 400;
    for (size_t i = 0; i < target.n; i++)
        if (target.at[i] <= ' ' || target.at[i] > '~' || strchr("%#\\\"<>", target.at[i]))
            return 400;
    const char *mark = memchr(target.at, '?', target.n);
    if (mark) {
        path.n = (size_t)(mark - target.at);
        query = (struct span){mark + 1, target.n - path.n - 1};
    }
    return copy(out->path, path) && copy(out->query, query) ? 200 : 431;
}

static int take_first_line(struct span line, struct http_request *out)
{
    struct span method, target;

    if (!take(&line, ' ', &method) || !take(&line, ' ', &target) || method.n == 0)
        return 400;
    for (size_t i = 0; i < method.n; i++)
        if (!is_token(method.at[i]))
            return 400;
    if (!is(line, "HTTP/1.1") && !is(line, "HTTP/1.0"))
        return 400;
    return is(method, "GET") ? take_target(target, out) : 405;
}

static struct span trimmed(struct span text)
{
    while (text.n && (*text.at == ' ' || *text.at == '\t')) {
        text.at++;
        text.n--;
    }
    while (text.n && (text.at[text.n - 1] == ' ' || text.at[text.n - 1] == '\t'))
        text.n--;
    return text;
}

/* Check a header line, and copy the value of Host; requests with a body are refused.  Returns the
 * HTTP status. */
static int take_header(struct span line, struct http_request *out, bool *has_host)
{
    struct span name, value;

    if (!take(&line, ':', &name) || name.n == 0)
        return 400;
    for (size_t i = 0; i < name.n; i++)
        if (!is_token(name.at[i]))
            return 400;
    value = trimmed(line);
    for (size_t i = 0; i < value.n; i++)
        if ((unsigned char)value.at[i] < ' ' && value.at[i] != '\t')
            return 400;
    if (is_name(name, "Transfer-Encoding") || (is_name(name, "Content-Length") && !is(value, "0")))
        return 400;
    if (!is_name(name, "Host"))
        return 200;
    if (*has_host || value.n == 0 || !copy(out->host, value))
        return 400;
    *has_host = true;
    return 200;
}

/* True if the headers are complete; *n is then the number of their bytes, with the empty line. */
static bool is_complete(const char *bytes, size_t *n)
{
    for (size_t i = 3; i < *n; i++)
        if (memcmp(bytes + i - 3, "\r\n\r\n", 4) == 0) {
            *n = i + 1;
            return true;
        }
    return false;
}

int http_parse(const char *bytes, size_t n, struct http_request *out)
{
    struct span rest = {bytes, n}, line;
    bool has_host = false;

    *out = (struct http_request){0};
    if (n && memchr(bytes, '\0', n))
        return 400;
    if (!is_complete(bytes, &rest.n))
        return n < HTTP_MOST ? 0 : 431;
    if (rest.n > HTTP_MOST)
        return 431;
    int status = take_line(&rest, &line) ? take_first_line(line, out) : 400;
    while (status == 200) {
        if (!take_line(&rest, &line))
            return 400;
        if (line.n == 0)
            break;
        status = take_header(line, out, &has_host);
    }
    return status == 200 && !has_host ? 400 : status;
}

bool http_number(const char *query, const char *key, size_t most, size_t *out)
{
    const size_t n = strlen(key);
    size_t value = 0, digits = 0;

    for (const char *p = query; p; p = strchr(p, '&'), p = p ? p + 1 : NULL) {
        if (strncmp(p, key, n) != 0 || p[n] != '=')
            continue;
        for (p += n + 1; *p >= '0' && *p <= '9'; p++, digits++) {
            if (value > (SIZE_MAX - 9) / 10)
                return false;
            value = 10 * value + (size_t)(*p - '0');
        }
        *out = value;
        return digits > 0 && (*p == '\0' || *p == '&') && value <= most;
    }
    return false;
}

const char *http_reason(int status)
{
    switch (status) {
    case 200:
        return "OK";
    case 400:
        return "Bad Request";
    case 403:
        return "Forbidden";
    case 404:
        return "Not Found";
    case 405:
        return "Method Not Allowed";
    case 408:
        return "Request Timeout";
    case 431:
        return "Request Header Fields Too Large";
    case 503:
        return "Service Unavailable";
    default:
        return "Internal Server Error";
    }
}
