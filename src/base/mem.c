#include "base/mem.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { HUGE_PAGE = 2 << 20 };

fbp_status fbp_mul(size_t a, size_t b, const char *what, size_t *out)
{
    if (__builtin_mul_overflow(a, b, out))
        return fbp_fail(FBP_ERR_NOMEM, "memory: %s of %zu x %zu elements does not fit any memory",
                        what, a, b);
    return FBP_OK;
}

fbp_status fbp_alloc(void **out, size_t bytes, const char *what)
{
    const size_t align = bytes >= HUGE_PAGE ? HUGE_PAGE : FBP_ALIGN;
    const size_t rounded = (bytes + FBP_ALIGN - 1) / FBP_ALIGN * FBP_ALIGN;

    /* Not aligned_alloc(), whose sizes must be multiples of a huge page then. */
    if (rounded < bytes || posix_memalign(out, align, rounded ? rounded : FBP_ALIGN) != 0)
        *out = NULL;
    if (!*out)
        return fbp_fail_nomem(bytes, what);
    /* Whole huge pages only, so that no more becomes resident than was asked for. */
    if (align == HUGE_PAGE)
        (void)!madvise(*out, bytes / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
    return FBP_OK;
}

void fbp_free(void *p)
{
    free(p);
}

fbp_status fbp_calloc(void **out, size_t n, size_t size, const char *what)
{
    *out = calloc(n ? n : 1, size);
    return *out ? FBP_OK : fbp_fail_nomem(n * size, what);
}

/* "Key:   123 kB" from a file under /proc; 0 if it is not there. */
static uint64_t proc_kib(const char *path, const char *key)
{
    char line[256];
    unsigned long long kib = 0;
    FILE *f = fopen(path, "r");

    if (!f)
        return 0;
    while (fgets(line, sizeof line, f))
        if (strncmp(line, key, strlen(key)) == 0) {
            kib = strtoull(line + strlen(key), NULL, 10);
            break;
        }
    fclose(f);
    return (uint64_t)kib * 1024;
}

uint64_t fbp_resident_bytes(void)
{
    return proc_kib("/proc/self/status", "VmRSS:");
}

static _Atomic uint64_t process_limit;

void fbp_limit_memory(size_t bytes)
{
    process_limit = bytes;
}

uint64_t fbp_process_limit(void)
{
    return process_limit;
}

uint64_t fbp_available_bytes(void)
{
    const uint64_t available = proc_kib("/proc/meminfo", "MemAvailable:");
    if (available)
        return available;
    return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 2;
}
