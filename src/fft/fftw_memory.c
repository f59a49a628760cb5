/* FFTW's allocator, under the names that FFTW calls it by: fftw_kernel_malloc() and
 * fftw_kernel_free(), and fftw_assertion_failed() where it gives up; the same with fftwf_.  They
 * take the place of the library's own where it is linked from its archive.  Where it is a shared
 * library these definitions come first in the program's order of names, unless the library binds
 * its own names to itself (-Bsymbolic): then FFTW is as it always was.
 *
 * The reserve is used when the system denies memory.  The planner may keep a piece as long as the
 * process lives, as it keeps what it has learnt.  A transform gives back what it takes; the first
 * thread that needs the reserve for one locks it until then.  So there is room for it, however many
 * threads there are.
 */
#include "fft/fftw_memory.h"

#include "base/mem.h"
#include "fft/fftw_reserve.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>

/* Measured over all lengths 2^a 3^b 5^c to 2e7: planners of both precisions hold 0.4 MiB, a plan
 * takes up to 24 bytes a point while it is made, a cosine transform 17 more when it is computed.
 * Transforms of at least LONG points take memory then; the shortest that do have 290000. */
enum { BASE_BYTES = 4 << 20, POINT_BYTES = 64, LONG = 1 << 17 };

enum { IN_FRONT = FBP_ALIGN }; /* of a reserve, for itself */
_Static_assert(sizeof(struct fbp_reserve) <= IN_FRONT, "it fits");

/* In front of every piece of a reserve. */
struct tag {
    _Alignas(64) bool is_held; /* the thread that frees it lets the others in */
};

static pthread_mutex_t pieces = PTHREAD_MUTEX_INITIALIZER; /* of the list and all in it */
static struct fbp_reserve *reserves;
static atomic_bool any_used;
static atomic_bool denied;
static bool keep_all; /* transforms that take memory while they are computed */

static pthread_mutex_t computing;
static pthread_once_t computing_once = PTHREAD_ONCE_INIT;

static _Thread_local jmp_buf *escape;

static void init_computing(void)
{
    pthread_mutexattr_t attr;

    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&computing, &attr);
    pthread_mutexattr_destroy(&attr);
}

/* A reserve of `bytes` on the list, itself in front of them.  Fresh pages, which cost nothing until
 * they are written to: most of them never are. */
static bool make(size_t bytes)
{
    struct fbp_reserve *r = mmap(NULL, IN_FRONT + bytes, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (r == MAP_FAILED)
        return false;
    fbp_reserve_init(r, (char *)r + IN_FRONT, bytes);
    r->next = reserves;
    reserves = r;
    return true;
}

fbp_status fbp_fftw_reserve(size_t n)
{
    size_t bytes;

    FBP_TRY(fbp_mul(n, POINT_BYTES, "the plan of a transform", &bytes));
    bytes = (bytes / FBP_ALIGN + 1) * FBP_ALIGN + BASE_BYTES;
    pthread_mutex_lock(&pieces);
    bool there = false;
    for (struct fbp_reserve *r = reserves; r && !there; r = r->next)
        there = fbp_reserve_room(r) >= bytes - FBP_ALIGN;
    if (!there)
        there = make(bytes);
    keep_all |= there && n >= LONG;
    pthread_mutex_unlock(&pieces);
    return there ? FBP_OK : fbp_fail_nomem(bytes, "the plan of a transform");
}

void fbp_fftw_release(void)
{
    pthread_mutex_lock(&pieces);
    for (struct fbp_reserve **at = &reserves; *at && !keep_all;) {
        struct fbp_reserve *r = *at;
        if (r->n_used) {
            at = &r->next;
            continue;
        }
        *at = r->next;
        munmap(r, IN_FRONT + r->bytes);
    }
    pthread_mutex_unlock(&pieces);
}

void fbp_fftw_escape(jmp_buf *to)
{
    escape = to;
}

void fbp_fftw_deny(bool deny)
{
    atomic_store(&denied, deny);
}

static void *from_reserve(size_t n, bool is_held)
{
    struct tag *tag = NULL;

    pthread_mutex_lock(&pieces);
    for (struct fbp_reserve *r = reserves; r && !tag; r = r->next)
        tag = fbp_reserve_take(r, sizeof *tag + n);
    if (tag) {
        tag->is_held = is_held;
        atomic_store(&any_used, true);
    }
    pthread_mutex_unlock(&pieces);
    return tag ? tag + 1 : NULL;
}

static void *take(size_t n)
{
    void *p = NULL;

    if (n > SIZE_MAX - sizeof(struct tag))
        return NULL;
    if (!atomic_load_explicit(&denied, memory_order_relaxed) &&
        posix_memalign(&p, FBP_ALIGN, n) == 0)
        return p;
    if (escape)
        return from_reserve(n, false);
    pthread_once(&computing_once, init_computing);
    pthread_mutex_lock(&computing);
    p = from_reserve(n, true);
    if (!p)
        pthread_mutex_unlock(&computing);
    return p;
}

/* Was p a piece of a reserve? */
static bool to_reserve(void *p)
{
    struct tag *tag = (struct tag *)p - 1;
    bool found = false, was_held = false;

    pthread_mutex_lock(&pieces);
    for (struct fbp_reserve *r = reserves; r && !found; r = r->next)
        if (fbp_reserve_has(r, p)) {
            found = true;
            was_held = tag->is_held;
            fbp_reserve_give_back(r, tag);
        }
    pthread_mutex_unlock(&pieces);
    if (was_held)
        pthread_mutex_unlock(&computing);
    return found;
}

static void give_back(void *p)
{
    if (!p || !atomic_load_explicit(&any_used, memory_order_relaxed) || !to_reserve(p))
        free(p);
}

static _Noreturn void give_up(void)
{
    if (escape)
        longjmp(*escape, 1);
    abort(); /* no transform takes so much; nothing could be returned to its caller */
}

#define FFTW_CALLS __attribute__((visibility(FBP_FFTW_VISIBILITY)))

FFTW_CALLS void *fftw_kernel_malloc(size_t n);
FFTW_CALLS void *fftwf_kernel_malloc(size_t n);
FFTW_CALLS void fftw_kernel_free(void *p);
FFTW_CALLS void fftwf_kernel_free(void *p);
FFTW_CALLS void fftw_assertion_failed(const char *what, int line, const char *file);
FFTW_CALLS void fftwf_assertion_failed(const char *what, int line, const char *file);

void *fftw_kernel_malloc(size_t n)
{
    return take(n);
}

void *fftwf_kernel_malloc(size_t n)
{
    return take(n);
}

void fftw_kernel_free(void *p)
{
    give_back(p);
}

void fftwf_kernel_free(void *p)
{
    give_back(p);
}

void fftw_assertion_failed(const char *what, int line, const char *file)
{
    (void)what;
    (void)line;
    (void)file;
    give_up();
}

void fftwf_assertion_failed(const char *what, int line, const char *file)
{
    (void)what;
    (void)line;
    (void)file;
    give_up();
}
