/* Whole files and arrays for the tests of sources and sinks. */
#ifndef FBP_TESTS_IO_UTIL_H
#define FBP_TESTS_IO_UTIL_H

#include "base/base.h"
#include "test.h"

/* Text, then n bytes of samples. */
static inline void put_array(const char *path, const char *header, const void *data, size_t n)
{
    const size_t h = strlen(header);
    AUTO_FREE char *all = not_null(malloc(h + n + 1));
    memcpy(all, header, h);
    if (n)
        memcpy(all + h, data, n);
    put_file(path, all, h + n);
}

/* free() it. */
static inline char *get_file(const char *path, size_t *n)
{
    FILE *f = not_null(fopen(path, "r"));
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    *n = (size_t)ftell(f);
    rewind(f);
    char *data = not_null(malloc(*n + 1));
    assert_int_equal(fread(data, 1, *n, f), *n);
    data[*n] = '\0';
    fclose(f);
    return data;
}

static inline bool is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

#endif /* FBP_TESTS_IO_UTIL_H */
