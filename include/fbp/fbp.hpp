/** @file fbp.hpp  The interface for C++17: handles free themselves, errors are exceptions.
 * Programs and the Python binding include it.
 *
 *     fbp::scan scan("scan.json");
 *     fbp::recon_params params;
 *     params.cutoff = 0.8;
 *     fbp::plan plan(scan, params);
 *     fbp::report report = plan.run("volume.mha");
 *
 * A call that fails throws fbp::error with the status and the text of fbp_message().  Handles can
 * be moved, not copied.  All functions are inline and call the C interface, whose comments describe
 * them.  get() returns the C handle, for C functions that have no equivalent here, such as
 *  fbp_scan_flip(scan.get(), FBP_FLIP_U).
 */
#ifndef FBP_FBP_HPP
#define FBP_FBP_HPP

#include "fbp/fbp.h"

#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace fbp
{

/** Exception of a failed call: status and message. */
class error : public std::runtime_error
{
  public:
    error(fbp_status status, const std::string &message)
        : std::runtime_error(message.empty() ? std::string("fbp: failed") : message),
          status_(status)
    {
    }
    fbp_status status() const noexcept
    {
        return status_;
    }

  private:
    fbp_status status_;
};

/** Throw fbp::error, unless the status is FBP_OK. */
inline void check(fbp_status status)
{
    if (status != FBP_OK)
        throw error(status, fbp_message());
}

/** A C struct of parameters or results, with struct_size set and all other members 0. */
template <class T> struct sized : T {
    sized() : T()
    {
        this->struct_size = sizeof(T);
    }
    sized(const T &other) : T(other)
    {
    } // NOLINT: a C struct is welcome
};

using recon_params = sized<fbp_recon_params>;
using sink_params = sized<fbp_sink_params>;
using picture_params = sized<fbp_picture_params>;
using simulate_params = sized<fbp_simulate_params>;
using scan_known = sized<fbp_scan_known>;
using geometry_known = sized<fbp_geometry_known>;
using circle = sized<fbp_circle>;
using planes = sized<fbp_planes>;
using array_info = sized<fbp_array_info>;
using corrections = sized<fbp_corrections>;
using preparation = sized<fbp_preparation>;
using folder_known = sized<fbp_folder_known>;
using directions = sized<fbp_directions>;
using team_functions = sized<fbp_team_functions>;
using report = sized<fbp_report>;
using geometry_facts = sized<fbp_geometry_facts>;
using centre = sized<fbp_centre>;
using comparison = sized<fbp_comparison>;

/** Stores the exception of a function of the caller.  An exception must not pass through the C
 * library: it is stored, and thrown again after the call of the library has returned. */
class callbacks
{
  public:
    /** Run f(), a function of the caller.  Returns 0; or 1 if f() throws: the exception is stored,
     * and its message is written to why[n_why]. */
    template <class F> int guard(char *why, std::size_t n_why, F &&f) noexcept
    {
        try {
            f();
            return 0;
        } catch (const std::exception &e) {
            keep(why, n_why, e.what());
        } catch (...) {
            keep(why, n_why, "an exception was thrown");
        }
        return 1;
    }
    /** Return, and remove from this object, the exception that a function of the caller threw
     * during a call of the library.  Returns nullptr if the call succeeded or was cancelled: in a
     * cancelled call, functions that check fbp_stopped() throw only for this reason. */
    std::exception_ptr take(fbp_status status) noexcept
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        const std::exception_ptr thrown = std::exchange(thrown_, nullptr);
        return status != FBP_OK && status != FBP_ERR_CANCELLED ? thrown : nullptr;
    }

  private:
    void keep(char *why, std::size_t n_why, const char *what) noexcept
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (!thrown_)
            thrown_ = std::current_exception();
        if (n_why > 0) {
            std::strncpy(why, what, n_why - 1);
            why[n_why - 1] = 0;
        }
    }

    std::mutex mutex_;
    std::exception_ptr thrown_;
};

/** Base class of handles of C objects; the destructor calls Free(&handle). */
template <class T, void (*Free)(T **)> class handle
{
  public:
    handle() noexcept = default;
    explicit handle(T *p) noexcept : p_(p)
    {
    }
    handle(handle &&other) noexcept
        : p_(std::exchange(other.p_, nullptr)), callbacks_(std::move(other.callbacks_))
    {
    }
    handle &operator=(handle &&other) noexcept
    {
        std::swap(p_, other.p_);
        std::swap(callbacks_, other.callbacks_);
        return *this;
    }
    handle(const handle &) = delete;
    handle &operator=(const handle &) = delete;
    ~handle()
    {
        Free(&p_);
    }

    T *get() const noexcept
    {
        return p_;
    }
    explicit operator bool() const noexcept
    {
        return p_ != nullptr;
    }
    /** Return the object that stores exceptions of the caller's functions; nullptr: this handle
     * calls no functions of the caller. */
    const std::shared_ptr<callbacks> &functions() const noexcept
    {
        return callbacks_;
    }

  protected:
    void check(fbp_status status) const
    {
        if (callbacks_)
            if (const std::exception_ptr thrown = callbacks_->take(status))
                std::rethrow_exception(thrown);
        fbp::check(status);
    }

    T *p_ = nullptr;
    /* Stores exceptions of the caller's functions; kept until the C object is freed, because
     * freeing may call these functions. */
    std::shared_ptr<callbacks> callbacks_;
};

/** Cancels the calls of the threads that attach it; they throw fbp::error with the status
 *  FBP_ERR_CANCELLED.  Any thread and a signal handler may call stop(). */
class stopper
{
  public:
    stopper() noexcept = default;
    stopper(const stopper &) = delete;
    stopper &operator=(const stopper &) = delete;
    void stop() noexcept
    {
        fbp_stopper_stop(&s_);
    }
    /** Attaches a stopper (which cancels calls) to this thread, until this object is destroyed. */
    class attached
    {
      public:
        explicit attached(stopper &to) noexcept
        {
            fbp_stopper_attach(&to.s_);
        }
        attached(const attached &) = delete;
        attached &operator=(const attached &) = delete;
        ~attached()
        {
            fbp_stopper_attach(nullptr);
        }
    };

  private:
    fbp_stopper s_{};
};

/** Options for functions of the caller that read slices (source) or receive slices (sink). */
struct call_options {
    std::size_t at_once = 1; /**< greatest number of slices per call of the caller's function */
    bool concurrent = false; /**< true: several threads may call the caller's function at once */
};

/** An array from which slices are read. */
class source : public handle<fbp_source, fbp_source_close>
{
  public:
    using handle::handle;
    explicit source(const std::string &path, const fbp_raw *raw = nullptr)
    {
        check(fbp_source_open(&p_, path.c_str(), raw));
    }
    static source follow(const std::string &path, double timeout_s, const fbp_raw *raw = nullptr)
    {
        source s;
        s.check(fbp_source_follow(&s.p_, path.c_str(), raw, timeout_s));
        return s;
    }
    /** Make a source of samples in memory of the caller, which are not copied. */
    static source memory(const void *samples, const fbp_array_info &info)
    {
        source s;
        s.check(fbp_source_memory(&s.p_, samples, &info));
        return s;
    }
    /** Make a source of samples in device memory of the caller, which are not copied.  backend is
     * "cuda"; queue is a cudaStream_t. */
    static source device_memory(const void *samples, const fbp_array_info &info,
                                const std::string &backend, void *queue = nullptr)
    {
        source s;
        s.check(fbp_source_device_memory(&s.p_, samples, &info, backend.c_str(), queue));
        return s;
    }
    /** Function that stores rows [row0, row0 + n_rows) of slices [slice0, slice0 + n_slices) in
     *  `out`, like fbp_read_fn.  If it throws, the call that reads fails and throws the same
     *  exception. */
    using read_function = std::function<void(std::size_t slice0, std::size_t n_slices,
                                             std::size_t row0, std::size_t n_rows, void *out)>;
    /** Make a source whose samples a function of the caller delivers (fbp_source_callback()).  The
     * function is copied. */
    static source callback(const fbp_array_info &info, read_function read, call_options how = {})
    {
        source s;
        const auto kept = std::make_shared<reader>();
        kept->read = std::move(read);
        s.callbacks_ = kept;
        sized<fbp_source_functions> functions;
        functions.read = kept->read ? on_read : nullptr;
        functions.user = kept.get();
        functions.at_once = how.at_once;
        functions.concurrent = how.concurrent;
        s.check(fbp_source_callback(&s.p_, &functions, &info));
        return s;
    }
    const fbp_array_info &info() const noexcept
    {
        return *fbp_source_info(p_);
    }
    /** Read slices as [n_slices][n[1]][n[0]]. */
    std::vector<float> read(std::size_t slice0, std::size_t n_slices)
    {
        const fbp_array_info &i = info();
        std::vector<float> out(n_slices * i.n[1] * i.n[0]);
        check(fbp_source_read(p_, slice0, n_slices, 0, i.n[1], FBP_F32, out.data()));
        return out;
    }
    std::vector<float> read()
    {
        return read(0, info().n[2]);
    }
    /** Read slices as [n_slices][n[1]][n[0]] in double, without rounding. */
    std::vector<double> read_double(std::size_t slice0, std::size_t n_slices)
    {
        const fbp_array_info &i = info();
        std::vector<double> out(n_slices * i.n[1] * i.n[0]);
        check(fbp_source_read(p_, slice0, n_slices, 0, i.n[1], FBP_F64, out.data()));
        return out;
    }
    std::vector<double> read_double()
    {
        return read_double(0, info().n[2]);
    }

  private:
    struct reader : callbacks {
        read_function read;
    };
    static int on_read(void *user, std::size_t slice0, std::size_t n_slices, std::size_t row0,
                       std::size_t n_rows, void *out, char *why, std::size_t n_why) noexcept
    {
        reader *r = static_cast<reader *>(user);
        return r->guard(why, n_why, [&] { r->read(slice0, n_slices, row0, n_rows, out); });
    }
};

/** Functions of a sink, like struct fbp_sink_functions.  If a function throws, the call that writes
 *  fails and throws the same exception. */
struct sink_functions {
    /** Function called before the first slice is written, with the size n[3] of the array. May be
     * empty. */
    std::function<void(const std::size_t *n)> begin;
    std::function<void(std::size_t z0, std::size_t nz, const float *slices)> write;
    /** Function called at the end; complete: true if all slices were written.  May be empty. */
    std::function<void(bool complete)> end;
};

/** An array to which slices are written.  finish() gives the file its final name. */
class sink : public handle<fbp_sink, fbp_sink_close>
{
  public:
    using handle::handle;
    sink(const std::string &path, const fbp_array_info &info, const sink_params &params = {})
    {
        check(fbp_sink_open(&p_, path.c_str(), &info, &params));
    }
    static sink memory(float *samples, const std::size_t (&n)[3])
    {
        sink s;
        s.check(fbp_sink_memory(&s.p_, samples, FBP_F32, n));
        return s;
    }
    static sink memory(double *samples, const std::size_t (&n)[3])
    {
        sink s;
        s.check(fbp_sink_memory(&s.p_, samples, FBP_F64, n));
        return s;
    }
    /** Make a sink that writes to device memory of the caller.  backend is "cuda"; queue is a
     * cudaStream_t. */
    static sink device_memory(float *samples, const std::size_t (&n)[3], const std::string &backend,
                              void *queue = nullptr)
    {
        sink s;
        s.check(fbp_sink_device_memory(&s.p_, samples, FBP_F32, n, backend.c_str(), queue));
        return s;
    }
    static sink device_memory(double *samples, const std::size_t (&n)[3],
                              const std::string &backend, void *queue = nullptr)
    {
        sink s;
        s.check(fbp_sink_device_memory(&s.p_, samples, FBP_F64, n, backend.c_str(), queue));
        return s;
    }
    /** Make a sink that passes slices to functions of the caller (fbp_sink_callback()), which are
     * copied.  If end() throws when an unfinished sink is freed, the exception is ignored. */
    static sink callback(sink_functions functions, const std::size_t (&n)[3], call_options how = {})
    {
        sink s;
        const auto kept = std::make_shared<writer>();
        kept->functions = std::move(functions);
        s.callbacks_ = kept;
        const sink_functions &f = kept->functions;
        sized<fbp_sink_functions> given;
        given.begin = f.begin ? on_begin : nullptr;
        given.write = f.write ? on_write : nullptr;
        given.end = f.end ? on_end : nullptr;
        given.user = kept.get();
        given.at_once = how.at_once;
        given.concurrent = how.concurrent;
        s.check(fbp_sink_callback(&s.p_, &given, n));
        return s;
    }
    void write(std::size_t z0, std::size_t nz, const float *data)
    {
        check(fbp_sink_write(p_, z0, nz, FBP_F32, data));
    }
    void write(std::size_t z0, std::size_t nz, const double *data)
    {
        check(fbp_sink_write(p_, z0, nz, FBP_F64, data));
    }
    void finish()
    {
        check(fbp_sink_finish(p_));
    }
    std::uint64_t clipped() const noexcept
    {
        return fbp_sink_clipped(p_);
    }

  private:
    struct writer : callbacks {
        sink_functions functions;
    };
    static int on_begin(void *user, const std::size_t n[3], char *why, std::size_t n_why) noexcept
    {
        writer *w = static_cast<writer *>(user);
        return w->guard(why, n_why, [&] { w->functions.begin(n); });
    }
    static int on_write(void *user, std::size_t z0, std::size_t nz, const float *slices, char *why,
                        std::size_t n_why) noexcept
    {
        writer *w = static_cast<writer *>(user);
        return w->guard(why, n_why, [&] { w->functions.write(z0, nz, slices); });
    }
    static int on_end(void *user, int complete, char *why, std::size_t n_why) noexcept
    {
        writer *w = static_cast<writer *>(user);
        return w->guard(why, n_why, [&] { w->functions.end(complete != 0); });
    }
};

/** A scan, from a file or from views. */
class scan
{
  public:
    scan() = default;
    explicit scan(const std::string &path)
    {
        check(fbp_scan_load(&s_, path.c_str(), NULL));
    }
    scan(const std::string &path, const scan_known &known)
    {
        check(fbp_scan_load(&s_, path.c_str(), &known));
    }
    /** Create a scan from geometries of views, which are copied and contain no samples.  For views
     * on a circle, see fbp::scan::cone(), fan() and parallel(). */
    scan(fbp_kind kind, const fbp_panel &panel, const std::vector<fbp_view> &views)
    {
        check(fbp_scan_vectors(&s_, kind, views.data(), views.size(), panel));
    }
    static scan cone(const fbp_circle &of, const fbp_panel &panel)
    {
        scan out;
        check(fbp_scan_cone(&out.s_, &of, panel));
        return out;
    }
    static scan fan(const fbp_circle &of, std::size_t n_columns)
    {
        scan out;
        check(fbp_scan_fan(&out.s_, &of, n_columns));
        return out;
    }
    static scan parallel(const fbp_circle &of, const fbp_panel &panel)
    {
        scan out;
        check(fbp_scan_parallel(&out.s_, &of, panel));
        return out;
    }
    /** Create a scan of cone-beam views from 3x4 matrices: 12 numbers per view, row by row. */
    static scan matrices(const std::vector<double> &numbers, double pitch_u_mm,
                         const fbp_panel &panel)
    {
        scan out;
        check(fbp_scan_matrices(&out.s_, reinterpret_cast<const double(*)[12]>(numbers.data()),
                                numbers.size() / 12, pitch_u_mm, panel));
        return out;
    }
    static scan plane_integrals(const fbp_planes &of)
    {
        scan out;
        check(fbp_scan_planes(&out.s_, &of));
        return out;
    }
    /** Load the geometry of a scan from a file of fbp or of another program. */
    static scan geometry(const std::string &path, const geometry_known &known = {},
                         const char *format = nullptr)
    {
        scan out;
        check(fbp_geometry_load(&out.s_, path.c_str(), format, &known));
        return out;
    }
    scan(scan &&other) noexcept : s_(other.s_)
    {
        other.s_ = sized<fbp_scan>();
    }
    scan &operator=(scan &&other) noexcept
    {
        std::swap(s_, other.s_);
        return *this;
    }
    scan(const scan &) = delete;
    scan &operator=(const scan &) = delete;
    ~scan()
    {
        fbp_scan_clear(&s_);
    }

    const fbp_scan *get() const noexcept
    {
        return &s_;
    }
    /** Return the struct for C functions that change a scan; members that are numbers may be set
     * freely.  The scan still owns its strings and arrays. */
    fbp_scan *get() noexcept
    {
        return &s_;
    }
    const fbp_scan *operator->() const noexcept
    {
        return &s_;
    }
    fbp_scan *operator->() noexcept
    {
        return &s_;
    }
    std::vector<fbp_view> views() const
    {
        return {s_.views, s_.views + s_.n_views};
    }
    /** Set the volume for reconstructions whose parameters contain no volume. */
    void set_volume(const fbp_grid &grid) noexcept
    {
        s_.volume = grid;
    }
    void set_row_order(fbp_row_order order) noexcept
    {
        s_.row_order = order;
    }

    bool is_intensity() const noexcept
    {
        return fbp_scan_is_intensity(&s_);
    }
    /** Use only the views of the list `views`, such as "0:100,110:", without those of `skip`; an
     * empty list: all views, no view. */
    void select(const std::string &views, const std::string &skip = "")
    {
        check(fbp_scan_select(&s_, views.empty() ? nullptr : views.c_str(),
                              skip.empty() ? nullptr : skip.c_str()));
    }
    void reduce(std::size_t every, std::size_t bin)
    {
        check(fbp_scan_reduce(&s_, every, bin));
    }
    void confirm(const std::string &key)
    {
        fbp_scan_confirm(&s_, key.c_str());
    }
    void save(const std::string &path, const fbp_circle *written = nullptr) const
    {
        check(fbp_scan_save(&s_, path.c_str(), written));
    }
    void save_geometry(const std::string &path, const char *format = nullptr) const
    {
        check(fbp_geometry_save(&s_, path.c_str(), format));
    }
    geometry_facts facts(const fbp_grid *grid = nullptr) const
    {
        geometry_facts out;
        check(fbp_scan_facts(&s_, grid, &out));
        return out;
    }

  private:
    sized<fbp_scan> s_;
};

/** Callbacks of a plan; each may be empty. */
struct listeners {
    /** Receives the progress of planning and of a run; returns false to cancel the call. */
    std::function<bool(const fbp_progress &)> progress;
    std::function<void(fbp_log_level, const std::string &)> log;
};

/** A plan of a reconstruction.  The scan must outlive the plan. */
class plan
{
  public:
    explicit plan(const scan &scan, const recon_params &params = {}) : plan(scan, params, {})
    {
    }
    plan(const scan &scan, const recon_params &params, listeners listen)
        : plan(scan, params, params.input.source, nullptr, std::move(listen))
    {
    }
    /** Plan a reconstruction of views from a source, not of the scan's projections.  The source
     * must outlive the plan. */
    plan(const scan &scan, const recon_params &params, source &from, listeners listen = {})
        : plan(scan, params, from.get(), from.functions(), std::move(listen))
    {
    }

    fbp_plan *get() const noexcept
    {
        return p_.get();
    }
    const fbp_plan_summary &info() const noexcept
    {
        return *fbp_plan_info(p_.get());
    }
    double estimate() const
    {
        double seconds = 0;
        check(fbp_plan_estimate(p_.get(), &seconds));
        return seconds;
    }
    void open()
    {
        check(fbp_plan_open(p_.get()));
    }
    report run(const std::string &output)
    {
        report out;
        check(fbp_plan_run(p_.get(), output.c_str(), &out));
        return out;
    }
    report run_to(sink &to)
    {
        report out;
        check(fbp_plan_run_to(p_.get(), nullptr, to.get(), &out), to.functions());
        return out;
    }
    report run_to(source &from, sink &to)
    {
        report out;
        check(fbp_plan_run_to(p_.get(), from.get(), to.get(), &out), to.functions(),
              from.functions());
        return out;
    }
    /** Reconstruct into memory: an array [time point][z][y][x] of info().time_points volumes of the
     * size info().volume.n. For the report, use run_to() with sink::memory(). */
    std::vector<float> run()
    {
        const std::size_t(&v)[3] = info().volume.n;
        const std::size_t n[3] = {v[0], v[1], info().time_points * v[2]};
        std::vector<float> volume(n[0] * n[1] * n[2]);
        sink to = sink::memory(volume.data(), n);
        run_to(to);
        return volume;
    }

  private:
    struct state {
        listeners listen;
        std::exception_ptr thrown;
    };

    using functions = std::shared_ptr<callbacks>;

    plan(const scan &scan, const recon_params &params, fbp_source *source, functions of_source,
         listeners listen)
        : state_(std::make_unique<state>()), source_(std::move(of_source))
    {
        recon_params p = params;

        p.input.source = source;
        state_->listen = std::move(listen);
        if (state_->listen.progress || state_->listen.log) {
            p.callbacks.user = state_.get();
            p.callbacks.progress = state_->listen.progress ? &on_progress : nullptr;
            p.callbacks.log = state_->listen.log ? &on_log : nullptr;
        }
        fbp_plan *made = nullptr;
        const fbp_status st = fbp_plan_create(&made, scan.get(), &p);
        p_ = handle<fbp_plan, fbp_plan_destroy>(made);
        check(st);
    }
    static int on_progress(void *user, const fbp_progress *now) noexcept
    {
        state *s = static_cast<state *>(user);
        try {
            return s->thrown || !s->listen.progress(*now);
        } catch (...) {
            s->thrown = std::current_exception();
            return 1;
        }
    }
    static void on_log(void *user, fbp_log_level level, const char *line) noexcept
    {
        state *s = static_cast<state *>(user);
        try {
            s->listen.log(level, line);
        } catch (...) {
            s->thrown = std::current_exception();
        }
    }
    void check(fbp_status status, const functions &sink = {}, const functions &source = {}) const
    {
        std::exception_ptr first = std::exchange(state_->thrown, nullptr);
        for (const functions &f : {source_, source, sink})
            if (const std::exception_ptr thrown = f ? f->take(status) : nullptr)
                first = first ? first : thrown;
        if (first)
            std::rethrow_exception(first);
        fbp::check(status);
    }

    std::unique_ptr<state> state_;
    functions source_;
    handle<fbp_plan, fbp_plan_destroy> p_;
};

/** A reconstruction of plane integrals to which views are added one by one.  The scan must outlive
 * the accumulator. */
class accumulator
{
  public:
    explicit accumulator(const scan &scan, const recon_params &params = {})
    {
        fbp_accumulator *made = nullptr;
        check(fbp_grid_resolve(&params.volume, scan.get(), &grid_));
        const fbp_status st = fbp_accumulator_create(&made, scan.get(), &params);
        p_ = handle<fbp_accumulator, fbp_accumulator_destroy>(made);
        check(st);
        time_points_ = scan->panel.n_rows;
    }
    /** Add one view; samples: [n_rows][n_columns] of the scan's panel. */
    void add(std::size_t view, const float *samples)
    {
        check(fbp_accumulator_add(p_.get(), view, samples));
    }
    /** Return the volume of the views that have been added, [time point][z][y][x]. */
    std::vector<float> volume()
    {
        std::vector<float> out(time_points_ * grid_.n[0] * grid_.n[1] * grid_.n[2]);
        check(fbp_accumulator_volume(p_.get(), out.data()));
        return out;
    }

  private:
    handle<fbp_accumulator, fbp_accumulator_destroy> p_;
    fbp_grid grid_{};
    std::size_t time_points_ = 1;
};

/** Reconstruct from memory into memory.  views: [n_views][n_rows][n_columns], as stored, before
 * fbp_scan_reduce().  Returns the volume [z][y][x], or [time point][z][y][x], whose grid is written
 * to *grid. */
inline std::vector<float> reconstruct(const scan &scan, const float *views,
                                      const recon_params &params = {}, fbp_grid *grid = nullptr)
{
    array_info info;

    info.n[0] = scan->every ? scan->stored.n_columns : scan->panel.n_columns;
    info.n[1] = scan->every ? scan->stored.n_rows : scan->panel.n_rows;
    info.n[2] = scan->stored_views ? scan->stored_views : scan->n_views;
    info.type = FBP_F32;
    info.row_order = scan->row_order;
    source from = source::memory(views, info);
    plan made(scan, params, from);
    if (grid)
        *grid = made.info().volume;
    return made.run();
}

/** A phantom: ellipsoids and other shapes with exact line and plane integrals. */
class phantom
{
  public:
    explicit phantom(const std::string &name, double half_mm = 100, double scale = 1)
    {
        check(fbp_phantom_create(&p_, name.c_str(), half_mm, scale));
    }
    phantom(phantom &&other) noexcept : p_(std::exchange(other.p_, fbp_phantom()))
    {
    }
    phantom &operator=(phantom &&other) noexcept
    {
        std::swap(p_, other.p_);
        return *this;
    }
    phantom(const phantom &) = delete;
    phantom &operator=(const phantom &) = delete;
    ~phantom()
    {
        fbp_phantom_clear(&p_);
    }

    const fbp_phantom *get() const noexcept
    {
        return &p_;
    }
    double at(double x, double y, double z) const
    {
        const double place[3] = {x, y, z};
        return fbp_phantom_at(&p_, place);
    }
    /** Simulate the projections of a scan's views and write them as an array to `path`. */
    void project(const scan &scan, const std::string &path, double noise_i0 = 0,
                 std::uint64_t seed = 0, int n_threads = 0) const
    {
        simulate_params params;
        params.noise_i0 = noise_i0;
        params.seed = seed;
        params.n_threads = n_threads;
        check(fbp_phantom_simulate(&p_, scan.get(), path.c_str(), &params));
    }
    void volume(const fbp_grid &grid, const std::string &path, int n_threads = 0) const
    {
        check(fbp_phantom_volume(&p_, &grid, FBP_CONE, FBP_UNIT_MM, path.c_str(), n_threads));
    }
    /** Write the volume that an ideal reconstruction of the scan would give: voxel means of the
     * phantom. */
    void truth(const scan &scan, const std::string &path, fbp_unit unit = FBP_UNIT_MM,
               int n_threads = 0) const
    {
        check(fbp_phantom_volume(&p_, &scan->volume, scan->kind, unit, path.c_str(), n_threads));
    }

  private:
    fbp_phantom p_{};
};

/** List all devices, also unusable ones. */
inline std::vector<fbp_device_info> devices()
{
    std::vector<fbp_device_info> out(1);

    for (;;) {
        out[0].struct_size = sizeof(fbp_device_info);
        const std::size_t n = fbp_devices(out.data(), out.size());
        const bool all = n <= out.size();
        out.resize(n);
        if (all)
            return out;
    }
}

/** Find the column of the rotation axis. */
inline centre find_centre(const scan &scan, const recon_params &params = {})
{
    centre out;
    check(fbp_centre_find(scan.get(), &params, &out));
    return out;
}

/** Compare two volumes in files. */
inline comparison compare(const std::string &a, const std::string &b, double inside_radius_mm = 0)
{
    comparison out;
    check(fbp_array_compare(a.c_str(), b.c_str(), inside_radius_mm, &out));
    return out;
}

/** Draw slices of a volume, by default three, as a PNG file. */
inline void write_picture(const std::string &volume, const std::string &png,
                          const picture_params &params = {})
{
    check(fbp_picture_write(volume.c_str(), png.c_str(), &params));
}

} // namespace fbp

#endif /* FBP_FBP_HPP */
