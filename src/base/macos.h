/** @file macos.h  Calls of Linux, and of its C library, that macOS lacks, by calls that it has
 * (internal). On macOS, CMakeLists.txt includes this file before each source file; other systems do
 * not use it. */
#ifndef FBP_SRC_MACOS_H
#define FBP_SRC_MACOS_H

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>
#include <xlocale.h>

#define MACOS static inline __attribute__((unused))

double lgamma_r(double, int *);

#define st_mtim                 st_mtimespec
#define __rlimit_resource_t     int
#define getxattr(f, n, v, s)    getxattr(f, n, v, s, 0, 0)
#define setxattr(f, n, v, s, o) setxattr(f, n, v, s, 0, o)

/* Hints and settings that macOS does without. */
#define MADV_HUGEPAGE                     MADV_NORMAL
#define sync_file_range(fd, from, n, how) ((void)(fd), (void)(from), (void)(n), 0)
#define mallopt(what, value)              ((void)0)
#define prctl(what, value)                ((void)0)
#define _SC_LEVEL2_CACHE_SIZE             (-1)

/* NUMA nodes: the calls fail. */
enum { MPOL_DEFAULT, MPOL_PREFERRED };
#define syscall(...) (-1)

typedef int cpu_set_t; /* number of cores */
#define sched_getaffinity(process, n, set) (*(set) = (int)sysconf(_SC_NPROCESSORS_ONLN), 0)
#define CPU_COUNT(set)                     (*(set))

/* open() of a folder for writing fails, and files with temporary names are used. */
#define O_TMPFILE O_DIRECTORY

/* The caller compares the size with the free space instead. */
#define fallocate(fd, mode, at, n) ((void)(fd), (void)(n), errno = EOPNOTSUPP, -1)

#define syncfs(fd) ((void)(fd), sync(), 0)

#define GRND_NONBLOCK          0
#define getrandom(out, n, how) (getentropy(out, n) == 0 ? (ssize_t)(n) : -1)

#define RENAME_NOREPLACE RENAME_EXCL
MACOS int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned how)
{
    const int code = renameatx_np(from_dir, from, to_dir, to, how);

    if (code < 0 && errno == ENOTSUP)
        errno = EINVAL;
    return code;
}

#define MFD_CLOEXEC 0
MACOS int memfd_create(const char *name, unsigned flags)
{
    char path[] = "/tmp/fbp-XXXXXX";
    const int fd = mkostemp(path, O_CLOEXEC);

    (void)name, (void)flags;
    if (fd >= 0)
        (void)unlink(path);
    return fd;
}

MACOS void *memrchr(const void *bytes, int c, size_t n)
{
    for (const unsigned char *p = (const unsigned char *)bytes + n; n > 0; n--)
        if (*--p == (unsigned char)c)
            return (void *)p;
    return NULL;
}

/* Order of texts in which digits are numbers. */
MACOS int strverscmp(const char *a, const char *b)
{
    for (; *a || *b; a++, b++) {
        if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b) && *a != '0' && *b != '0') {
            const size_t n = strspn(a, "0123456789"), m = strspn(b, "0123456789");
            const int order = n < m ? -1 : n > m ? 1 : strncmp(a, b, n);
            if (order != 0)
                return order;
            a += n - 1;
            b += m - 1;
        } else if (*a != *b) {
            return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
        }
    }
    return 0;
}

MACOS int versionsort(const struct dirent **a, const struct dirent **b)
{
    return strverscmp((*a)->d_name, (*b)->d_name);
}

/* The arguments of qsort_r() and of its function have another order. */
struct macos_order {
    int (*compare)(const void *, const void *, void *);
    void *argument;
};

MACOS int macos_compare(void *order, const void *a, const void *b)
{
    const struct macos_order *o = order;

    return o->compare(a, b, o->argument);
}
#define qsort_r(all, n, size, compare, argument) \
    qsort_r(all, n, size, &(struct macos_order){compare, argument}, macos_compare)

/* Conditions have no clock: all deadlines of this library are on the monotonic one. */
#define pthread_condattr_setclock(attr, clock) ((void)(attr), 0)
MACOS int macos_wait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *deadline)
{
    const long second = 1000000000;
    struct timespec now = {0};

    clock_gettime(CLOCK_MONOTONIC, &now);
    struct timespec left = {deadline->tv_sec - now.tv_sec, deadline->tv_nsec - now.tv_nsec};
    if (left.tv_nsec < 0)
        left = (struct timespec){left.tv_sec - 1, left.tv_nsec + second};
    return left.tv_sec < 0 ? ETIMEDOUT : pthread_cond_timedwait_relative_np(c, m, &left);
}
#define pthread_cond_timedwait macos_wait

/* Streams that only write. */
typedef struct {
    ssize_t (*write)(void *, const char *, size_t);
} cookie_io_functions_t;

struct macos_stream {
    void *cookie;
    cookie_io_functions_t calls;
};

MACOS int macos_write(void *stream, const char *bytes, int n)
{
    const struct macos_stream *s = stream;
    const ssize_t put = s->calls.write(s->cookie, bytes, (size_t)n);

    return put > 0 ? (int)put : -1;
}

MACOS int macos_close(void *stream)
{
    free(stream);
    return 0;
}

MACOS FILE *fopencookie(void *cookie, const char *mode, cookie_io_functions_t calls)
{
    struct macos_stream *s = malloc(sizeof *s);

    (void)mode;
    if (s)
        *s = (struct macos_stream){cookie, calls};
    return s ? funopen(s, NULL, macos_write, NULL, macos_close) : NULL;
}

/* Descriptors get their flags after they were made. */
#define SOCK_CLOEXEC  0
#define SOCK_NONBLOCK 0
MACOS int macos_flags(int fd, int flags)
{
    if (fd >= 0) {
        fcntl(fd, F_SETFD, FD_CLOEXEC);
        fcntl(fd, F_SETFL, flags);
    }
    return fd;
}
#define socket(family, type, protocol)      macos_flags(socket(family, type, protocol), O_NONBLOCK)
#define accept4(fd, address, length, flags) macos_flags(accept(fd, address, length), O_NONBLOCK)
#define pipe2(ends, flags) \
    (pipe(ends) ? -1 : (macos_flags((ends)[0], 0), macos_flags((ends)[1], 0), 0))

#endif /* FBP_SRC_MACOS_H */
