/** @file say.h  Messages of the command: errors, warnings, notes, and with --json one JSON object
 * that contains these and the result. Implemented by say.c and streams.c; used by all commands.
 */
#ifndef FBP_CLI_SAY_H
#define FBP_CLI_SAY_H

#include <cjson/cJSON.h>

#include <stdbool.h>

/** Replace stdout and stderr by streams that print control characters as escapes. */
void say_open_streams(void);

/** Discard all further output, because another process of the team prints. */
void say_nothing(void);

/** Undo say_nothing(), because the process that prints is lost; print the first error of this
 * process, if any. */
void say_again(void);

/** Flush standard output; returns the exit status. A failed write (full disk, closed pipe) is
 * reported only if rc is 0, and makes the status 1. */
int say_close_output(int rc);

/** Call before any JSON is created: records failed allocations of cJSON; incomplete JSON is then
 * not printed. */
void say_watch_memory(void);

/** json (--json given): store result, notes and warnings until say_close() prints them. */
void say_open(bool json);

/** Print the JSON object with "notes", "warnings" and, after a failure, "error"; returns the exit
 * status. Prints nothing without --json, nor after a success without a result (such as --help). */
int say_close(int rc);

/** Store the result for say_close() and take ownership. false: --json is not given; the caller
 * still owns the result and prints it. */
bool say_keep(cJSON *result, bool compact);

/** Append a benchmark's measurement to the list "measurements" of the JSON object, which is then
 * printed compactly. Takes ownership. */
void say_add(cJSON *measurement);

/** Was an error reported? And the first one, without "fbp: "; "": none. */
bool say_failed(void);
const char *say_first_error(void);

/** Print "fbp: LINE" on standard error. The first error becomes "error" of the JSON object. */
void say_error(const char *line);

/** Print a line on standard error and store it for the JSON object; quiet: only store it. */
void say_note(bool quiet, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void say_warning(bool quiet, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** Store further notes and warnings, also without --json. */
void say_remember(void);
/** The stored warnings or notes: an array of strings; NULL: they are not stored. */
const cJSON *say_remembered(bool warnings);

/** `text` (a name, or text of a file) for use in a printed line: escaped if it contains a line feed
 * or tab. The streams escape all other control characters. Valid until the fourth call after this
 * one. */
const char *say_name(const char *text);

/** Print a line on standard error that the next call replaces, cut at the terminal's width; "":
 * erase. */
void say_bar(const char *line);

/** JSON text with a final newline, to be freed by the caller; NULL: out of memory. Frees the value.
 */
char *say_json_text(cJSON *value, bool compact);
/** Print a JSON value and free it; returns the exit status. */
int say_json(cJSON *value, bool compact);

#endif /* FBP_CLI_SAY_H */
