#include "call.hpp"

#include <chrono>
#include <thread>

namespace fbp_python
{

/* How often Ctrl-C is looked for while there is nothing else to do. */
static constexpr std::chrono::milliseconds LOOK_EVERY{25};

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
        const std::lock_guard<std::mutex> lock(lock_);
        if (!thrown_)
            thrown_ = std::current_exception();
        if (!stopping_.exchange(true) && !done_)
            stop_();
    }
}

/* Until there is something to do, or a moment has passed; false: the call has returned. */
bool desk::wait()
{
    const nb::gil_scoped_release free_python;
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
        const nb::gil_scoped_release free_python;
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
    const stopper stop;
    std::string message;
    const fbp_status status = at.run(
        [&] {
            const stopper::use here(stop);
            return work();
        },
        [&] { stop.stop(); }, message);

    if (status != FBP_OK)
        throw failure{status, message};
}

} // namespace fbp_python
