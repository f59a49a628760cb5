/** @file call.hpp  A long call of the library, in a thread of its own, while the caller's thread
 *  looks for Ctrl-C, runs the caller's Python functions and hands on progress and messages.
 *
 * The library's threads never touch Python: what they want of it they ask of the desk, and the
 * thread that called does it.  So functions of the user's always run in the user's thread, one at a
 * time, and what they throw, KeyboardInterrupt included, ends the call.
 */
#ifndef FBP_PYTHON_CALL_HPP
#define FBP_PYTHON_CALL_HPP

#include "common.hpp"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>

namespace fbp_python
{

/** What the user wants to hear of; None: nothing. */
struct listeners {
    nb::object progress; /**< called with (done, total, views_read, seconds, waiting_for) */
    nb::object log;      /**< called with (is a warning, line) */
};

class desk
{
  public:
    explicit desk(listeners to) : to_(std::move(to))
    {
    }
    desk(const desk &) = delete;
    desk &operator=(const desk &) = delete;

    /** From a thread of the library: have f done by the thread that called, with the GIL.  False:
     *  it failed, or the call is to end. */
    bool ask(const std::function<void()> &f);
    /** End the call, from any thread. */
    void cancel();
    void put(const fbp_progress &now);
    void put(fbp_log_level level, const char *line);
    bool stopping() const noexcept
    {
        return stopping_;
    }

    /** Is called by the thread that called whenever it has nothing to do, with the GIL; false:
     *  there is nothing more to do.  It may take long, and throw. */
    std::function<bool()> idle;

    /**
     * Run `work` in a thread of its own until it returns, and return what it returned; `message`
     * gets what the library says if it failed.  `stop` is called once if it is to end.  Needs the
     * GIL, and has it released while there is nothing to do.  What a function of the user's threw
     * is thrown again when `work` has ended.
     */
    fbp_status run(const std::function<fbp_status()> &work, const std::function<void()> &stop,
                   std::string &message);

  private:
    struct request {
        const std::function<void()> *f;
        bool done = false, good = false;
    };
    class entry;
    bool wait();
    void serve();
    void tell();
    template <class F> void guard(const F &f);

    listeners to_;
    std::mutex lock_;
    std::condition_variable caller_, library_;
    std::deque<request *> requests_;
    std::deque<std::pair<bool, std::string>> lines_;
    fbp_progress progress_{};
    bool news_ = false, done_ = false;
    std::atomic<bool> stopping_{false};
    std::exception_ptr thrown_;
    std::function<void()> stop_;
};

/** End the calls of daemon threads before the interpreter is finalized. */
void end_calls_at_exit();

/** fbp_callbacks.progress and .log; user: a pointer to a desk pointer. */
int on_progress(void *user, const fbp_progress *now);
void on_log(void *user, fbp_log_level level, const char *line);

/** A call that has neither progress nor functions of the user's: ended by Ctrl-C alone.  Throws a
 *  failure unless it returns FBP_OK. */
void call(const std::function<fbp_status()> &work);

} // namespace fbp_python

#endif // FBP_PYTHON_CALL_HPP
