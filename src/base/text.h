/** @file text.h  Text: sizes in bytes, similar names and aliases, paths, JSON, and safe printing of
 * text from files.
 * Used by: bench/, cli/, analysis/, array/, base/, filter/, geometry/, phantom/, picture/,
 * pipeline/, prep/, scan/. */
#ifndef FBP_SRC_BASE_TEXT_H
#define FBP_SRC_BASE_TEXT_H

#include "base/base.h"

#include <cjson/cJSON.h>

#include <stdarg.h>
#include <stdio.h>

/** Print a number of bytes as fbp_bytes_text() does, but from a double, because an estimate may
 * exceed every integer type. */
char *fbp_bytes_estimate_text(char *buf, size_t n, double bytes);

/** Print a number of bytes as fbp_bytes_text() does, but rounded up, so that the printed size
 * suffices as a memory limit. */
char *fbp_bytes_up_text(char *buf, size_t n, uint64_t bytes);

/** Edit distance (Levenshtein) of two words, ignoring case; 48: a word is longer. */
size_t fbp_edit_distance(const char *a, const char *b);

/** Return that of candidates[n] with the least edit distance from `word`; NULL: none is similar. */
const char *fbp_nearest(const char *word, const char *const *candidates, size_t n);

/** Return true if two names are equal apart from case, dashes, underscores and spaces: "Ram_Lak"
 * equals "ram-lak". */
bool fbp_same_name(const char *a, const char *b);

/** Define the function `const char *function(size_t i)`, which returns name i of the list of names
 * that follows; NULL beyond the last. */
#define FBP_NAMES(function, ...)                                   \
    const char *function(size_t i)                                 \
    {                                                              \
        static const char *const names[] = {__VA_ARGS__};          \
        return i < sizeof names / sizeof *names ? names[i] : NULL; \
    }

/** Translate a name of a choice from other programs to fbp ("hanning" to "hann", "ramp" to
 * "ram-lak"); all other texts are returned unchanged. */
const char *fbp_usual_name(const char *name);

/** Join `path` to the folder that contains the file `base`; an absolute `path` is copied.  Returns
 * malloc'ed memory; NULL when out of memory. */
char *fbp_path_join(const char *base, const char *path);

/** Part of a path after the last '/'. */
const char *fbp_base_name(const char *path);

/** True if the path ends in one of `extensions`, a list such as ".mha .mhd .nii.gz"; upper and
 * lower case are equal. */
bool fbp_has_extension(const char *path, const char *extensions);

/** FBP_ERR_NOMEM with a message if `path` is NULL, because memory ran out when it was made. */
fbp_status fbp_check_path(const char *path);

/** Copy text into malloc'ed memory; NULL when out of memory. */
char *fbp_strdup(const char *text);

/** Print as printf() does, into malloc'ed memory; NULL when out of memory. */
char *fbp_format(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** Print the variable arguments of the calling function, which follow its parameter `fmt`, to
 * buf[n] as vsnprintf() does. */
#define FBP_PRINT_ARGUMENTS(buf, n, fmt)          \
    do {                                          \
        va_list arguments_;                       \
        va_start(arguments_, fmt);                \
        (void)vsnprintf(buf, n, fmt, arguments_); \
        va_end(arguments_);                       \
    } while (0)

/**
 * Parse text[n], which is followed by a 0 byte, as JSON.  cJSON_Delete() frees *out.
 *
 * end  output, position of the error; NULL: text after the value is accepted
 * @return FBP_ERR_NOMEM with a message; FBP_ERR_INVALID, without a message, if the text is not JSON
 * or contains a string with the character 0
 */
fbp_status fbp_json_parse(const char *text, size_t n, const char **end, cJSON **out);

/**
 * Make text from a file safe to print on a terminal.  Control characters (one byte, DEL, U+0080 to
 * U+009F, Unicode's line ends and changes of direction) and bytes that are not UTF-8 become escapes
 * as in JSON, \u001b or \u009b.  Messages and log lines of the library are already safe; file
 * names, units and notes of a scan or an array are not.
 *
 * out   [room] bytes, terminated by 0; text that does not fit is omitted, in whole characters
 * text  [n] bytes
 * keep  one-byte control characters that are not changed, such as "\n"; "": none
 * @return length of the text in `out`
 */
size_t fbp_printable(char *out, size_t room, const char *text, size_t n, const char *keep);

/** Print a number of bytes with at most three digits: "64 B", "12.5 KiB", "1.50 GiB" (powers of
 * 1024).  Text beyond buf[n] is omitted.  Returns buf. */
char *fbp_bytes_text(char *buf, size_t n, uint64_t bytes);

#endif /* FBP_SRC_BASE_TEXT_H */
