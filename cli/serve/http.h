/** @file http.h  Parser of HTTP/1.1 requests (RFC 9112): the strict subset that the pages of fbp
 * use. Called by server.c and view_serve.c. */
#ifndef FBP_CLI_HTTP_H
#define FBP_CLI_HTTP_H

#include <stdbool.h>
#include <stddef.h>

enum {
    HTTP_MOST = 8192, /**< greatest size of a request [bytes] */
    HTTP_TEXT = 512   /**< size of path, query, host with the final 0 [bytes] */
};

/** A GET request.  Nothing is decoded, because addresses of fbp contain no percent-encoding. */
struct http_request {
    char path[HTTP_TEXT];  /**< "/…", text before '?' */
    char query[HTTP_TEXT]; /**< text after '?'; "": none */
    char host[HTTP_TEXT];  /**< value of the header Host, which occurs once */
};

/**
 * Parse the first n received bytes.
 * @return 0: the request is incomplete; 200: *out is set; otherwise the status of the refusal: 400,
 * 405 (method other than GET), 431 (too long).
 */
int http_parse(const char *bytes, size_t n, struct http_request *out);

/** Read the number KEY=… from a query "a=1&b=2": decimal digits, at most `most`.  False if KEY is
 *  missing or its value is not such a number. */
bool http_number(const char *query, const char *key, size_t most, size_t *out);

/** Reason phrase of a status: "Forbidden" for 403. */
const char *http_reason(int status);

#endif /* FBP_CLI_HTTP_H */
