/** @file inject_calls.h  Inside the preloaded library: which calls can fail, and how. */
#ifndef FBP_TESTS_INJECT_CALLS_H
#define FBP_TESTS_INJECT_CALLS_H

#include "inject.h"

#include <stdbool.h>
#include <stddef.h>

/** In the order of fault_kinds. */
enum {
    FAULT_MALLOC,
    FAULT_CALLOC,
    FAULT_REALLOC,
    FAULT_MEMALIGN,
    FAULT_MEMORY, /**< any of these */
    FAULT_THREAD,
    FAULT_FORK,
    FIRST_SYSCALL
};

/** Is it this call's turn?  Counts it. */
bool fault_now(int kind);

/** From here on calls count. */
void fault_arm(struct fault_state *shared);

/** System calls of this kind come to a handler from here on, in children and later threads, too. */
void fault_filter(int kind);

/** Requests until there are no more; returns an exit status. */
int fault_serve(int (*real_main)(int, char **, char **), char **env);

#endif /* FBP_TESTS_INJECT_CALLS_H */
