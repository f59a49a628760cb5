/* Names of calls that can fail; of the preloaded library and of the driver. */
#include "inject.h"

#include <string.h>

const char *const fault_kinds[] = {
    "malloc",      "calloc",     "realloc", "memalign",   "memory",   "thread",    "fork",
    "mmap",        "open",       "read",    "read-short", "read-end", "read-intr", "write",
    "write-short", "write-intr", "rename",  "link",       "close",    "fsync",     "truncate",
    "unlink",      "stat",       "mkdir",   "readdir",    "pipe",     "lock",      "poll-intr",
    "wait-intr",   "space",      "seek",    "kill",       NULL,
};

int fault_kind(const char *name, size_t n)
{
    for (int i = 0; fault_kinds[i]; i++)
        if (strlen(fault_kinds[i]) == n && strncmp(fault_kinds[i], name, n) == 0)
            return i;
    return -1;
}
