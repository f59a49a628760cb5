/** @file server.h  An HTTP server for one user of this machine, on the loopback address; run by
 * view_serve.c.
 *
 * Only requests with the token, a random number in the address, are served: other users of the
 * machine and pages of other sites cannot guess it.  The header Host must name this address, which
 * prevents DNS rebinding (a foreign name that resolves to 127.0.0.1).
 */
#ifndef FBP_CLI_SERVER_H
#define FBP_CLI_SERVER_H

#include "serve/http.h"

#include <stdint.h>

/** Answer to a request. */
struct answer {
    int status;        /**< HTTP status */
    const char *type;  /**< Content-Type, such as "text/html; charset=utf-8" */
    const void *bytes; /**< body */
    size_t n;          /**< bytes of the body */
    /** Called after the answer was sent, or sending failed; NULL: nothing to release. */
    void (*release)(struct answer *answer);
    void *user;     /**< data of release() */
    char text[400]; /**< body of answer_text() */
};

struct server {
    int socket; /**< listening socket; -1: closed */
    unsigned port;
    char token[33];     /**< 32 hexadecimal digits */
    const char *policy; /**< Content-Security-Policy of all answers */
    /** Answer a request; its path is the text after "/TOKEN/".  Called from several threads at the
     * same time. */
    void (*answer)(void *user, const struct http_request *request, struct answer *out);
    void *user;       /**< first argument of answer() */
    double request_s; /**< time limit for receiving a request [s]; 0: 10 */
};

/** Set *out to a plain text, formatted as by printf() and cut off at 399 bytes. */
void answer_text(struct answer *out, int status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/** Listen on a port of 127.0.0.1 (0: any free port), and make a token; 0, or 1 after an error
 * message. */
int server_open(struct server *s, unsigned port);
/** Accept connections until a signal stops the program; returns 0. */
int server_run(struct server *s);
void server_close(struct server *s);

#endif /* FBP_CLI_SERVER_H */
