/** @file signals.h  Ctrl-C and its like: the first asks for an end, the second is one. */
#ifndef FBP_CLI_SIGNALS_H
#define FBP_CLI_SIGNALS_H

/**
 * Take over SIGINT, SIGTERM and SIGHUP (unless that is ignored, as under nohup): the first one
 * makes every call of the library return, so that all is cleaned up; the second ends the process at
 * once.  A file that grows too large is a failed write and no signal (SIGXFSZ).
 */
void signals_start(void);

/** 128 + the signal that came, the exit status of a command that it stopped; 0: none came. */
int signals_status(void);

#endif /* FBP_CLI_SIGNALS_H */
