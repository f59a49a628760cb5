/** @file server.h  A server for one user of this machine, on the loopback address.
 *
 * Who knows the token, a random number in the address, is answered; others are not: other users of
 * the machine cannot guess it, and pages of other sites neither.  The header Host must be this
 * address, so that no name that somebody points to 127.0.0.1 makes a browser take us for another
 * site.
 */
#ifndef FBP_CLI_SERVER_H
#define FBP_CLI_SERVER_H

#include "serve/http.h"

#include <stdint.h>

/** What is answered. */
struct answer {
    int status;
    const char *type; /**< "text/html; charset=utf-8" */
    const void *bytes;
    size_t n;
    void (*release)(
        struct answer *answer); /**< when it has been sent, or not; NULL: nothing to do */
    void *user;                 /**< its */
    char text[400];             /**< room for a short text */
};

struct server {
    int socket;
    unsigned port;
    char token[33];
    const char *policy; /**< Content-Security-Policy of all answers */
    /** Answer a request, whose path is what stands behind the token, without '/'.  Called from
     *  several threads at the same time. */
    void (*answer)(void *user, const struct http_request *request, struct answer *out);
    void *user;
    double request_s; /**< a request must be there within this time [s]; 0 = 10 */
};

/** A sentence as the answer. */
void answer_text(struct answer *out, int status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/** Listen on 127.0.0.1, on a port (0: any that is free), and make a token; 0, or 1: said. */
int server_open(struct server *s, unsigned port);
/** Answer until a signal asks to stop; 0, or 1: said. */
int server_run(struct server *s);
void server_close(struct server *s);

#endif /* FBP_CLI_SERVER_H */
