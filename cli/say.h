/** @file say.h Messages of commands: errors, warnings, notes, and with --json one JSON object that
 * contains these and the result; also the progress line. Implemented in say.c.
 * Used by: bench/, cli/. */
#ifndef FBP_CLI_SAY_H
#define FBP_CLI_SAY_H

#include <cjson/cJSON.h>

#include <stdbool.h>

/** Discard all further output: another process of the same volume (MPI) prints. */
void say_nothing(void);

/** Print again after say_nothing(), and the first error: the process that printed is lost. */
void say_again(void);

/** Flush standard output at the end of the command with exit status rc; returns the exit status. A
 * failed write (full disk, closed pipe) is reported if rc is 0, and makes the status 1. */
int say_close_output(int rc);

/** Begin a command, before any output: replace stdout and stderr by streams that print control
 * characters as escapes, and let cJSON record failed allocations (incomplete JSON must not be
 * printed). json: result, notes and warnings are stored until say_close(). */
void say_open(bool json);

/** Print the JSON object of --json with the result, "notes", "warnings" and "error"; returns the
 * exit status. Prints nothing without --json, or without result and error (--help). */
int say_close(int rc);

/** End the output of one of several scans, with exit status rc: with --json, print its object on
 * one line, with the member "scan"; forget notes, warnings and the error. Returns the exit status.
 * After the last scan, say_close() prints no further object. */
int say_document(const char *scan, int rc);

/** Store the JSON result of a command for say_close(), which frees it. false: --json is not given,
 * and the caller prints and frees the result. */
bool say_keep(cJSON *result, bool compact);

/** True if an error was reported. say_first_error(): the first, without "fbp: "; "": none. */
bool say_failed(void);
const char *say_first_error(void);

/** Print an error, "fbp: LINE", on standard error; the first is "error" of --json. */
void say_error(const char *line);

/** Print a note or a warning on standard error, and store it for --json; quiet: only store. */
void say_note(bool quiet, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void say_warning(bool quiet, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** Store all further notes and warnings for say_remembered(), even if --json is not given. */
void say_remember(void);
/** Array of the stored warnings (warnings true) or notes; NULL: none are stored. */
const cJSON *say_remembered(bool warnings);

/** Escape line feeds and tabs in a text within a line, such as a file name; other control
 * characters are escaped when printed. The result is valid until the fourth call after this. */
const char *say_name(const char *text);

/** Print on stderr a progress line in place of the last, cut to the terminal's width; "": erase. */
void say_bar(const char *line);

/** JSON text, to be freed by the caller; frees `value`. NULL: no memory. compact: on one line. */
char *say_json_text(cJSON *value, bool compact);
/** Print a JSON value on standard output and free the value; returns the exit status. */
int say_json(cJSON *value, bool compact);

#endif /* FBP_CLI_SAY_H */
