/* inject.c  Preloaded into a program, lets the n-th call of a kind fail (glibc, Linux).
 *
 *     LD_PRELOAD=libinject.so FBP_FAULT=malloc:17 fbp recon ...     the 17th malloc() gives NULL
 *     LD_PRELOAD=libinject.so FBP_FAULT=write:3+ fbp recon ...      no write() from the third on
 *     FBP_FAULT_TRACE=1                                             says where, on standard error
 *
 * Calls count from the start of main() on, whoever makes them: the program, its libraries, libc,
 * threads and forked children.  Memory, threads and processes are functions that are defined here
 * in place of libc's.  System calls are stopped by a filter of the kernel's (seccomp) and arrive as
 * signals, so that those from inside libc are seen, too.
 *
 * With FBP_FAULT_SERVER the program waits for requests instead, and forks a run of itself for each
 * (inject_server.c): thousands of runs in a minute.
 */
#include "inject.h"
#include "inject_calls.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);
void *__libc_memalign(size_t align, size_t n);
int __libc_start_main(int (*main_fn)(int, char **, char **), int argc, char **argv,
                      void (*init)(void), void (*fini)(void), void (*ld_fini)(void), void *stack);

static struct fault_state nothing = {.kind = -1};
static struct fault_state *state = &nothing;
static bool armed;
static int trace = -1; /* standard error, which contained children close; -1: say nothing */

static void say_where(int kind)
{
    void *frames[48];
    char text[80];

    if (trace < 0)
        return;
    armed = false; /* what prints calls malloc(), too */
    const int n = snprintf(text, sizeof text, "inject: %s %ld of process %d fails in\n",
                           fault_kinds[kind], state->n, (int)getpid());
    (void)!write(trace, text, (size_t)n);
    backtrace_symbols_fd(frames, backtrace(frames, 48), trace);
    armed = true;
}

bool fault_now(int kind)
{
    if (!armed || state->kind != kind)
        return false;
    const long i = atomic_fetch_add(&state->calls, 1) + 1;
    if (i != state->n && !(state->on && i > state->n))
        return false;
    if (atomic_fetch_add(&state->fired, 1) == 0)
        say_where(kind);
    return true;
}

void fault_arm(struct fault_state *shared)
{
    state = shared;
    if (state->kind < 0)
        return;
    if (getenv("FBP_FAULT_TRACE")) {
        trace = dup(STDERR_FILENO);
        void *frame; /* loads what a backtrace needs */
        backtrace(&frame, 1);
    }
    if (state->kind >= FIRST_SYSCALL)
        fault_filter(state->kind);
    armed = true;
}

static bool no_memory(int kind)
{
    if (!fault_now(kind) && !fault_now(FAULT_MEMORY))
        return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t n)
{
    return no_memory(FAULT_MALLOC) ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
    return no_memory(FAULT_CALLOC) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
    return no_memory(FAULT_REALLOC) ? NULL : __libc_realloc(p, n);
}

void *reallocarray(void *p, size_t n, size_t size)
{
    if (__builtin_mul_overflow(n, size, &n)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(p, n);
}

void *memalign(size_t align, size_t n)
{
    return no_memory(FAULT_MEMALIGN) ? NULL : __libc_memalign(align, n);
}

void *aligned_alloc(size_t align, size_t n)
{
    return memalign(align, n);
}

int posix_memalign(void **out, size_t align, size_t n)
{
    const int before = errno;
    void *p = memalign(align, n);

    errno = before;
    if (!p)
        return ENOMEM;
    *out = p;
    return 0;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

    if (fault_now(FAULT_THREAD))
        return EAGAIN;
    *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    return real(thread, attr, fn, arg);
}

pid_t fork(void)
{
    pid_t (*real)(void);

    if (fault_now(FAULT_FORK)) {
        errno = EAGAIN;
        return -1;
    }
    *(void **)&real = dlsym(RTLD_NEXT, "fork");
    return real();
}

static int (*real_main)(int, char **, char **);

/* "malloc:17", "malloc:17+" */
static bool parse(const char *text, struct fault_state *s)
{
    const char *colon = strchr(text, ':');
    char *end;

    if (!colon)
        return false;
    s->kind = fault_kind(text, (size_t)(colon - text));
    s->n = strtol(colon + 1, &end, 10);
    s->on = *end == '+';
    return s->kind >= 0 && s->n > 0 && end[s->on] == '\0';
}

static int faulty_main(int argc, char **argv, char **env)
{
    static struct fault_state own;
    const char *text = getenv("FBP_FAULT");

    if (getenv(FAULT_SERVER))
        return fault_serve(real_main, env);
    if (text) {
        if (!parse(text, &own)) {
            fprintf(stderr, "inject: FBP_FAULT=%s: expected KIND:N or KIND:N+\n", text);
            return 2;
        }
        fault_arm(&own);
    }
    return real_main(argc, argv, env);
}

/* The program begins here; its main() is replaced by ours. */
int __libc_start_main(int (*main_fn)(int, char **, char **), int argc, char **argv,
                      void (*init)(void), void (*fini)(void), void (*ld_fini)(void), void *stack)
{
    int (*real)(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void),
                void (*)(void), void *);

    real_main = main_fn;
    *(void **)&real = dlsym(RTLD_NEXT, "__libc_start_main");
    return real(faulty_main, argc, argv, init, fini, ld_fini, stack);
}
