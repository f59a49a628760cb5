/* Instruction sets and NUMA nodes of the host. libnuma is often missing, so the system calls are
 * used. */
#include "base/cpu.h"

#include "base/environment.h"

#include <ctype.h>
#include <linux/mempolicy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static unsigned detect(void)
{
    unsigned flags = 0;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        flags |= FBP_CPU_AVX2;
    if (flags && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
        flags |= FBP_CPU_AVX512;
    if (flags && __builtin_cpu_is("intel"))
        flags |= FBP_CPU_GATHER;
#endif
    return flags;
}

unsigned fbp_cpu_flags(void)
{
    const char *level = fbp_environment(FBP_ENV_CPU);
    unsigned flags = detect();

    if (level && strcmp(level, "c") == 0)
        flags = 0;
    else if (level && strcmp(level, "avx2") == 0)
        flags &= FBP_CPU_AVX2 | FBP_CPU_GATHER;
    return flags;
}

const char *fbp_cpu_level(unsigned flags)
{
    return flags & FBP_CPU_AVX512 ? "avx512" : flags & FBP_CPU_AVX2 ? "avx2" : "c";
}

const char *fbp_cpu_model(char *buf, unsigned long n)
{
    static const char key[] = "model name";
    char line[256];
    FILE *f = fopen("/proc/cpuinfo", "r");

    buf[0] = '\0';
    while (f && fgets(line, sizeof line, f)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, key, sizeof key - 1) == 0 && colon) {
            snprintf(buf, n, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
            break;
        }
    }
    if (f)
        fclose(f);
    return buf;
}

unsigned long fbp_cpu_level2_bytes(void)
{
    const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return bytes > 0 ? (unsigned long)bytes : 512ul << 10;
}

/* The system's calls as they are: libnuma is often not there. */

enum { MOST_PATH = 512, MOST_LINE = 4096, MOST_NODES = 1024 };

enum { WORD_BITS = 8 * sizeof(unsigned long), WORDS = MOST_NODES / WORD_BITS };

/* The first line of a small file; false if there is none. */
static bool read_line(const char *sys, const char *name, char line[MOST_LINE])
{
    char path[MOST_PATH];

    if (snprintf(path, sizeof path, "%s/%s", sys, name) >= (int)sizeof path)
        return false;
    FILE *file = fopen(path, "r");
    const bool ok = file && fgets(line, MOST_LINE, file);
    if (file)
        (void)fclose(file);
    return ok;
}

/* A number from 0 to below MOST_NODES at *text, which moves behind it; -1: there is none. */
static int take_number(const char **text)
{
    char *end;

    if (!isdigit((unsigned char)**text))
        return -1;
    const unsigned long value = strtoul(*text, &end, 10);
    *text = end;
    return value < MOST_NODES ? (int)value : -1;
}

/* How many a list such as "0-3,8" names; 0 if it is none. */
static int count_list(const char *text)
{
    int n = 0;

    for (;; text++) {
        const int first = take_number(&text);
        const int last = *text == '-' ? (text++, take_number(&text)) : first;
        if (first < 0 || last < first)
            return 0;
        n += last - first + 1;
        if (*text != ',')
            return *text == '\n' || *text == '\0' ? n : 0;
    }
}

/* Digits of hexadecimal numbers and what stands between them: no path to anywhere else. */
static bool is_bus_id(const char *text)
{
    return *text && strspn(text, "0123456789abcdefABCDEF:.") == strlen(text) && !strstr(text, "..");
}

int fbp_numa_node(const char *sys, const char *bus_id)
{
    char name[MOST_PATH], line[MOST_LINE];
    const char *at = line;

    if (!is_bus_id(bus_id) ||
        snprintf(name, sizeof name, "bus/pci/devices/%s/numa_node", bus_id) >= (int)sizeof name)
        return -1;
    for (char *c = name; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    if (!read_line(sys, name, line))
        return -1;
    const int node = take_number(&at);
    return *at == '\n' || *at == '\0' ? node : -1;
}

int fbp_numa_near(const char *sys, const char *bus_id)
{
    char line[MOST_LINE];

    if (!read_line(sys, "devices/system/node/online", line) || count_list(line) < 2)
        return -1;
    return fbp_numa_node(sys, bus_id);
}

/* Has the user, or who started this program, placed its memory? */
static bool is_placed(void)
{
    int mode = MPOL_DEFAULT;

    return syscall(SYS_get_mempolicy, &mode, NULL, 0UL, NULL, 0UL) != 0 || mode != MPOL_DEFAULT;
}

/* The system counts one bit less than it is told. */
static void make_mask(unsigned long mask[WORDS], int node)
{
    memset(mask, 0, WORDS * sizeof *mask);
    mask[node / WORD_BITS] = 1UL << node % WORD_BITS;
}

void fbp_numa_place(void *memory, size_t bytes, int node)
{
    unsigned long mask[WORDS];

    if (node < 0 || node >= MOST_NODES || is_placed())
        return;
    make_mask(mask, node);
    (void)syscall(SYS_mbind, memory, bytes, (long)MPOL_PREFERRED, mask, (long)MOST_NODES + 1, 0L);
}

bool fbp_numa_begin(int node)
{
    unsigned long mask[WORDS];

    if (node < 0 || node >= MOST_NODES || is_placed())
        return false;
    make_mask(mask, node);
    return syscall(SYS_set_mempolicy, (long)MPOL_PREFERRED, mask, (long)MOST_NODES + 1) == 0;
}

void fbp_numa_end(void)
{
    (void)syscall(SYS_set_mempolicy, (long)MPOL_DEFAULT, NULL, 0L);
}
