/** @file http.h  Requests of HTTP/1.1 (RFC 9112), as little of it as a page of ours needs,
 * strictly. */
#ifndef FBP_CLI_HTTP_H
#define FBP_CLI_HTTP_H

#include <stdbool.h>
#include <stddef.h>

enum { HTTP_MOST = 8192 /**< bytes of a request */, HTTP_TEXT = 512 /**< of path, query, host */ };

/** Of a GET.  Nothing is decoded: our own addresses have nothing to decode. */
struct http_request {
    char path[HTTP_TEXT];  /**< "/…" up to '?' */
    char query[HTTP_TEXT]; /**< behind it; "" */
    char host[HTTP_TEXT];  /**< of the only header Host */
};

/**
 * Understand the first n bytes that have come.
 * @return 0: more are needed; 200: *out is set; else the status to refuse it with: 400, 405
 * (another method), 431 (too long).  Never reads beyond n.
 */
int http_parse(const char *bytes, size_t n, struct http_request *out);

/** The number KEY=… of a query "a=1&b=2": decimal digits, at most `most`.  False: there is none. */
bool http_number(const char *query, const char *key, size_t most, size_t *out);

/** "Forbidden" of 403 and so on. */
const char *http_reason(int status);

#endif /* FBP_CLI_HTTP_H */
