/** @file signals.h  Signals that stop the command, such as Ctrl-C. Used by program.c and
 * progress.c. */
#ifndef FBP_CLI_SIGNALS_H
#define FBP_CLI_SIGNALS_H

/**
 * Handle SIGINT, SIGTERM and SIGHUP (SIGHUP unless it is ignored, as under nohup). The first signal
 * makes every call of the library return early, and the command cleans up; the second one ends the
 * process at once. SIGXFSZ is ignored: a write beyond the limit of file size then fails.
 */
void signals_start(void);

/** Exit status after a signal: 128 + number of the first signal; 0: no signal was received. */
int signals_status(void);

#endif /* FBP_CLI_SIGNALS_H */
