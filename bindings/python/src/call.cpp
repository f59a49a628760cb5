#include "call.hpp"

#include <algorithm>
#include <chrono>
#include <pthread.h>
#include <thread>

namespace fbp_python
{

/* How often Ctrl-C is looked for while there is nothing else to do. */
static constexpr std::chrono::milliseconds LOOK_EVERY{25};

/* How long finalization waits for calls of other threads, which end only when a Python function
 * returns. */
static constexpr std::chrono::seconds EXIT_TIMEOUT{3};

/* Calls in progress, and the thread that finalizes the interpreter; used with the GIL. */
static std::vector<desk *> running;
static std::thread::id finalizer;

[[noreturn]] static void sleep_forever()
{
    for (;;)
        std::this_thread::sleep_for(std::chrono::hours(1));
}

gil_release::~gil_release() noexcept(false)
{
    struct sentinel {
        bool returned = false;
        ~sentinel()
        {
            if (!returned)
                sleep_forever();
        }
    } restore;

    PyEval_RestoreThread(state_); /* during finalization, Python before 3.14 ends the thread here */
    restore.returned = true;
}

/* An entry of `running`.  Once the interpreter is finalized, no other thread returns to Python. */
class desk::entry
{
  public:
    explicit entry(desk &of) : of_(of)
    {
        sleep_if_finalizing();
        running.push_back(&of_);
    }
    ~entry()
    {
        running.erase(std::remove(running.begin(), running.end(), &of_), running.end());
        sleep_if_finalizing();
    }
    entry(const entry &) = delete;
    entry &operator=(const entry &) = delete;

  private:
    static void sleep_if_finalizing()
    {
        if (finalizer == std::thread::id() || finalizer == std::this_thread::get_id())
            return;
        const gil_release free_python;
        sleep_forever();
    }
    desk &of_;
};

void desk::cancel()
{
    const std::lock_guard<std::mutex> lock(lock_);

    if (!stopping_.exchange(true) && !done_)
        stop_();
}

static void end_calls()
{
    const auto until = std::chrono::steady_clock::now() + EXIT_TIMEOUT;

    finalizer = std::this_thread::get_id();
    if (!running.empty())
        nb::set_leak_warnings(false); /* these threads keep their objects */
    for (desk *at : running)
        at->cancel();
    while (!running.empty() && std::chrono::steady_clock::now() < until) {
        const gil_release free_python;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

/* A child process has one thread, and the objects of all. */
static void after_fork()
{
    if (!running.empty())
        nb::set_leak_warnings(false);
    running.clear();
}

void end_calls_at_exit()
{
    pthread_atfork(nullptr, nullptr, after_fork);
    nb::module_::import_("atexit").attr("register")(nb::cpp_function(&end_calls));
}

bool desk::ask(const std::function<void()> &f)
{
    request r{&f};
    std::unique_lock<std::mutex> lock(lock_);

    if (stopping_)
        return false;
    requests_.push_back(&r);
    caller_.notify_one();
    library_.wait(lock, [&] { return r.done; });
    return r.good;
}

void desk::put(const fbp_progress &now)
{
    const std::lock_guard<std::mutex> lock(lock_);
    progress_ = now;
    news_ = true;
}

void desk::put(fbp_log_level level, const char *line)
{
    const std::lock_guard<std::mutex> lock(lock_);
    lines_.emplace_back(level == FBP_LOG_WARNING, line);
}

/* What Python code throws ends the call; of several the first counts. */
template <class F> void desk::guard(const F &f)
{
    try {
        f();
    } catch (...) {
        if (!std::current_exception()) /* no exception: Python ends the thread */
            sleep_forever();
        if (!thrown_)
            thrown_ = std::current_exception();
        cancel();
    }
}

/* Until there is something to do, or a moment has passed; false: the call has returned. */
bool desk::wait()
{
    const gil_release free_python;
    std::unique_lock<std::mutex> lock(lock_);

    caller_.wait_for(lock, LOOK_EVERY, [&] { return done_ || !requests_.empty(); });
    return !done_;
}

void desk::serve()
{
    for (;;) {
        std::unique_lock<std::mutex> lock(lock_);
        if (requests_.empty())
            return;
        request *r = requests_.front();
        requests_.pop_front();
        const bool refused = stopping_;
        lock.unlock();
        bool good = false;
        if (!refused)
            guard([&] {
                (*r->f)();
                good = true;
            });
        lock.lock();
        r->good = good;
        r->done = true;
        library_.notify_all();
    }
}

/* What was put on the desk, to the user. */
void desk::tell()
{
    std::deque<std::pair<bool, std::string>> lines;
    fbp_progress now{};
    bool news;
    {
        const std::lock_guard<std::mutex> lock(lock_);
        lines.swap(lines_);
        news = std::exchange(news_, false);
        now = progress_;
    }
    for (const auto &[warning, line] : lines)
        if (!to_.log.is_none())
            to_.log(warning, nb::str(line.data(), line.size()));
    if (news && !to_.progress.is_none())
        to_.progress(now.done, now.total, now.views_read, now.seconds, now.waiting_for);
}

fbp_status desk::run(const std::function<fbp_status()> &work, const std::function<void()> &stop,
                     std::string &message)
{
    fbp_status status = FBP_OK;
    std::function<bool()> more = idle;

    stop_ = stop;
    const entry here(*this);
    std::thread worker([&] {
        status = work();
        if (status != FBP_OK)
            message = fbp_message();
        const std::lock_guard<std::mutex> lock(lock_);
        done_ = true;
        caller_.notify_one();
    });
    for (bool going = true; going;) {
        const bool busy = more && !stopping_;
        if (busy)
            guard([&] {
                if (!more())
                    more = nullptr;
            });
        if (busy) {
            const std::lock_guard<std::mutex> lock(lock_);
            going = !done_;
        } else {
            going = wait();
        }
        serve();
        guard([&] {
            if (PyErr_CheckSignals() != 0)
                throw nb::python_error();
        });
        guard([&] { tell(); });
    }
    {
        const gil_release free_python;
        worker.join();
    }
    if (thrown_)
        std::rethrow_exception(thrown_);
    return status;
}

int on_progress(void *user, const fbp_progress *now)
{
    desk *at = *static_cast<desk **>(user);

    if (!at)
        return 0;
    at->put(*now);
    return at->stopping();
}

void on_log(void *user, fbp_log_level level, const char *line)
{
    desk *at = *static_cast<desk **>(user);

    if (at)
        at->put(level, line);
}

void call(const std::function<fbp_status()> &work)
{
    desk at({nb::none(), nb::none()});
    fbp::stopper stop;
    std::string message;
    const fbp_status status = at.run(
        [&] {
            const fbp::stopper::attached here(stop);
            return work();
        },
        [&] { stop.stop(); }, message);

    if (status != FBP_OK)
        throw failure{status, message};
}

} // namespace fbp_python
