/* Error messages of threads (fbp_fail(); fbp_message() is public, as is fbp_version()), checks of
 * arguments and of ranges of numbers, allocation of memory, and the memory that this process uses
 * and may use (base.h).
 * Used by: bench/, cli/, analysis/, array/, backend/, base/, fft/, filter/, geometry/, phantom/,
 * picture/, pipeline/, prep/, scan/, team/, weight/. */
#define FBP_STATUS_C

#include "base/text.h"
#include "fbp/version.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

const char *fbp_version(void)
{
    return FBP_VERSION;
}

/* Errors */

static _Thread_local char message[1200];

const char *fbp_message(void)
{
    return message;
}

void fbp_message_clear(void)
{
    message[0] = '\0';
}

void fbp_message_adopt(const char *text)
{
    /* A message may quote text from a file, whose control characters must not reach a terminal. */
    if (!message[0] && text != message)
        fbp_printable(message, sizeof message, text, strlen(text), "");
}

fbp_status fbp_fail(fbp_status status, const char *fmt, ...)
{
    if (!message[0]) {
        char text[sizeof message];
        FBP_PRINT_ARGUMENTS(text, sizeof text, fmt);
        fbp_message_adopt(text);
    }
    return status;
}

fbp_status fbp_fail_nomem(size_t bytes, const char *what)
{
    char size[32];
    return fbp_fail(FBP_ERR_NOMEM,
                    "memory: cannot allocate %s for %s; lower --memory, or close other programs",
                    fbp_bytes_text(size, sizeof size, bytes), what);
}

fbp_status fbp_error_context(const char *where, fbp_status st)
{
    char cause[sizeof message];

    if (st == FBP_OK)
        return st;
    memcpy(cause, message, sizeof cause);
    message[0] = '\0';
    return fbp_fail(st, "%s: %s", where, cause);
}

/* Checks of arguments */

fbp_status fbp_check_pointers(const char *function, const char *names, const void *const *pointers,
                              size_t n)
{
    for (size_t i = 0; i < n; i++, names += strcspn(names, ","), names += strspn(names, ", "))
        if (!pointers[i]) {
            fbp_message_clear();
            return FBP_INVALID("%s(): the argument %.*s is NULL; give a valid pointer", function,
                               (int)strcspn(names, ","), names);
        }
    return FBP_OK;
}

fbp_status fbp_check_struct(const char *name, const void *theirs, size_t n)
{
    size_t given;

    if (!theirs)
        return FBP_INVALID("%s: found NULL, expected a pointer to a struct", name);
    memcpy(&given, theirs, sizeof given);
    if (given != n)
        return FBP_INVALID("%s: struct_size: found %zu, expected %zu; set it to the size of the "
                           "struct, and build the program with the headers of this library",
                           name, given, n);
    return FBP_OK;
}

fbp_status fbp_copy_struct_in(const char *name, void *own, size_t n, const void *theirs)
{
    FBP_TRY(fbp_check_struct(name, theirs, n));
    memcpy(own, theirs, n);
    return FBP_OK;
}

void fbp_copy_struct_out(void *theirs, const void *own, size_t n)
{
    const size_t first = sizeof n; /* the caller's struct_size stays */

    memcpy((char *)theirs + first, (const char *)own + first, n - first);
}

#define RANGE(name, ...) const struct fbp_range fbp_range_##name = {__VA_ARGS__}
RANGE(finite, -INFINITY, INFINITY, false, "a number that is finite");
RANGE(pitch, FBP_PITCH_MM_MIN, FBP_PITCH_MM_MAX, false, "a number from 1e-9 to 1e6 (mm)");
RANGE(distance, FBP_DISTANCE_MM_MIN, FBP_DISTANCE_MM_MAX, false, "a number from 1e-6 to 1e12 (mm)");
RANGE(position, -FBP_PLACE_MM_MAX, FBP_PLACE_MM_MAX, false, "a number from -1e12 to 1e12 (mm)");
RANGE(angle, -FBP_ANGLE_DEG_MAX, FBP_ANGLE_DEG_MAX, false, "a number from -1e9 to 1e9 (degrees)");
RANGE(rotation, -FBP_TURN_DEG_MAX, FBP_TURN_DEG_MAX, false,
      "a number from -90 to 90, without the ends (degrees)");
RANGE(skew, -FBP_SKEW_DEG_MAX, FBP_SKEW_DEG_MAX, false,
      "a number from -45 to 45, without the ends (degrees)");
RANGE(side, 1, FBP_SIDE_MAX, true, "a whole number from 1 to 1e9");
RANGE(views, 1, FBP_VIEWS_MAX, true, "a whole number from 1 to 1e7");
RANGE(header, 0, FBP_BYTES_MAX, true, "a whole number from 0 to 9e15");
RANGE(i0, FBP_I0_MIN, FBP_I0_MAX, false, "a number from 1e-30 to 1e30");
RANGE(depth, FBP_DEPTH_MIN, FBP_DEPTH_MAX, false, "a number from 1e-30 to 1e30");
RANGE(mu, FBP_MU_MIN, FBP_MU_MAX, false, "a number from 1e-9 to 1e9 (1/mm)");
RANGE(value, -FBP_VALUE_MAX, FBP_VALUE_MAX, false, "a number from -1e30 to 1e30");
RANGE(scale, -FBP_SCALE_MAX, FBP_SCALE_MAX, false, "a number from -1e12 to 1e12");
RANGE(noise, FBP_NOISE_MIN, FBP_NOISE_MAX, false, "a number from 1 to 1e15");
RANGE(noise_sd, 0, FBP_NOISE_SD_MAX, false, "a number from 0 to 1e12");
RANGE(gradient, FBP_GRADIENT_MIN, FBP_GRADIENT_MAX, false, "a gradient from 1e-6 to 1e6 G/cm");
RANGE(decay, FBP_DECAY_MIN, FBP_DECAY_MAX, false, "a number of frames from 0.001 to 1e9");
RANGE(threads, 0, FBP_THREADS_MAX, true, "a whole number from 0 to 4096");
RANGE(seconds, 0, FBP_SECONDS_MAX, false, "a number from 0 to 1e9 (seconds)");
RANGE(cutoff, 1e-6, 1, false, "a number from 1e-6 to 1 (of Nyquist's frequency)");
RANGE(wiener, 1e-12, 1, false, "a number from 1e-12 to 1");
RANGE(bytes, 1, FBP_BYTES_MAX, true, "a whole number from 1 to 9e15 (bytes)");

bool fbp_in_range(const struct fbp_range *r, double x)
{
    return isfinite(x) && x >= r->min && x <= r->max && !(r->whole && x != floor(x));
}

fbp_status fbp_check_range(const struct fbp_range *r, const char *name, double x)
{
    if (fbp_in_range(r, x))
        return FBP_OK;
    return FBP_INVALID("%s: found %.10g, expected %s", name, x, r->expected);
}

fbp_status fbp_check_optional(const struct fbp_range *r, const char *name, double x)
{
    if (x == 0 || fbp_in_range(r, x))
        return FBP_OK;
    return FBP_INVALID("%s: found %.10g, expected %s, or 0 for the default", name, x, r->expected);
}

fbp_status fbp_check_choice(const char *name, long value, long most)
{
    if (value >= 0 && value <= most)
        return FBP_OK;
    return FBP_INVALID("%s: found %ld, expected a value of its enum, 0 to %ld", name, value, most);
}

/* Memory */

fbp_status fbp_mul(size_t a, size_t b, const char *what, size_t *out)
{
    if (__builtin_mul_overflow(a, b, out))
        return fbp_fail(
            FBP_ERR_NOMEM,
            "memory: %s of %zu x %zu elements is too large for any memory; choose smaller sizes",
            what, a, b);
    return FBP_OK;
}

fbp_status fbp_alloc(void **out, size_t bytes, const char *what)
{
    enum { HUGE_PAGE = 2 << 20 };
    const size_t align = bytes >= HUGE_PAGE ? HUGE_PAGE : FBP_ALIGN;
    const size_t rounded = (bytes + FBP_ALIGN - 1) / FBP_ALIGN * FBP_ALIGN;

    /* aligned_alloc() is not called, because it accepts only multiples of the alignment as sizes */
    if (rounded < bytes || posix_memalign(out, align, rounded ? rounded : FBP_ALIGN) != 0)
        *out = NULL;
    if (!*out)
        return fbp_fail_nomem(bytes, what);
    /* Request huge pages only for the part of the block that fills whole huge pages: a partly used
     * huge page would make more memory resident than was requested. */
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

fbp_status fbp_reserve(void **list, size_t size, size_t n, size_t *room, const char *what)
{
    const size_t more = n > 2 * *room ? n : 2 * *room;
    size_t bytes;

    if (n <= *room)
        return FBP_OK;
    FBP_TRY(fbp_mul(more, size, what, &bytes));
    void *larger = realloc(*list, bytes);
    if (!larger)
        return fbp_fail_nomem(bytes, what);
    *list = larger;
    *room = more;
    return FBP_OK;
}

/* Read a number of bytes from a line "Key:   123 kB" of a file under /proc; 0: missing. */
static uint64_t proc_bytes(const char *path, const char *key)
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
    return proc_bytes("/proc/self/status", "VmRSS:");
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
    const uint64_t available = proc_bytes("/proc/meminfo", "MemAvailable:");
    if (available)
        return available;
    return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 2;
}
