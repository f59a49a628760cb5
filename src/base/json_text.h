/** @file json_text.h  JSON out of text, and why it is none (internal). */
#ifndef FBP_SRC_JSON_TEXT_H
#define FBP_SRC_JSON_TEXT_H

#include "base/status.h"

#include <cjson/cJSON.h>
#include <stddef.h>

/**
 * text[n] and the 0 behind it, parsed; cJSON_Delete() it.
 *
 * end  where it could not go on, if it is no JSON; NULL: something else may follow, and nobody asks
 * @return FBP_ERR_NOMEM, with a message; FBP_ERR_INVALID if it is no JSON, or a
 *         text of it holds the character 0, without one
 */
fbp_status fbp_json_parse(const char *text, size_t n, const char **end, cJSON **out);

#endif /* FBP_SRC_JSON_TEXT_H */
