/* Checks the file of fastest kernel shapes (cuda-shapes): stored shapes are found again, and a
 * damaged file or a missing folder does no harm. */
#include "backend/gpu/tuner.h"
#include "backend/module.h"
#include "test.h"

#include <dirent.h>
#include <sys/stat.h>
#include <sys/wait.h>

static const struct fbp_module_host host = {.cache_get = fbp_cache_get, .cache_put = fbp_cache_put};
static const struct fbp_cache_file file = {"some-shapes",
                                           "fbp: fastest shapes of some kernels, version 1\n"};

#define FOLDER FBP_TEST_DIR "/gpu_tuned"
#define FILE_  FOLDER "/fbp/some-shapes"

static int start_empty(void **state)
{
    gpu_host = &host;
    (void)unlink(FILE_);
    (void)rmdir(FILE_);
    (void)rmdir(FOLDER "/fbp");
    (void)rmdir(FOLDER);
    setenv("XDG_CACHE_HOME", FOLDER, 1);
    return 0;
}

TEST_WITH(what_is_kept_is_found, start_empty, NULL)
{
    assert_int_equal(gpu_tuned_read(&file, "a card, matrix", 4), -1);
    gpu_tuned_write(&file, "a card, matrix", 2);
    gpu_tuned_write(&file, "a card, matrix exact", 1);
    gpu_tuned_write(&file, "another, matrix", 3);
    assert_int_equal(gpu_tuned_read(&file, "a card, matrix", 4), 2);
    assert_int_equal(gpu_tuned_read(&file, "a card, matrix exact", 4), 1);
    gpu_tuned_write(&file, "a card, matrix", 0);
    assert_int_equal(gpu_tuned_read(&file, "a card, matrix", 4), 0);
    assert_int_equal(gpu_tuned_read(&file, "another, matrix", 4), 3);
    assert_int_equal(gpu_tuned_read(&file, "a card", 4), -1);
}

/* Of a version that had more shapes. */
TEST_WITH(shapes_that_are_not_there, start_empty, NULL)
{
    gpu_tuned_write(&file, "key", 7);
    assert_int_equal(gpu_tuned_read(&file, "key", 8), 7);
    assert_int_equal(gpu_tuned_read(&file, "key", 7), -1);
}

TEST_WITH(damage_is_ignored_and_repaired, start_empty, NULL)
{
    static const char *const damaged[] = {
        "",
        "\n",
        "something else\nkey\t1\n",
        "fbp: fastest shapes of some kernels, version 1\nkey\t1", /* cut off */
        "fbp: fastest shapes of some kernels, version 1\nkey\t\n",
        "fbp: fastest shapes of some kernels, version 1\nkey\t-1\n",
        "fbp: fastest shapes of some kernels, version 1\nkey\t1x\n",
        "fbp: fastest shapes of some kernels, version 1\nkey\t99999999999999999999\n",
        "fbp: fastest shapes of some kernels, version 1\nkey 1\n",
    };

    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        gpu_tuned_write(&file, "folders", 0);
        put_file(FILE_, damaged[i], strlen(damaged[i]));
        assert_int_equal(gpu_tuned_read(&file, "key", 4), -1);
        gpu_tuned_write(&file, "key", 3);
        assert_int_equal(gpu_tuned_read(&file, "key", 4), 3);
    }
}

/* Beside "." and "..". */
static int files_there(void)
{
    DIR *folder = not_null(opendir(FOLDER "/fbp"));
    int n = 0;

    while (readdir(folder))
        n++;
    (void)closedir(folder);
    return n - 2;
}

/* One may undo what another has just kept, but the file is whole at any time. */
TEST_WITH(processes_do_not_disturb_each_other, start_empty, NULL)
{
    enum { PROCESSES = 4, TIMES = 50 };
    char key[64];

    gpu_tuned_write(&file, "before", 1);
    for (int i = 0; i < PROCESSES; i++)
        if (fork() == 0) {
            for (int k = 0; k < TIMES; k++) {
                snprintf(key, sizeof key, "process %d, key %d", i, k);
                gpu_tuned_write(&file, key, i);
                if (gpu_tuned_read(&file, "before", 4) != 1)
                    _exit(1);
            }
            _exit(0);
        }
    for (int i = 0; i < PROCESSES; i++) {
        int status;
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    gpu_tuned_write(&file, "after", 2);
    assert_int_equal(gpu_tuned_read(&file, "after", 4), 2);
    assert_int_equal(files_there(), 1);
}

TEST_WITH(a_folder_in_its_place_is_no_error, start_empty, NULL)
{
    gpu_tuned_write(&file, "folders", 0);
    assert_int_equal(unlink(FILE_), 0);
    assert_int_equal(mkdir(FILE_, 0777), 0);
    gpu_tuned_write(&file, "key", 1);
    assert_int_equal(gpu_tuned_read(&file, "key", 4), -1);
    assert_int_equal(files_there(), 1);
}

TEST_WITH(no_place_is_no_error, start_empty, NULL)
{
    setenv("XDG_CACHE_HOME", "/dev/null", 1);
    gpu_tuned_write(&file, "key", 1);
    assert_int_equal(gpu_tuned_read(&file, "key", 4), -1);
    setenv("XDG_CACHE_HOME", "relative", 1); /* to be ignored */
    unsetenv("HOME");
    gpu_tuned_write(&file, "key", 1);
    assert_int_equal(gpu_tuned_read(&file, "key", 4), -1);
}

TEST_MAIN(NULL, NULL)
