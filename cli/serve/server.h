/** @file server.h  An HTTP server for one user of this machine, on the loopback address
 * (127.0.0.1), for `fbp view --serve`. Implemented in server.c.
 *
 * Only requests with the token, a random number in the address, are served: other users of the
 * machine and pages of other sites cannot guess it. The header Host must name 127.0.0.1 or
 * localhost, which prevents DNS rebinding (a foreign name that resolves to 127.0.0.1).
 * Used by: cli/cmd_view.c, server.c, slices.h.
 */
#ifndef FBP_CLI_SERVER_H
#define FBP_CLI_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    HTTP_MOST = 8192, /**< greatest size of a request with its headers [bytes] */
    HTTP_TEXT = 512   /**< size of the texts path, query and host, with the final 0 [bytes] */
};

/** An HTTP GET request. Its texts are not decoded: addresses of fbp have no percent-encoding. */
struct http_request {
    char path[HTTP_TEXT];  /**< path of the address, the text before '?', such as "/TOKEN/slice" */
    char query[HTTP_TEXT]; /**< query of the address, the text after '?'; "": none */
    char host[HTTP_TEXT];  /**< value of the header Host */
};

/**
 * Parse the first n received bytes.
 * @return 0: the request is incomplete; 200: *out is set; otherwise the status of the refusal: 400,
 * 405 (method other than GET), 431 (too long).
 */
int http_parse(const char *bytes, size_t n, struct http_request *out);

/** Read the number KEY=… from the query "a=1&b=2" of an address: decimal digits, at most `most`.
 * False: KEY is missing, or its value is no such number. */
bool http_number(const char *query, const char *key, size_t most, size_t *out);

/** Answer to an HTTP request. */
struct answer {
    int status;        /**< HTTP status */
    const char *type;  /**< Content-Type, such as "text/html; charset=utf-8" */
    const void *bytes; /**< body */
    size_t n;          /**< bytes of the body */
    /** Called to release `bytes` when the answer was sent, or sending failed; NULL: no release. */
    void (*release)(struct answer *answer);
    void *user;     /**< data of release() */
    char text[400]; /**< body of answer_text() */
};

struct server {
    int socket; /**< listening socket; -1: closed */
    unsigned port;
    char token[33];     /**< random key in the address, 32 hexadecimal digits */
    const char *policy; /**< Content-Security-Policy of all answers */
    /** Answers a request with the path after "/TOKEN/"; several threads call it at a time. */
    void (*answer)(void *user, const struct http_request *request, struct answer *out);
    void *user;       /**< first argument of answer() */
    double request_s; /**< time limit for receiving a request [s]; 0: 10 s */
};

/** Set *out to an answer of plain text, formatted as by printf() and cut off at 399 bytes. */
void answer_text(struct answer *out, int status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/** A function answer.release that frees answer.user. */
void answer_free(struct answer *answer);

/** Listen on a port of 127.0.0.1 (0: any), with a random token. Returns 0, or 1 after an error. */
int server_open(struct server *s, unsigned port);
/** Print the address, as JSON or text, and answer requests until a signal; returns 0. */
int server_run(struct server *s, bool quiet, bool json);
void server_close(struct server *s);

#endif /* FBP_CLI_SERVER_H */
