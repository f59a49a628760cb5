#include "base/cpu_features.h"

#include "base/environment.h"

#include <stdio.h>
#include <string.h>
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
