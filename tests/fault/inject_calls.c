/* System calls that fail: a seccomp filter sends those of one kind to a handler of SIGSYS, which
 * does the call itself, from one place that the filter lets through, or gives an error. */
#include "inject_calls.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

/* What a kind does to a call. */
enum effect {
    FAILS,
    CLOSES, /* fails, but has closed the descriptor, as Linux does */
    HALF,   /* does half of it */
    ENDS,   /* gives 0 */
    KILLS
};

/* System calls that this machine lacks. */
enum { NONE = -1 };
#ifndef SYS_open
#    define SYS_open    NONE
#    define SYS_creat   NONE
#    define SYS_rename  NONE
#    define SYS_link    NONE
#    define SYS_symlink NONE
#    define SYS_unlink  NONE
#    define SYS_rmdir   NONE
#    define SYS_mkdir   NONE
#    define SYS_stat    NONE
#    define SYS_lstat   NONE
#    define SYS_poll    NONE
#    define SYS_pipe    NONE
#endif

#define MOST 12
static const struct kind {
    const char *name;
    int error;
    enum effect effect;
    int calls[MOST]; /* those that count; 0 ends, NONE is passed over; read() is 0 + 1000 */
} kinds[] = {
#define READS  SYS_read + 1000, SYS_pread64, SYS_readv, SYS_preadv
#define WRITES SYS_write, SYS_pwrite64, SYS_writev, SYS_pwritev, SYS_copy_file_range, SYS_sendfile
#define SYNCS  SYS_fsync, SYS_fdatasync, SYS_msync, SYS_sync_file_range
    {"mmap", ENOMEM, FAILS, {SYS_mmap, SYS_mremap}},
    {"open", EMFILE, FAILS, {SYS_open, SYS_openat, SYS_creat}},
    {"read", EIO, FAILS, {READS}},
    {"read-short", 0, HALF, {READS}},
    {"read-end", 0, ENDS, {READS}},
    {"read-intr", EINTR, FAILS, {READS}},
    {"write", ENOSPC, FAILS, {WRITES}},
    {"write-short", 0, HALF, {WRITES}},
    {"write-intr", EINTR, FAILS, {WRITES}},
    {"rename", EIO, FAILS, {SYS_rename, SYS_renameat, SYS_renameat2}},
    {"link", EPERM, FAILS, {SYS_link, SYS_linkat, SYS_symlink, SYS_symlinkat}},
    {"close", EIO, CLOSES, {SYS_close}},
    {"fsync", EIO, FAILS, {SYNCS}},
    {"truncate", ENOSPC, FAILS, {SYS_truncate, SYS_ftruncate, SYS_fallocate}},
    {"unlink", EIO, FAILS, {SYS_unlink, SYS_unlinkat, SYS_rmdir}},
    {"stat", EIO, FAILS, {SYS_stat, SYS_lstat, SYS_fstat, SYS_newfstatat, SYS_statx}},
    {"mkdir", ENOSPC, FAILS, {SYS_mkdir, SYS_mkdirat}},
    {"readdir", EIO, FAILS, {SYS_getdents64}},
    {"pipe", EMFILE, FAILS, {SYS_pipe, SYS_pipe2, SYS_dup3}},
    {"lock", ENOLCK, FAILS, {SYS_flock}},
    {"poll-intr", EINTR, FAILS, {SYS_poll, SYS_ppoll}},
    {"wait-intr", EINTR, FAILS, {SYS_wait4, SYS_waitid}},
    {"space", EIO, FAILS, {SYS_statfs, SYS_fstatfs}},
    {"seek", EIO, FAILS, {SYS_lseek}},
    {"kill",
     0,
     KILLS,
     {WRITES, SYS_rename, SYS_renameat2, SYS_fsync, SYS_fdatasync, SYS_ftruncate, SYS_unlink}},
};

static const struct kind *now;
static int now_index;

/* A system call from the one place that the filter lets through. */
long fault_syscall(long nr, long a, long b, long c, long d, long e, long f);
extern char fault_syscall_end[];

#if defined(__x86_64__)
__asm__(".text\n.globl fault_syscall\n.hidden fault_syscall\n.type fault_syscall,@function\n"
        "fault_syscall:\n"
        "mov %rdi,%rax\nmov %rsi,%rdi\nmov %rdx,%rsi\nmov %rcx,%rdx\nmov %r8,%r10\nmov %r9,%r8\n"
        "mov 8(%rsp),%r9\nsyscall\n"
        ".globl fault_syscall_end\n.hidden fault_syscall_end\nfault_syscall_end:\nret\n");
#    define MACHINE AUDIT_ARCH_X86_64
static void arguments(ucontext_t *u, long *a)
{
    const greg_t *r = u->uc_mcontext.gregs;
    const int order[] = {REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9};

    for (int i = 0; i < 6; i++)
        a[i] = (long)r[order[i]];
}
static void give(ucontext_t *u, long value)
{
    u->uc_mcontext.gregs[REG_RAX] = value;
}
#elif defined(__aarch64__)
__asm__(".text\n.globl fault_syscall\n.hidden fault_syscall\n.type fault_syscall,%function\n"
        "fault_syscall:\n"
        "mov x8,x0\nmov x0,x1\nmov x1,x2\nmov x2,x3\nmov x3,x4\nmov x4,x5\nmov x5,x6\nsvc #0\n"
        ".globl fault_syscall_end\n.hidden fault_syscall_end\nfault_syscall_end:\nret\n");
#    define MACHINE AUDIT_ARCH_AARCH64
static void arguments(ucontext_t *u, long *a)
{
    for (int i = 0; i < 6; i++)
        a[i] = (long)u->uc_mcontext.regs[i];
}
static void give(ucontext_t *u, long value)
{
    u->uc_mcontext.regs[0] = (unsigned long long)value;
}
#endif

static long do_half(long nr, long *a)
{
    const bool vector =
        nr == SYS_readv || nr == SYS_writev || nr == SYS_preadv || nr == SYS_pwritev;

    if (vector)
        a[2] = 1; /* its first piece only */
    else if (a[2] > 1)
        a[2] /= 2;
    return fault_syscall(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* Nothing could be said if standard error failed; no disk is behind a pipe. */
static bool counts(long nr, const long *a)
{
    const bool writes = nr == SYS_write || nr == SYS_writev;
    struct stat is;

    return !writes ||
           (a[0] != STDERR_FILENO && !(fstat((int)a[0], &is) == 0 && S_ISFIFO(is.st_mode)));
}

static void handle(int sig, siginfo_t *info, void *context)
{
    ucontext_t *u = context;
    const long nr = info->si_syscall;
    const int before = errno;
    long a[6];

    arguments(u, a);
    if (!counts(nr, a) || !fault_now(now_index)) {
        give(u, fault_syscall(nr, a[0], a[1], a[2], a[3], a[4], a[5]));
    } else if (now->effect == KILLS) {
        fault_syscall(SYS_kill, getpid(), SIGKILL, 0, 0, 0, 0);
    } else if (now->effect == HALF) {
        give(u, do_half(nr, a));
    } else if (now->effect == ENDS) {
        give(u, 0);
    } else {
        if (now->effect == CLOSES)
            fault_syscall(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
        give(u, -now->error);
    }
    errno = before;
}

static struct sock_filter load(size_t offset)
{
    return (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset);
}

/* "This machine, not from our place, and one of these calls": a trap. */
static unsigned short make_filter(struct sock_filter *f)
{
    const uint64_t place = (uint64_t)(uintptr_t)fault_syscall_end;
    const size_t ip = offsetof(struct seccomp_data, instruction_pointer);
    unsigned short n = 0;

    f[n++] = load(offsetof(struct seccomp_data, arch));
    f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MACHINE, 1, 0);
    f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    f[n++] = load(ip);
    f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)place, 0, 3);
    f[n++] = load(ip + 4);
    f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(place >> 32), 0, 1);
    f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    f[n++] = load(offsetof(struct seccomp_data, nr));
    for (int i = 0; i < MOST && now->calls[i]; i++) {
        const int call = now->calls[i];
        if (call == NONE)
            continue;
        const uint32_t nr = (uint32_t)(call == SYS_read + 1000 ? SYS_read : call);
        f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1);
        f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
    }
    f[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    return n;
}

void fault_filter(int kind)
{
    struct sigaction act = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_NODEFER};
    struct sock_filter filter[16 + 2 * MOST];

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, fault_kinds[kind]) == 0)
            now = &kinds[i];
    now_index = kind;
    struct sock_fprog program = {.len = make_filter(filter), .filter = filter};
    if (sigaction(SIGSYS, &act, NULL) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        static const char text[] = "inject: this system has no filters of system calls\n";
        (void)!write(STDERR_FILENO, text, sizeof text - 1);
        _exit(77);
    }
}
