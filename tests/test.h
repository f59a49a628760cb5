/** @file test.h  The frame of a test: cmocka and the standard headers, TEST(), OK(), main(). */
#ifndef FBP_TESTS_TEST_H
#define FBP_TESTS_TEST_H

#include "fbp/fbp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** Fail with the library's own sentence. */
#define OK(expr)                                      \
    do {                                              \
        if ((expr) != FBP_OK)                         \
            fail_msg("%s: %s", #expr, fbp_message()); \
    } while (0)

/** A text has this part. */
#define assert_contains(text, part)                                 \
    do {                                                            \
        if (!strstr(text, part))                                    \
            fail_msg("\"%s\" does not contain \"%s\"", text, part); \
    } while (0)

/** The last message has this part. */
#define assert_says(part) assert_contains(fbp_message(), part)

/** A call fails with this status, and the message has this part. */
#define assert_fails(expr, status, part)                                                 \
    do {                                                                                 \
        const fbp_status got_status = (expr);                                            \
        if (got_status != (status) || !strstr(fbp_message(), part))                      \
            fail_msg("%s: status %d, message \"%s\"; expected status %d, \"%s\"", #expr, \
                     (int)got_status, fbp_message(), (int)(status), part);               \
    } while (0)

/** A pointer that must not be NULL. */
static inline void *not_null(const void *pointer)
{
    assert_non_null(pointer);
    return (void *)pointer;
}

/** A text as printf() prints it; malloc'ed. */
__attribute__((format(printf, 1, 2))) static inline char *printed(const char *format, ...)
{
    va_list values;
    char *out = NULL;

    va_start(values, format);
    assert_true(vasprintf(&out, format, values) >= 0);
    va_end(values);
    return out;
}

static inline void free_local(void *variable)
{
    void *memory;

    memcpy(&memory, variable, sizeof memory);
    free(memory);
}

/** Before the declaration of a local variable: the function that gets its address where its block
 *  ends. */
#define CLEANUP(function) __attribute__((cleanup(function)))
#define AUTO_FREE         CLEANUP(free_local) /**< a pointer whose memory is freed */
#define AUTO_CLEAR        CLEANUP(fbp_scan_clear)

static inline void put_file(const char *path, const void *data, size_t n)
{
    FILE *f = not_null(fopen(path, "w"));

    assert_int_equal(fwrite(data, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

/** The next number of a sequence, from 0 to below 1. */
static inline double random01(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) * 0x1p-24;
}

/** Number of files in a folder; 0 if there is none. */
static inline size_t files_in(const char *folder)
{
    DIR *dir = opendir(folder);
    size_t n = 0;

    if (!dir)
        return 0;
    while (readdir(dir))
        n++;
    closedir(dir);
    return n - 2;
}

/* Objects of the library, or a failure. */

static inline struct fbp_scan open_scan(const char *path)
{
    struct fbp_scan scan = {.struct_size = sizeof scan};

    OK(fbp_scan_load(&scan, path, NULL));
    return scan;
}

static inline struct fbp_phantom create_phantom(const char *name, double half_mm, double scale)
{
    struct fbp_phantom phantom;

    OK(fbp_phantom_create(&phantom, name, half_mm, scale));
    return phantom;
}

static inline fbp_source *open_source(const char *path, const struct fbp_raw *raw)
{
    fbp_source *source = NULL;

    OK(fbp_source_open(&source, path, raw));
    return source;
}

static inline fbp_source *memory_source(const void *values, const struct fbp_array_info *info)
{
    fbp_source *source = NULL;

    OK(fbp_source_memory(&source, values, info));
    return source;
}

static inline fbp_sink *create_sink(const char *path, const struct fbp_array_info *info,
                                    const struct fbp_sink_params *params)
{
    fbp_sink *sink = NULL;

    OK(fbp_sink_open(&sink, path, info, params));
    return sink;
}

static inline fbp_plan *create_plan(const struct fbp_scan *scan,
                                    const struct fbp_recon_params *params)
{
    fbp_plan *plan = NULL;

    OK(fbp_plan_create(&plan, scan, params));
    return plan;
}

/** No plan is made: this status, and the message has this part. */
#define assert_no_plan(scan, params, status, part) \
    assert_fails(fbp_plan_create(&(fbp_plan *){NULL}, scan, params), status, part)

/** Write an array, all at once. */
static inline void save_array(const char *path, const struct fbp_array_info *info,
                              const struct fbp_sink_params *params, const void *values)
{
    CLEANUP(fbp_sink_close) fbp_sink *sink = create_sink(path, info, params);

    OK(fbp_sink_write(sink, 0, info->n[2], FBP_F32, values));
    OK(fbp_sink_finish(sink));
}

/** A circle with the same distances in all views. */
#define circle_of(number, angles, sod, sdd, ...)                   \
    ((struct fbp_circle){.struct_size = sizeof(struct fbp_circle), \
                         .n_views = (number),                      \
                         .angles_rad = (angles),                   \
                         .sod_mm = &(const double){sod},           \
                         .sdd_mm = &(const double){sdd},           \
                         .n_sod = 1,                               \
                         .n_sdd = 1,                               \
                         __VA_ARGS__})

/** The tests of a file, in their order there. */
static struct CMUnitTest file_tests[64];

static inline void add_test(struct CMUnitTest test)
{
    size_t i = 0;

    while (file_tests[i].name)
        i++;
    if (i + 1 == sizeof file_tests / sizeof *file_tests)
        abort();
    file_tests[i] = test;
}

/** Begins a test with a function that runs before it and one that runs after it, or NULL. */
#define TEST_WITH(name, set_up, tear_down)                                                     \
    static void name(void **state);                                                            \
    __attribute__((constructor)) static void add_##name(void)                                  \
    {                                                                                          \
        add_test((struct CMUnitTest)cmocka_unit_test_setup_teardown(name, set_up, tear_down)); \
    }                                                                                          \
    static void name(void **state)

/** Begins a test. */
#define TEST(name) TEST_WITH(name, NULL, NULL)

/** Run the tests of this file, or those whose names match the first argument, between a function
 *  that prepares all of them and one that removes what it made, or NULL. */
static inline int run_file_tests(int argc, char **argv, CMFixtureFunction set_up,
                                 CMFixtureFunction tear_down)
{
    cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
    return cmocka_run_group_tests(file_tests, set_up, tear_down);
}

/** The last line of a file of tests. */
#define TEST_MAIN(set_up, tear_down)                          \
    int main(int argc, char **argv)                           \
    {                                                         \
        return run_file_tests(argc, argv, set_up, tear_down); \
    }

#endif /* FBP_TESTS_TEST_H */
