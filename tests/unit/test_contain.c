/* What a child does stays in the child: a reply, a message, a crash, a loop, too much memory. */
#include "unit/io_util.h"

#include "base/contain.h"

#include <math.h>

static const struct fbp_limits limits = {(uint64_t)64 << 20, 0.5};

static fbp_status replies(void *arg, struct fbp_blob *reply)
{
    const size_t n = *(const size_t *)arg;

    for (size_t i = 0; i < n; i++) {
        const unsigned char byte = (unsigned char)(i * 7);
        const fbp_status st = fbp_blob_put(reply, &byte, 1);
        if (st != FBP_OK)
            return st;
    }
    return FBP_OK;
}

static fbp_status complains(void *arg, struct fbp_blob *reply)
{
    (void)fbp_blob_put(reply, "lost", 4);
    return fbp_fail(FBP_ERR_UNSUPPORTED, "%s: no", (const char *)arg);
}

static fbp_status crashes(void *arg, struct fbp_blob *reply)
{
    (void)reply;
    (void)arg;
    fprintf(stderr, "not to be seen\n");
    abort();
}

static fbp_status leaves(void *arg, struct fbp_blob *reply)
{
    (void)reply;
    (void)arg;
    _exit(0);
}

static fbp_status loops(void *arg, struct fbp_blob *reply)
{
    (void)reply;
    for (volatile int *again = arg; *again;)
        ;
    return FBP_OK;
}

static fbp_status takes_all(void *arg, struct fbp_blob *reply)
{
    (void)reply;
    void *p = malloc((size_t)1 << 32);
    const bool got = p != NULL;
    free(p);
    return got ? FBP_OK : fbp_fail(FBP_ERR_NOMEM, "%s: not enough memory", (const char *)arg);
}

static fbp_status run(fbp_contained_fn *fn, void *arg, struct fbp_blob *reply)
{
    *reply = (struct fbp_blob){0};
    fbp_message_clear();
    return fbp_contain("file.x", "the X library", &limits, fn, arg, reply);
}

static void replies_come_whole(void **state)
{
    static const size_t sizes[] = {0, 1, 4096, 65536, 300001};
    struct fbp_blob reply;

    (void)state;
    for (size_t k = 0; k < 5; k++) {
        size_t n = sizes[k];
        assert_int_equal(run(replies, &n, &reply), FBP_OK);
        assert_int_equal(reply.n, n);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(reply.bytes[i], (unsigned char)(i * 7));
        free(reply.bytes);
    }
}

static void failures_are_sentences(void **state)
{
    struct fbp_blob reply;
    char name[] = "file.x";
    int again = 1;

    (void)state;
    assert_int_equal(run(complains, name, &reply), FBP_ERR_UNSUPPORTED);
    assert_string_equal(fbp_message(), "file.x: no");
    assert_int_equal(reply.n, 0);
    assert_int_equal(run(crashes, name, &reply), FBP_ERR_INVALID);
    assert_says("file.x: the X library failed inside (Abort");
    assert_int_equal(run(leaves, name, &reply), FBP_ERR_INVALID);
    assert_says("it gave up");
    assert_int_equal(run(loops, &again, &reply), FBP_ERR_INVALID);
    assert_says("was not done with it");
}

static void memory_is_limited(void **state)
{
    struct fbp_blob reply;
    char name[] = "file.x";

    (void)state;
#if defined __SANITIZE_ADDRESS__
    skip(); /* its malloc ends the process instead */
#endif
    assert_int_equal(run(takes_all, name, &reply), FBP_ERR_NOMEM);
    assert_says("not enough memory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replies_come_whole),
        cmocka_unit_test(failures_are_sentences),
        cmocka_unit_test(memory_is_limited),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
