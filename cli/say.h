/** @file say.h  What is said: errors, warnings, notes, and with --json the one object that holds
 * the result and all of these.
 */
#ifndef FBP_CLI_SAY_H
#define FBP_CLI_SAY_H

#include <cjson/cJSON.h>

#include <stdbool.h>

/** From here on stdout and stderr show control characters instead of obeying them. */
void say_open_streams(void);

/** From here on nothing is printed: another process speaks for this one. */
void say_nothing(void);

/** That one is lost: what is printed counts again, and the first error, if there is one, is said
 *  now. */
void say_again(void);

/** Everything to standard output; returns the exit status.  A disk that is full or a pipe that is
 *  closed shows only now, and is said if all else went well: one failure, one line. */
int say_close_output(int rc);

/** Before any JSON is made: what lacks something because memory ended is not printed. */
void say_watch_memory(void);

/** With `json` the command's result is kept, and say_close() prints it. */
void say_open(bool json);

/** Print the one object, with "notes", "warnings" and, after a failure, "error"; returns the exit
 *  status.  Does nothing without json, nor if nothing was to be said. */
int say_close(int rc);

/** The result; takes it over.  false: there is no --json, print it. */
bool say_keep(cJSON *result, bool compact);

/** One of a benchmark's measurements, compact, kept for the list "measurements" of the one object;
 *  takes it over. */
void say_add(cJSON *measurement);

/** Has an error been said?  And the first, without "fbp: "; "": none. */
bool say_failed(void);
const char *say_first_error(void);

/** "fbp: …" on standard error, as one line; the first is the "error" of the object. */
void say_error(const char *line);

/** A line for a person, and in the object; `quiet`: in the object alone. */
void say_note(bool quiet, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void say_warning(bool quiet, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** From here on notes and warnings are remembered, also without --json. */
void say_remember(void);
/** The warnings, or the notes, so far: a list of texts; NULL: nothing is remembered. */
const cJSON *say_remembered(bool warnings);

/** A name, or a text of a file, as part of a line that is printed: what would begin another line is
 * an escape.  Valid until the fourth call after it; other control characters are the streams' to
 * show. */
const char *say_name(const char *text);

/** A line that the next one replaces, to the terminal; "": none. */
void say_bar(const char *line);

/** A value as text for a file, with a final newline; frees the value; free().  NULL: no memory. */
char *say_json_text(cJSON *value, bool compact);
/** Print a value, which is freed; returns the exit status. */
int say_json(cJSON *value, bool compact);

#endif /* FBP_CLI_SAY_H */
