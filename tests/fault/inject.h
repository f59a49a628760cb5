/** @file inject.h  What the driver of faults and the preloaded library agree on. */
#ifndef FBP_TESTS_INJECT_H
#define FBP_TESTS_INJECT_H

#include <stdatomic.h>
#include <stddef.h>
#include <sys/types.h>

/** Descriptors that the program's server finds, by their environment variables. */
#define FAULT_SERVER "FBP_FAULT_SERVER" /**< a socket: requests come, replies go */
#define FAULT_SHARED "FBP_FAULT_SHARED" /**< memory: a struct fault_state */

/** One fault, and what became of it; seen by the program, its children and the driver. */
struct fault_state {
    int kind; /**< index in fault_kinds; -1: none */
    long n;   /**< the n-th call fails, from 1 */
    int on;   /**< and every call after it */
    atomic_long calls, fired;
};

/** A run of the program: its words, one after the other, each ended by a 0. */
struct fault_request {
    char folder[256]; /**< where it runs; its output goes to FOLDER.out and FOLDER.err */
    char words[2048];
    int n_words;
};

struct fault_reply {
    pid_t pid;  /**< first: the child that was started; 0: it has ended */
    int status; /**< as waitpid() gives it */
    int leaked; /**< children that it left behind */
};

/** Names of calls that can fail: "malloc", "read-short" ...; NULL after the last. */
extern const char *const fault_kinds[];

/** Index of a name of `n` letters in fault_kinds, -1 if it is none. */
int fault_kind(const char *name, size_t n);

#endif /* FBP_TESTS_INJECT_H */
