/* Implementation of server.h: an HTTP server on the loopback address (server_open(),
 * server_run()), with one thread per connection and a random token in the address, and a parser of
 * HTTP requests (http_parse()), for `fbp view --serve`.
 * Used by: cli/cmd_tune.c, cli/cmd_view.c, slices.c. */
#include "serve/server.h"
#include "cli.h"
#include "program.h"

#include "base/system.h"
#include "base/text.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

static bool copy(char out[HTTP_TEXT], const char *text)
{
    return snprintf(out, HTTP_TEXT, "%s", text) < HTTP_TEXT;
}

/* Split a line "GET /path?query HTTP/1.1"; the target is visible ASCII without '%'. Returns the
 * HTTP status. */
static int take_first_line(char *line, struct http_request *out)
{
    char *target = strchr(line, ' '), *version = target ? strchr(target + 1, ' ') : NULL;

    if (!version || target == line ||
        (strcmp(version, " HTTP/1.1") != 0 && strcmp(version, " HTTP/1.0") != 0))
        return 400;
    *target++ = *version = '\0';
    if (strcmp(line, "GET") != 0)
        return 405;
    if (*target != '/')
        return 400;
    for (const char *p = target; *p; p++)
        if (*p <= ' ' || *p > '~' || strchr("%#\\\"<>", *p))
            return 400;
    char *query = strchr(target, '?');
    if (query)
        *query++ = '\0';
    return copy(out->path, target) && copy(out->query, query ? query : "") ? 200 : 431;
}

int http_parse(const char *bytes, size_t n, struct http_request *out)
{
    char text[HTTP_MOST];
    int status = 0; /* until the first line was read */

    *out = (struct http_request){0};
    if (n && memchr(bytes, '\0', n))
        return 400;
    const char *end = memmem(bytes, n, "\r\n\r\n", 4);
    if (!end)
        return n < HTTP_MOST ? 0 : 431;
    if (end + 4 - bytes > HTTP_MOST)
        return 431;
    snprintf(text, sizeof text, "%.*s", (int)(end - bytes), bytes);
    for (char *line = text, *next; line; line = next) {
        next = strstr(line, "\r\n");
        if (next) {
            *next = '\0';
            next += 2;
        }
        if (status == 0) {
            status = take_first_line(line, out);
            if (status != 200)
                return status;
        } else if (strncasecmp(line, "Host:", 5) == 0) {
            char *value = line + 5 + strspn(line + 5, " \t");
            value[strcspn(value, " \t")] = '\0';
            if (*out->host || !copy(out->host, value))
                return 400;
        }
    }
    return *out->host ? 200 : 400;
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

static const char *reason_of(int status)
{
    static const struct {
        int status;
        const char *reason;
    } reasons[] = {{200, "OK"},
                   {400, "Bad Request"},
                   {403, "Forbidden"},
                   {404, "Not Found"},
                   {405, "Method Not Allowed"},
                   {408, "Request Timeout"},
                   {431, "Request Header Fields Too Large"}};

    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (reasons[i].status == status)
            return reasons[i].reason;
    return "Internal Server Error";
}

enum { CONNECTIONS = 16, TICK_MS = 100 };
/* Time limits [s]: REQUEST_S to receive a request, STALL_S if a client accepts no more bytes. */
static const double REQUEST_S = 10, STALL_S = 30;

/* A connection to a client, and its thread. */
struct connection {
    struct server *server;
    pthread_t thread;
    int fd;
    bool used; /* true: a connection is open; set only by the thread that accepts connections */
    atomic_bool done; /* true: the thread of the connection is about to end, and can be joined */
};

void answer_text(struct answer *out, int status, const char *fmt, ...)
{
    FBP_PRINT_ARGUMENTS(out->text, sizeof out->text, fmt);
    out->status = status;
    out->type = "text/plain; charset=utf-8";
    out->bytes = out->text;
    out->n = strlen(out->text);
}

void answer_free(struct answer *a)
{
    free(a->user);
}

int server_open(struct server *s, unsigned port)
{
    struct sockaddr_in here = {.sin_family = AF_INET,
                               .sin_addr = {htonl(INADDR_LOOPBACK)},
                               .sin_port = htons((uint16_t)port)};
    socklen_t n = sizeof here;
    const int on = 1;
    unsigned char bytes[16];

    s->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s->socket < 0)
        return cli_error("--serve: cannot open a socket: %s; write a page instead (-o FILE.html)",
                         strerror(errno));
    setsockopt(s->socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(s->socket, (struct sockaddr *)&here, sizeof here) != 0 ||
        listen(s->socket, CONNECTIONS) != 0 ||
        getsockname(s->socket, (struct sockaddr *)&here, &n) != 0)
        return cli_error("port %u of 127.0.0.1: %s; give another --port, or omit it", port,
                         strerror(errno));
    s->port = ntohs(here.sin_port);
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return cli_error("--serve: cannot get random numbers from the system: %s; write a page "
                         "instead (-o FILE.html)",
                         strerror(errno));
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(s->token + 2 * i, 3, "%02x", bytes[i]);
    return 0;
}

static void find_answer(const struct server *s, int status, struct http_request *request,
                        struct answer *out)
{
    const size_t n = sizeof s->token - 1;
    char *path = request->path, host[2][40];
    const bool has_slashes = strlen(path) >= n + 2 && path[0] == '/' && path[n + 1] == '/';
    unsigned difference = !has_slashes;

    /* compare all characters: the time must not depend on the first difference */
    for (size_t i = 0; has_slashes && i < n; i++)
        difference |= (unsigned char)(path[1 + i] ^ s->token[i]);
    const bool omits_port = s->port == 80 && !strchr(request->host, ':');
    snprintf(host[0], sizeof host[0], omits_port ? "127.0.0.1" : "127.0.0.1:%u", s->port);
    snprintf(host[1], sizeof host[1], omits_port ? "localhost" : "localhost:%u", s->port);
    if (status != 200)
        answer_text(out, status, "%s\n", reason_of(status));
    else if (strcasecmp(request->host, host[0]) != 0 && strcasecmp(request->host, host[1]) != 0)
        answer_text(out, 403, "This server only answers requests for http://127.0.0.1:%u.\n",
                    s->port);
    else if (difference != 0)
        answer_text(out, 403, "Open the address that fbp view --serve has printed.\n");
    else {
        memmove(path, path + n + 2, strlen(path + n + 2) + 1);
        s->answer(s->user, request, out);
    }
}

/* Wait until a socket is ready for poll()'s events; false: time is `until` [s], or a signal. */
static bool wait_for(int fd, short events, double until)
{
    struct pollfd p = {.fd = fd, .events = events};

    while (!signals_status() && fbp_seconds() < until)
        if (poll(&p, 1, TICK_MS) > 0)
            return true;
    return false;
}

/* Receive a request. Returns http_parse()'s status, 408 (timeout), or 0 (the client has closed). */
static int read_request(int fd, double seconds, struct http_request *out)
{
    const double until = fbp_seconds() + seconds;
    char bytes[HTTP_MOST];
    size_t n = 0;

    while (wait_for(fd, POLLIN, until)) {
        const ssize_t got = recv(fd, bytes + n, sizeof bytes - n, 0);
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
            return 0;
        n += got > 0 ? (size_t)got : 0;
        const int status = http_parse(bytes, n, out);
        if (status != 0)
            return status;
    }
    return 408;
}

static bool send_all(int fd, const char *bytes, size_t n)
{
    while (n > 0) {
        if (!wait_for(fd, POLLOUT, fbp_seconds() + STALL_S))
            return false;
        const ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN && errno != EINTR)
            return false;
        bytes += sent > 0 ? sent : 0;
        n -= sent > 0 ? (size_t)sent : 0;
    }
    return true;
}

static void send_answer(const struct server *s, int fd, const struct answer *a)
{
    char head[2048];
    const int n = snprintf(head, sizeof head,
                           "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
                           "Connection: close\r\nCache-Control: no-store\r\n"
                           "Content-Security-Policy: %s; frame-ancestors 'none'\r\n"
                           "Cross-Origin-Resource-Policy: same-origin\r\n"
                           "Referrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\n"
                           "%s\r\n",
                           a->status, reason_of(a->status), a->type, a->n, s->policy,
                           a->status == 405 ? "Allow: GET\r\n" : "");

    if (n > 0 && (size_t)n < sizeof head && send_all(fd, head, (size_t)n))
        (void)!send_all(fd, a->bytes, a->n);
}

static void *serve_connection(void *user)
{
    struct connection *c = user;
    struct http_request request = {0};
    struct answer answer = {0};
    const int status =
        read_request(c->fd, c->server->request_s > 0 ? c->server->request_s : REQUEST_S, &request);

    if (status != 0 && !signals_status()) {
        find_answer(c->server, status, &request, &answer);
        send_answer(c->server, c->fd, &answer);
        if (answer.release)
            answer.release(&answer);
        /* Shut down sending, and discard received bytes for at most one second, because closing a
         * socket with unread bytes would reset the connection and could lose the answer. */
        const double until = fbp_seconds() + 1;
        char rest[4096];
        shutdown(c->fd, SHUT_WR);
        for (int i = 0; i < 64 && wait_for(c->fd, POLLIN, until); i++)
            if (recv(c->fd, rest, sizeof rest, 0) <= 0)
                break;
    }
    atomic_store(&c->done, true);
    return NULL;
}

static void end_connection(struct connection *c)
{
    pthread_join(c->thread, NULL);
    close(c->fd);
    c->used = false;
}

/* Start a thread for a new connection; if CONNECTIONS threads are busy, or no thread can be
 * started, refuse the connection with status 503. */
static void take_connection(struct server *s, struct connection *all, int fd)
{
    for (size_t i = 0; i < CONNECTIONS; i++) {
        struct connection *c = &all[i];
        if (c->used && atomic_load(&c->done))
            end_connection(c);
        if (c->used)
            continue;
        c->server = s;
        c->fd = fd;
        /* fewer calls of send() for slices of some MiB */
        (void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &(int){4 << 20}, sizeof(int));
        atomic_store(&c->done, false);
        c->used = pthread_create(&c->thread, NULL, serve_connection, c) == 0;
        if (c->used)
            return;
        break;
    }
    /* The request has not been read, so the client can send the request again. */
    (void)!send(fd,
                "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\n\r\n",
                71, MSG_NOSIGNAL | MSG_DONTWAIT);
    close(fd);
}

int server_run(struct server *s, bool quiet, bool json)
{
    struct connection all[CONNECTIONS] = {0};
    struct pollfd p = {.fd = s->socket, .events = POLLIN};

    if (!quiet && !json)
        fputs("open this address on this machine; Ctrl-C ends it\n", stderr);
    printf(json ? "{\"address\": \"http://127.0.0.1:%u/%s/\"}\n" : "http://127.0.0.1:%u/%s/\n",
           s->port, s->token);
    /* Flush, because a script may read the address from a pipe while the server runs. */
    (void)!fflush(stdout);

    while (!signals_status()) {
        if (poll(&p, 1, TICK_MS) <= 0)
            continue;
        const int fd = accept4(s->socket, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0)
            take_connection(s, all, fd);
        else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
            usleep(1000 * TICK_MS); /* retry: others may have released descriptors or memory */
    }
    for (size_t i = 0; i < CONNECTIONS; i++)
        if (all[i].used)
            end_connection(&all[i]);
    return 0;
}

void server_close(struct server *s)
{
    if (s->socket >= 0)
        close(s->socket);
    s->socket = -1;
}
