/* Finds the OpenGL renderers of the machine (gl_renderers_find()), opens OpenGL contexts without a
 * window (gl_egl_open(), through EGL), and converts OpenGL errors to a status with a message
 * (gl_check()); see egl.h.
 * Used by: bench/gl/, backend/gl/. */
#include "backend/gl/egl.h"

#include "backend/module.h"

#include <epoxy/egl.h>
#include <epoxy/gl.h>

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
#    include <link.h>
#endif

struct gl_fault_injection gl_fault_injection;

/* Errors. */

/* OpenGL context of this thread, and name of its renderer. core, extension: resets are queried with
 * a function of OpenGL 4.5, or GL_ARB_robustness; lost: a test simulates the loss of the context;
 * shared: this is the shared context of its renderer (gl_check_shared()). */
static _Thread_local struct {
    char renderer[100];
    bool core, extension, lost, shared;
} here = {.renderer = "the renderer"};

void gl_check_shared(void)
{
    here.shared = true;
}

const char *gl_check_name(void)
{
    return here.renderer;
}

bool gl_was_reset(void)
{
    /* A driver may report a reset only once. */
    here.lost = here.lost || (here.shared && gl_fault_injection.share_lost) ||
                (here.core && glGetGraphicsResetStatus() != GL_NO_ERROR) ||
                (here.extension && glGetGraphicsResetStatusARB() != GL_NO_ERROR);
    return here.lost;
}

fbp_status gl_check_lost(void)
{
    return gpu_host->fail(FBP_ERR_DEVICE,
                          "gl: %s was reset during the computation; close other programs that use "
                          "the GPU, or use --device cpu",
                          here.renderer);
}

fbp_status gl_check(const char *what)
{
    GLenum error = GL_NO_ERROR;

    /* Tests inject errors.  A test that simulates the loss of a context (gl_fault_injection.lost)
     * does not affect the shared context of a renderer. */
    if (!here.shared || gl_fault_injection.lost == 0) {
        const uint64_t n = atomic_fetch_add(&gl_fault_injection.n_looks, 1) + 1;
        here.lost = here.lost || n == gl_fault_injection.lost;
        error = here.lost                           ? GL_CONTEXT_LOST
                : n == gl_fault_injection.no_memory ? GL_OUT_OF_MEMORY
                                                    : GL_NO_ERROR;
    }
    if (error == GL_NO_ERROR)
        error = glGetError();
    if (error == GL_NO_ERROR)
        return FBP_OK;
    /* A lost context may report errors forever, so at most 8 further errors are cleared. */
    for (int i = 0; i < 8 && glGetError() != GL_NO_ERROR; i++)
        ;
    if (error == GL_CONTEXT_LOST)
        return gl_check_lost();
    if (error == GL_OUT_OF_MEMORY)
        return gpu_host->fail(FBP_ERR_NOMEM,
                              "gl: %s: %s is out of memory; lower --device-memory or --batch, or "
                              "close other programs that use the GPU",
                              what, here.renderer);
    return gpu_host->fail(
        FBP_ERR_DEVICE, "gl: %s: %s: %s; try again, or use --device cpu", what, here.renderer,
        error == GL_INVALID_ENUM                    ? "GL_INVALID_ENUM"
        : error == GL_INVALID_VALUE                 ? "GL_INVALID_VALUE"
        : error == GL_INVALID_OPERATION             ? "GL_INVALID_OPERATION"
        : error == GL_INVALID_FRAMEBUFFER_OPERATION ? "GL_INVALID_FRAMEBUFFER_OPERATION"
                                                    : "an unknown error");
}

fbp_status gl_fail_nomem(size_t bytes)
{
    return gpu_host->fail(FBP_ERR_NOMEM,
                          "gl: cannot allocate %zu bytes; lower --memory, or close other programs",
                          bytes);
}

/* Contexts. */

/* A renderer and its EGL device. */
struct entry {
    struct gl_renderer is;
    EGLenum platform;
    EGLDeviceEXT device; /* NULL: the default device of the platform */
    int order;           /* order of discovery */
    int users;           /* open contexts */
    bool foreign;        /* the program had opened the display: do not close it */
};

static struct {
    pthread_mutex_t lock; /* guards `users` and `foreign` */
    struct entry entries[GL_MOST_RENDERERS];
    int n, n_usable;
    char why[300];
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool is_listed(const char *list, const char *name)
{
    const size_t n = strlen(name);

    for (const char *at = list; at && (at = strstr(at, name)); at += n)
        if ((at == list || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0'))
            return true;
    return false;
}

static const char *error_text(void)
{
    const EGLint error = eglGetError();

    return error == EGL_NOT_INITIALIZED ? "EGL_NOT_INITIALIZED"
           : error == EGL_BAD_ACCESS    ? "EGL_BAD_ACCESS"
           : error == EGL_BAD_ALLOC     ? "EGL_BAD_ALLOC"
           : error == EGL_BAD_MATCH     ? "EGL_BAD_MATCH"
           : error == EGL_BAD_ATTRIBUTE ? "EGL_BAD_ATTRIBUTE"
                                        : "no reason given";
}

static void close_display(struct entry *e, EGLDisplay display)
{
    pthread_mutex_lock(&all.lock);
    if (--e->users == 0 && !e->foreign)
        (void)eglTerminate(display);
    pthread_mutex_unlock(&all.lock);
}

/* Open the EGL display of a renderer, which all its contexts share; the program that uses the
 * library may have opened it. On failure, the reason is written to `why`. */
static EGLDisplay open_display(struct entry *e, char *why, size_t n)
{
    EGLDisplay display = eglGetPlatformDisplayEXT(
        e->platform, e->device ? (void *)e->device : EGL_DEFAULT_DISPLAY, NULL);

    if (display != EGL_NO_DISPLAY) {
        pthread_mutex_lock(&all.lock);
        if (e->users == 0) {
            e->foreign = eglQueryString(display, EGL_VERSION) != NULL;
            (void)eglGetError();
        }
        const bool opened = e->users > 0 || e->foreign || eglInitialize(display, NULL, NULL);
        e->users += opened;
        pthread_mutex_unlock(&all.lock);
        if (opened)
            return display;
    }
    const char *error = error_text();
    if (e->is.version[0]) /* the display was opened before */
        snprintf(why, n,
                 "its EGL display fails now (%s), perhaps because a forked child of this process "
                 "ended by exit(); end children by _exit(), and start this program again",
                 error);
    else if (e->is.software)
        snprintf(why, n, "its EGL display fails (%s), because the driver is incomplete; install %s",
                 error, "libgl1-mesa-dri");
    else
        snprintf(why, n,
                 "its EGL display fails (%s); check that you may read and write %s (group render "
                 "or video), and that the driver is complete",
                 error, e->is.card[0] ? e->is.card : "/dev/dri");
    return EGL_NO_DISPLAY;
}

/* Create a context and make it current; on failure `why` gets the reason.  The context has the
 * newest core profile that the driver offers (4.6, 4.5, 4.4 or 3.3), with notification of resets if
 * possible.  3.3 is too old, but is tried because the error message then contains the version. */
static bool open_entry(struct entry *e, EGLContext share, struct gl_egl *out, char *why, size_t n)
{
    static const EGLint versions[][2] = {{4, 6}, {4, 5}, {4, 4}, {3, 3}};
    EGLDisplay display = open_display(e, why, n);

    *out = (struct gl_egl){.index = (int)(e - all.entries), .display = display};
    if (display == EGL_NO_DISPLAY)
        return false;
    const bool has_gl = eglBindAPI(EGL_OPENGL_API);
    const bool robust =
        is_listed(eglQueryString(display, EGL_EXTENSIONS), "EGL_EXT_create_context_robustness");
    const size_t trials =
        has_gl && !gl_fault_injection.no_context ? 2 * sizeof versions / sizeof *versions : 0;
    for (size_t i = 0; i < trials && out->context == EGL_NO_CONTEXT; i++) {
        const EGLint attributes[] = {
            EGL_CONTEXT_MAJOR_VERSION,
            versions[i / 2][0],
            EGL_CONTEXT_MINOR_VERSION,
            versions[i / 2][1],
            EGL_CONTEXT_OPENGL_PROFILE_MASK,
            EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
            robust && i % 2 == 0 ? EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY_EXT : EGL_NONE,
            EGL_LOSE_CONTEXT_ON_RESET_EXT,
            EGL_NONE};
        out->context = eglCreateContext(display, EGL_NO_CONFIG_KHR, share, attributes);
    }
    if (!has_gl)
        snprintf(why, n,
                 "OpenGL 4.4 with compute shaders is needed, but this driver supports OpenGL ES "
                 "only; use another driver");
    else if (out->context == EGL_NO_CONTEXT)
        snprintf(why, n,
                 "OpenGL 4.4 with compute shaders is needed, but this driver creates no context "
                 "(%s); update the driver",
                 error_text());
    else if (!gl_fault_injection.no_current &&
             eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, out->context))
        return true;
    else
        snprintf(why, n, "it creates no context without a surface (%s); update the driver",
                 error_text());
    if (out->context != EGL_NO_CONTEXT)
        (void)eglDestroyContext(display, out->context);
    out->context = NULL;
    close_display(e, display);
    return false;
}

fbp_status gl_egl_open(struct gl_egl *out, int index, const struct gl_egl *first)
{
    struct entry *e = &all.entries[index];
    char why[300] = "";

    if (e->is.reason[0])
        return gpu_host->fail(FBP_ERR_DEVICE, "gl: %s: %s", e->is.name, e->is.reason);
    if (!open_entry(e, first ? first->context : EGL_NO_CONTEXT, out, why, sizeof why))
        return gpu_host->fail(FBP_ERR_DEVICE, "gl: %s: %s", e->is.name, why);
    snprintf(here.renderer, sizeof here.renderer, "%s", e->is.name);
    here.core = epoxy_gl_version() >= 45;
    here.extension = !here.core && epoxy_has_gl_extension("GL_ARB_robustness");
    here.lost = here.shared = false;
    return FBP_OK;
}

void gl_egl_close(struct gl_egl *egl)
{
    if (!egl->context)
        return;
    (void)eglMakeCurrent(egl->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    (void)eglDestroyContext(egl->display, egl->context);
    close_display(&all.entries[egl->index], egl->display);
    (void)eglReleaseThread();
    egl->context = NULL;
}

static pid_t process; /* the process that loaded the module */

/* Exit handler. In a forked child, replace the inherited device files of NVIDIA's cards
 * (/dev/nvidia…) by /dev/null: otherwise NVIDIA's driver would close resources in the child's
 * exit() that the parent still uses, which could then open no EGL display (EGL_BAD_ACCESS). */
static void close_card_in_child(void)
{
    const char *const cards[] = {"/dev/nvidia", gl_fault_injection.card_files};

    if (getpid() == process)
        return;
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    DIR *files = opendir("/proc/self/fd");

    for (const struct dirent *e; null >= 0 && files && (e = readdir(files));) {
        char target[64];
        const ssize_t n = readlinkat(dirfd(files), e->d_name, target, sizeof target - 1);
        target[n > 0 ? n : 0] = '\0';
        for (size_t i = 0; i < sizeof cards / sizeof *cards; i++)
            if (cards[i] && strncmp(target, cards[i], strlen(cards[i])) == 0) {
                (void)dup3(null, (int)strtol(e->d_name, NULL, 10), O_CLOEXEC);
                break;
            }
    }
    if (files)
        closedir(files);
    if (null >= 0)
        close(null);
}

/* The list of renderers. */

static uint64_t integer_of(GLenum what)
{
    GLint64 value = 0;

    glGetInteger64v(what, &value);
    return value > 0 ? (uint64_t)value : 0;
}

/* Returns the greatest size of a layered texture [bytes], found by bisection of the number of
 * layers (up to 64 MiB each) that the driver accepts for a proxy texture, which allocates no
 * memory; UINT64_MAX: it accepts all `layers` layers. */
static uint64_t layered_bytes(int size, int layers)
{
    const int side = size < 4096 ? size : 4096;
    int fits = 0, fails = layers + 1;

    while (fails - fits > 1) {
        const int n = fits + (fails - fits) / 2;
        GLint width = 0;
        glTexImage3D(GL_PROXY_TEXTURE_2D_ARRAY, 0, GL_R32F, side, side, n, 0, GL_RED, GL_FLOAT,
                     NULL);
        glGetTexLevelParameteriv(GL_PROXY_TEXTURE_2D_ARRAY, 0, GL_TEXTURE_WIDTH, &width);
        if (glGetError() == GL_NO_ERROR && width > 0)
            fits = n;
        else
            fails = n;
    }
    return fits == layers ? UINT64_MAX : (uint64_t)fits * 4 * (uint64_t)side * (uint64_t)side;
}

static void read_limits(struct gl_renderer *r)
{
    const char *name = (const char *)glGetString(GL_RENDERER);
    const char *version = (const char *)glGetString(GL_VERSION);
    const uint64_t most_of_mesa = (uint64_t)UINT32_MAX / 4096 * 4096;

    snprintf(r->name, sizeof r->name, "%s", name ? name : "a renderer without a name");
    snprintf(r->version, sizeof r->version, "%s", version ? version : "");
    r->major = epoxy_gl_version() / 10;
    r->minor = epoxy_gl_version() % 10;
    r->software = r->software || strstr(r->name, "llvmpipe") || strstr(r->name, "softpipe") ||
                  strstr(r->name, "SwiftShader");
    if (epoxy_gl_version() < 44) {
        snprintf(r->reason, sizeof r->reason,
                 "OpenGL 4.4 with compute shaders is needed, but this driver supports %d.%d; "
                 "update the driver, or use --device cpu",
                 r->major, r->minor);
        return;
    }
    r->texture_size = (int)integer_of(GL_MAX_TEXTURE_SIZE);
    r->layers = (int)integer_of(GL_MAX_ARRAY_TEXTURE_LAYERS);
    r->buffer_bytes = strstr(r->version, "Mesa") ? most_of_mesa : (uint64_t)1 << 40;
    r->texture_bytes = layered_bytes(r->texture_size, r->layers);
    if (epoxy_has_gl_extension("GL_NVX_gpu_memory_info")) {
        r->memory_bytes = integer_of(GL_GPU_MEMORY_INFO_TOTAL_AVAILABLE_MEMORY_NVX) << 10;
        r->free_bytes = integer_of(GL_GPU_MEMORY_INFO_CURRENT_AVAILABLE_VIDMEM_NVX) << 10;
    } else if (epoxy_has_gl_extension("GL_ATI_meminfo")) {
        GLint values[4] = {0};
        glGetIntegerv(GL_VBO_FREE_MEMORY_ATI, values);
        r->free_bytes = (uint64_t)(values[0] > 0 ? values[0] : 0) << 10;
    }
    r->block_bytes = integer_of(GL_MAX_SHADER_STORAGE_BLOCK_SIZE);
    r->alignment = integer_of(GL_SHADER_STORAGE_BUFFER_OFFSET_ALIGNMENT);
    r->shared_bytes = (int)integer_of(GL_MAX_COMPUTE_SHARED_MEMORY_SIZE);
    const char *wanted = gpu_host->environment(FBP_ENV_GL_BLOCK); /* for tests */
    const unsigned long long bytes = wanted ? strtoull(wanted, NULL, 10) : 0;
    if (bytes >= 4096 && bytes < r->block_bytes)
        r->block_bytes = bytes;
}

#ifdef __SANITIZE_ADDRESS__
/* Callback of dl_iterate_phdr(): with the address sanitizer, keep every loaded library in memory,
 * because memory of an unloaded driver would be reported as a leak. */
static int keep_loaded(struct dl_phdr_info *is, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    if (is->dlpi_name && is->dlpi_name[0] == '/')
        (void)!dlopen(is->dlpi_name, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
    return 0;
}
#endif

static void add_renderer(struct entry *e)
{
    struct gl_egl egl;

    all.entries[all.n] = *e;
    all.entries[all.n].order = all.n;
    struct entry *at = &all.entries[all.n];
    if (!at->is.name[0])
        snprintf(at->is.name, sizeof at->is.name, "%s",
                 e->is.card[0]    ? e->is.card
                 : e->is.software ? "a software renderer"
                                  : "an EGL device");
    if (open_entry(at, EGL_NO_CONTEXT, &egl, at->is.reason, sizeof at->is.reason)) {
        read_limits(&at->is);
#ifdef __SANITIZE_ADDRESS__
        (void)dl_iterate_phdr(keep_loaded, NULL);
#endif
        gl_egl_close(&egl);
    }
    all.n++;
}

/* Add the devices that EGL enumerates: hardware first, Mesa's software device last. */
static void add_devices(void)
{
    EGLDeviceEXT devices[GL_MOST_RENDERERS];
    EGLint n = 0;

    if (!eglQueryDevicesEXT(GL_MOST_RENDERERS, devices, &n))
        n = 0;
    for (int software = 0; software < 2; software++)
        for (EGLint i = 0; i < n && all.n < GL_MOST_RENDERERS - 1; i++) {
            struct entry e = {.platform = EGL_PLATFORM_DEVICE_EXT, .device = devices[i]};
            const char *extensions = eglQueryDeviceStringEXT(e.device, EGL_EXTENSIONS);
            const char *card = NULL;
            e.is.software = is_listed(extensions, "EGL_MESA_device_software");
            if (e.is.software != (software == 1))
                continue;
            if (!e.is.software && is_listed(extensions, "EGL_EXT_device_drm"))
                card = eglQueryDeviceStringEXT(e.device, EGL_DRM_DEVICE_FILE_EXT);
            snprintf(e.is.card, sizeof e.is.card, "%s", card ? card : "");

            /* Read the card's PCI address, such as "0000:18:00.0", from sysfs. */
            const char *name = strrchr(e.is.card, '/');
            char path[128], target[256];
            snprintf(path, sizeof path, "/sys/class/drm%s/device", name ? name : "/none");
            const ssize_t length = readlink(path, target, sizeof target - 1);
            target[length > 0 ? length : 0] = '\0';
            const char *bus = strrchr(target, '/');
            if (bus && strchr(bus, ':'))
                snprintf(e.is.bus_id, sizeof e.is.bus_id, "%.27s", bus + 1);

            /* A card may have two drivers, or be listed twice: drop a device if the list already
             * contains a usable renderer with the same device file. */
            bool listed = false;
            for (int k = 0; k < all.n; k++) {
                const struct gl_renderer *r = &all.entries[k].is;
                listed = listed || (e.is.card[0] && strcmp(e.is.card, r->card) == 0 &&
                                    !r->reason[0] && !e.is.software && !r->software);
            }
            if (!listed)
                add_renderer(&e);
        }
}

/* If the machine has an NVIDIA card (/dev/nvidiactl) that EGL does not list, list "NVIDIA" as
 * unusable, with the reason: in many containers, the driver has no graphics part. */
static void add_incomplete_nvidia(void)
{
    struct entry e = {.is = {.name = "NVIDIA"}};

    for (int i = 0; i < all.n; i++)
        if (strstr(all.entries[i].is.name, "NVIDIA") || strstr(all.entries[i].is.version, "NVIDIA"))
            return;
    if (access("/dev/nvidiactl", F_OK) != 0 || all.n == GL_MOST_RENDERERS)
        return;
    if (!dlopen("libEGL_nvidia.so.0", RTLD_NOW | RTLD_LOCAL))
        snprintf(e.is.reason, sizeof e.is.reason,
                 "its driver lacks the graphics part (libEGL_nvidia.so.0); install that, or start "
                 "the container with NVIDIA_DRIVER_CAPABILITIES=all");
    else
        snprintf(e.is.reason, sizeof e.is.reason,
                 "libEGL does not find its driver; put 10_nvidia.json into "
                 "/usr/share/glvnd/egl_vendor.d, or name it in __EGL_VENDOR_LIBRARY_FILENAMES");
    e.order = all.n;
    all.entries[all.n++] = e;
}

/* Comparison for qsort(): hardware renderers first, then software renderers, then unusable ones. */
static int by_rank(const void *a, const void *b)
{
    const struct entry *const e[2] = {a, b};
    int rank[2];

    for (int i = 0; i < 2; i++)
        rank[i] = GL_MOST_RENDERERS * (2 * (e[i]->is.reason[0] != '\0') + e[i]->is.software) +
                  e[i]->order;
    return rank[0] - rank[1];
}

static void *find(void *unused)
{
    const char *extensions = eglQueryString(EGL_NO_DISPLAY, EGL_EXTENSIONS);

    if (is_listed(extensions, "EGL_EXT_platform_device") &&
        (is_listed(extensions, "EGL_EXT_device_enumeration") ||
         is_listed(extensions, "EGL_EXT_device_base")))
        add_devices();
    if (all.n == 0 && is_listed(extensions, "EGL_MESA_platform_surfaceless"))
        add_renderer(&(struct entry){.platform = EGL_PLATFORM_SURFACELESS_MESA});
    add_incomplete_nvidia();
    qsort(all.entries, (size_t)all.n, sizeof *all.entries, by_rank);
    for (int i = 0; i < all.n; i++)
        all.n_usable += all.entries[i].is.reason[0] == '\0';
    if (all.n == 1 && all.n_usable == 0)
        snprintf(all.why, sizeof all.why, "%.60s: %.230s", all.entries[0].is.name,
                 all.entries[0].is.reason);
    else if (all.n > 0)
        snprintf(all.why, sizeof all.why, "no renderer can be used; the first, %.60s: %.180s",
                 all.entries[0].is.name, all.entries[0].is.reason);
    else
        snprintf(all.why, sizeof all.why,
                 "EGL lists no device; install the graphics part of the GPU's driver, or "
                 "libegl-mesa0, and check that you may open /dev/dri/renderD*");
    (void)eglReleaseThread();
    return unused;
}

void gl_renderers_find(void)
{
    pthread_t thread;

    all.n = all.n_usable = 0;
    snprintf(all.why, sizeof all.why,
             "the system cannot start another thread; close other programs");
    if (pthread_create(&thread, NULL, find, NULL) == 0)
        (void)pthread_join(thread, NULL);
    /* Exit handlers run in reverse order: the drivers are loaded now, so close_card_in_child() runs
     * before their handlers. It also runs when the module is closed. */
    process = getpid();
    (void)atexit(close_card_in_child);
}

int gl_renderers_count(char *why, size_t n)
{
    if (gl_renderers_listed() == 0)
        snprintf(why, n, "%s", all.why);
    return gl_renderers_listed();
}

int gl_renderers_listed(void)
{
    return all.n_usable > 0 ? all.n : 0;
}

const struct gl_renderer *gl_renderer_at(int index)
{
    return &all.entries[index].is;
}
