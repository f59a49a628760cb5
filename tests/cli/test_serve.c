/* fbp view --serve: requests, well formed and not, slices in full, and the server itself. */
#include "cli.h"
#include "page/page.h"
#include "program.h"
#include "serve/server.h"
#include "serve/slices.h"
#include "test.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>

#define HOST "Host: 127.0.0.1:1\r\n"

/* The bytes at the end of a block of their own: who reads beyond them is found by sanitizers. */
static int parse(const char *text, size_t n, struct http_request *out)
{
    AUTO_FREE char *bytes = malloc(n ? n : 1);

    memcpy(bytes, text, n);
    const int status = http_parse(bytes, n, out);
    return status;
}

TEST(requests_are_understood_or_refused)
{
    static const struct {
        const char *text;
        int status;
    } cases[] = {
        {"GET / HTTP/1.1\r\n" HOST "\r\n", 200},
        {"GET /a/b?c=1&d=2 HTTP/1.0\r\nAccept: */*\r\nhost:\t localhost:1 \r\n\r\nmore", 200},
        {"GET / HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n", 200},
        {"GET / HTTP/1.1\r\n" HOST "X: \xc3\xa4\r\n\r\n", 200},
        {"", 0},
        {"G", 0},
        {"GET / HTTP/1.1\r\n" HOST, 0},
        {"GET / HTTP/1.1\r\n" HOST "\r", 0},
        {"GET / HTTP/1.1\r\n\r\n", 400},              /* no host */
        {"GET / HTTP/1.1\r\n" HOST HOST "\r\n", 400}, /* two */
        {"GET / HTTP/1.1\r\nHost:\r\n\r\n", 400},     /* an empty one */
        {"GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400},  /* a blank in a name */
        {"GET / HTTP/1.1\n" HOST "\r\n", 400},        /* ends of lines */
        {"GET  / HTTP/1.1\r\n" HOST "\r\n", 400},     /* two blanks */
        {"GET / HTTP/2\r\n" HOST "\r\n", 400},
        {"GET /\r\n" HOST "\r\n", 400},
        {"GET a HTTP/1.1\r\n" HOST "\r\n", 400},
        {"GET http://a/ HTTP/1.1\r\n" HOST "\r\n", 400},
        {"GET /%2e HTTP/1.1\r\n" HOST "\r\n", 400}, /* nothing is encoded */
        {"GET /\x7f HTTP/1.1\r\n" HOST "\r\n", 400},
        {"GET /\xff HTTP/1.1\r\n" HOST "\r\n", 400},
        {"GET / HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nabcde", 200}, /* a body is ignored */
        {"POST / HTTP/1.1\r\n" HOST "\r\n", 405},
        {"HEAD / HTTP/1.1\r\n" HOST "\r\n", 405},
        {"get / HTTP/1.1\r\n" HOST "\r\n", 405},
        {"\r\n\r\n", 400},
        {"\r\n\r\n\r\n", 400},
        {": \r\n\r\n", 400},
    };
    struct http_request r;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int got = parse(cases[i].text, strlen(cases[i].text), &r);
        if (got != cases[i].status)
            fail_msg("%s: %d instead of %d", cases[i].text, got, cases[i].status);
    }
    assert_int_equal(parse(cases[1].text, strlen(cases[1].text), &r), 200);
    assert_string_equal(r.path, "/a/b");
    assert_string_equal(r.query, "c=1&d=2");
    assert_string_equal(r.host, "localhost:1");
    assert_int_equal(parse("GET /\0 HTTP/1.1\r\n" HOST "\r\n", 38, &r), 400);
}

TEST(long_requests_are_refused)
{
    struct http_request r;
    AUTO_FREE char *text = malloc(3 * HTTP_MOST);

    memset(text, 'a', 3 * HTTP_MOST);
    assert_int_equal(parse(text, HTTP_MOST - 1, &r), 0);
    assert_int_equal(parse(text, HTTP_MOST, &r), 431);
    int n = sprintf(text, "GET / HTTP/1.1\r\n" HOST "A: ");
    text[n] = 'a';
    memcpy(text + 2 * HTTP_MOST, "\r\n\r\n", 4);
    assert_int_equal(parse(text, 2 * HTTP_MOST + 4, &r), 431);
    for (size_t length = HTTP_TEXT - 3; length < HTTP_TEXT + 3; length++) {
        n = sprintf(text, "GET /%0*d HTTP/1.1\r\n" HOST "\r\n", (int)length - 1, 0);
        assert_int_equal(parse(text, (size_t)n, &r), length < HTTP_TEXT ? 200 : 431);
        n = sprintf(text, "GET /?%0*d HTTP/1.1\r\n" HOST "\r\n", (int)length, 0);
        assert_int_equal(parse(text, (size_t)n, &r), length < HTTP_TEXT ? 200 : 431);
        n = sprintf(text, "GET / HTTP/1.1\r\nHost: %0*d\r\n\r\n", (int)length, 0);
        assert_int_equal(parse(text, (size_t)n, &r), length < HTTP_TEXT ? 200 : 400);
    }
}

static uint32_t next(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* Change a text in one of a few ways; returns its new length. */
static size_t mutate(char *text, size_t n, size_t room, uint32_t *seed)
{
    static const char *const pieces[] = {
        "\r\n",     "\r\n\r\n", "Host: a\r\n",           " ", ":", "%", "?", "GET ",
        "HTTP/1.1", "\t",       "Content-Length: 9\r\n", "=", "&"};
    const size_t at = n ? next(seed) % n : 0;
    const char *piece = pieces[next(seed) % (sizeof pieces / sizeof *pieces)];
    const size_t more = strlen(piece);

    switch (next(seed) % 4) {
    case 0:
        if (n)
            text[at] = (char)next(seed);
        return n;
    case 1: /* a piece is put in */
        if (n + more > room)
            return n;
        memmove(text + at + more, text + at, n - at);
        memcpy(text + at, piece, more);
        return n + more;
    case 2: { /* some bytes are gone */
        const size_t less = n - at < 7 ? n - at : next(seed) % 7;
        memmove(text + at, text + at + less, n - at - less);
        return n - less;
    }
    default:
        return at;
    }
}

static bool is_plain(const char *text)
{
    for (; *text; text++)
        if (*text <= ' ' || *text > '~')
            return false;
    return true;
}

/* Whatever comes: one of the statuses, the same for more of the same bytes, and nothing odd let
 * through. */
TEST(damaged_requests_do_no_harm)
{
    static const char *const seeds[] = {
        "GET /0123456789abcdef/slice?plane=2&index=17&frame=0 HTTP/1.1\r\n" HOST
        "User-Agent: a b c\r\nAccept: */*\r\n\r\n",
        "GET / HTTP/1.0\r\n" HOST "\r\n", "POST /a HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"};
    enum { ROOM = 600, ROUNDS = 200000 };
    struct http_request r;
    uint32_t seed = 1;
    size_t counts[500] = {0}, value;

    for (size_t i = 0; i < ROUNDS; i++) {
        char text[ROOM];
        size_t n = strlen(seeds[i % 3]);
        memcpy(text, seeds[i % 3], n);
        for (size_t k = next(&seed) % 6; k > 0; k--)
            n = mutate(text, n, ROOM, &seed);
        const int status = parse(text, n, &r);
        assert_true(status == 0 || status == 200 || status == 400 || status == 405 ||
                    status == 431);
        counts[status]++;
        if (status == 200) {
            assert_true(r.path[0] == '/' && is_plain(r.path) && is_plain(r.query) && *r.host);
            if (http_number(r.query, "index", 100, &value))
                assert_true(value <= 100);
            struct http_request again; /* more bytes behind a whole request change nothing */
            if (n < ROOM) {
                text[n] = 'x';
                assert_int_equal(parse(text, n + 1, &again), 200);
                assert_string_equal(again.path, r.path);
            }
        }
    }
    assert_true(counts[0] > 1000 && counts[200] > 1000 && counts[400] > 1000 && counts[405] > 1000);
}

TEST(numbers_of_queries)
{
    size_t n;

    assert_true(http_number("plane=2&index=17", "index", 17, &n) && n == 17);
    assert_true(http_number("plane=2&index=17", "plane", 2, &n) && n == 2);
    assert_false(http_number("plane=2&index=17", "index", 16, &n));
    for (const char **q = (const char *[]){"index", "index=", "index=-1", "index=1a", "index=+1",
                                           "aindex=1", "index=99999999999999999999999", "", NULL};
         *q; q++)
        assert_false(http_number(*q, "index", SIZE_MAX, &n));
}

/* Slice `index` of a plane against the volume [F][Z][Y][X], whose value is its own place. */
static void check_slice(struct slices *s, int plane, size_t index, size_t f)
{
    const struct reduced *r = s->r;
    const int right = reduced_axes[plane][0], up = reduced_axes[plane][1];
    size_t n;
    float *got = not_null(slices_get(s, plane, index, f, &n));

    assert_int_equal(n, r->n[right] * r->n[up]);
    for (size_t i = 0; i < n; i++) {
        size_t at[3];
        at[right] = i % r->n[right];
        at[up] = i / r->n[right];
        at[2 - plane] = index;
        const size_t row = r->down ? r->n[1] - 1 - at[1] : at[1];
        const size_t place = ((f * r->n[2] + at[2]) * r->n[1] + row) * r->n[0] + at[0];
        if (fabsf(got[i] - (float)place) > 0)
            fail_msg("plane %d, slice %zu of frame %zu: %g at %zu, not %zu", plane, index, f,
                     (double)got[i], i, place);
    }
    free(got);
}

static void check_slices(const size_t size[3], size_t frames, bool down)
{
    const size_t all = size[0] * size[1] * size[2] * frames;
    const struct fbp_array_info info = {.struct_size = sizeof info,
                                        .n = {size[0], size[1], size[2] * frames},
                                        .type = FBP_F32,
                                        .time_points = frames,
                                        .row_order = down ? FBP_ROWS_TOP_DOWN : FBP_ROWS_BOTTOM_UP};
    const struct reduced_wish wish = {.name = "v", .frame = SIZE_MAX, .bytes = 4000, .quiet = true};
    AUTO_FREE float *v = malloc(all * sizeof *v);
    struct reduced r;
    struct slices s;

    for (size_t i = 0; i < all; i++)
        v[i] = (float)i;
    CLEANUP(fbp_source_close) fbp_source *source = memory_source(v, &info);
    assert_int_equal(reduced_make(&r, source, &wish), 0);
    slices_open(&s, &r);
    for (size_t k = 0; k < 120; k++) { /* in an order that keeps some blocks and drops others */
        const int plane = (int)(k % 3);
        check_slice(&s, plane, k * 7 % r.n[2 - plane], k / 9 % frames);
    }
    slices_close(&s);
    reduced_clear(&r);
}

/* More rows and columns than come together, and than are read at a time. */
TEST(slices_are_the_volumes)
{
    for (int down = 0; down < 2; down++) {
        check_slices((const size_t[]){37, 71, 11}, 2, down);
        check_slices((const size_t[]){700, 450, 3}, 1, down);
    }
}

static void hello(void *user, const struct http_request *request, struct answer *out)
{
    answer_text(out, 200, "path %s, query %s", request->path, request->query);
}

static void *run_server(void *user)
{
    const int rc = server_run(user, true, false);
    return (void *)(intptr_t)rc;
}

static int connect_to(unsigned port)
{
    const struct sockaddr_in to = {.sin_family = AF_INET,
                                   .sin_addr = {htonl(INADDR_LOOPBACK)},
                                   .sin_port = htons((uint16_t)port)};
    const int fd = socket(AF_INET, SOCK_STREAM, 0);

    assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

/* The status and the text of the answer to these bytes; 0: there is none. */
static int ask(unsigned port, const char *request, char *text, size_t room)
{
    const int fd = connect_to(port);
    size_t n = 0;
    ssize_t got;
    int status = 0;

    (void)!send(fd, request, strlen(request), MSG_NOSIGNAL);
    while (n + 1 < room && (got = recv(fd, text + n, room - 1 - n, 0)) > 0)
        n += (size_t)got;
    text[n] = '\0';
    close(fd);
    return sscanf(text, "HTTP/1.1 %d", &status) == 1 ? status : 0;
}

/* Who does not know the token, or comes by another name, is refused; what is half sent or malformed
 * harms nobody else; and a signal ends the server while connections are open.  The last test: the
 * process has been asked to stop. */
TEST(the_server_answers_who_knows_the_token)
{
    struct server s = {.policy = "default-src 'none'", .answer = hello, .request_s = 0.5}, other;
    char request[300], text[4096], wrong[33];
    pthread_t thread;
    void *rc;

    signals_start();
    assert_int_equal(server_open(&s, 0), 0);
    assert_int_equal(server_open(&other, s.port), 1); /* taken */
    server_close(&other);
    assert_int_equal(pthread_create(&thread, NULL, run_server, &s), 0);
    const int silent = connect_to(s.port);
    for (int round = 0; round < 3; round++) {
        sprintf(request, "GET /%s/a?b=1 HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n\r\n", s.token, s.port);
        assert_int_equal(ask(s.port, request, text, sizeof text), 200);
        assert_contains(text, "\r\n\r\npath a, query b=1");
        assert_contains(text, "Content-Security-Policy: default-src 'none'; frame-ancestors");
        sprintf(request, "GET /%s/ HTTP/1.1\r\nHost: LocalHost:%u\r\n\r\n", s.token, s.port);
        assert_int_equal(ask(s.port, request, text, sizeof text), 200);
        for (const char **host = (const char *[]){"evil.example", "127.0.0.1", "127.0.0.1:1",
                                                  "127.0.0.1:99999999", NULL};
             *host; host++) {
            sprintf(request, "GET /%s/ HTTP/1.1\r\nHost: %s\r\n\r\n", s.token, *host);
            assert_int_equal(ask(s.port, request, text, sizeof text), 403);
            assert_null(strstr(text, s.token));
        }
        strcpy(wrong, s.token);
        wrong[31] = wrong[31] == '0' ? '1' : '0';
        for (const char **path = (const char *[]){"/", "", wrong, "/slice", "/favicon.ico", NULL};
             *path; path++) {
            sprintf(request, "GET /%s/ HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n\r\n", *path, s.port);
            assert_int_equal(ask(s.port, request, text, sizeof text), 403);
            assert_null(strstr(text, s.token));
        }
        sprintf(request, "GET /%s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n\r\n", s.token, s.port);
        assert_int_equal(ask(s.port, request, text, sizeof text), 403); /* no '/' behind it */
        sprintf(request, "POST /%s/ HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n\r\n", s.token, s.port);
        assert_int_equal(ask(s.port, request, text, sizeof text), 405);
        assert_int_equal(ask(s.port, "nonsense\r\n\r\n", text, sizeof text), 400);
        assert_int_equal(ask(s.port, "GET / HT", text, sizeof text), 408); /* it never ends */
        close(connect_to(s.port));                                         /* says nothing */
    }
    for (int i = 0; i < 40; i++) /* more than are answered at a time */
        close(connect_to(s.port));
    close(silent);
    sprintf(request, "GET /%s/ HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n\r\n", s.token, s.port);
    int status;
    do /* others may be on their way still */
        status = ask(s.port, request, text, sizeof text);
    while (status == 503 || status == 0);
    assert_int_equal(status, 200);
    const int open = connect_to(s.port);
    raise(SIGTERM);
    assert_int_equal(pthread_join(thread, &rc), 0);
    assert_int_equal((intptr_t)rc, 0);
    close(open);
    server_close(&s);
}

TEST_MAIN(NULL, NULL)
