/* Plans and their runs. */
#include "params.hpp"
#include "results.hpp"
#include "scan.hpp"
#include "views.hpp"

#include <cstring>
#include <mutex>
#include <thread>
#include <utility>

namespace fbp_python
{

struct plan_deleter {
    void operator()(fbp_plan *p) const noexcept
    {
        fbp_plan_destroy(&p);
    }
};

/** A plan, and all that it borrows. */
class plan
{
  public:
    plan(nb::object scan_object, nb::object views_object, const nb::dict &keywords,
         listeners listen);
    ~plan();
    plan(const plan &) = delete;
    plan &operator=(const plan &) = delete;

    nb::dict run(nb::object views_object, nb::object out, listeners listen);
    /** End the present run, or else the next one. */
    void stop()
    {
        const std::lock_guard<std::mutex> lock(lock_);
        if (running_)
            running_->stop();
        else
            stop_next_ = true;
    }
    void open();
    double estimate();
    static int traverse(PyObject *self, visitproc visit, void *arg);
    const fbp_plan_summary &info() const noexcept
    {
        return *fbp_plan_info(plan_.get());
    }

  private:
    /** The only call of this plan at a time. */
    class turn;
    void check_place(const array &a, const char *what) const;
    static void check_apart(const nb::object &views_object, const array &out);
    struct output;
    void run_on(desk &at, opened *from, output &to, fbp::report &report);

    nb::object scan_, views_;
    params params_;
    desk *now_ = nullptr; /**< of the call that goes on; the library is given its address */
    std::unique_ptr<opened> source_;
    std::unique_ptr<fbp_plan, plan_deleter> plan_; /* goes before its source and that */
    bool busy_ = false;
    std::mutex lock_;
    fbp::stopper *running_ = nullptr; /**< of the present run */
    bool stop_next_ = false;
};

/** Where a volume goes: a file, an array, a function. */
struct plan::output {
    std::string path; /**< "": no file */
    array samples;
    nb::object function;
    desk *at = nullptr;
    std::size_t n[3] = {0, 0, 0};
    fbp_type type = FBP_F32;
    fbp_sink *sink = nullptr;

    output(nb::object given, const fbp_plan_summary &plan, bool in_double);
    ~output()
    {
        fbp_sink_close(&sink);
    }
    output(const output &) = delete;
    output &operator=(const output &) = delete;
    void open();

  private:
    void take_array(nb::handle given);
    int put(std::size_t z0, std::size_t nz, const void *slices, char *why, std::size_t n_why);
    template <class T>
    static int on_write(void *user, std::size_t z0, std::size_t nz, const T *slices, char *why,
                        std::size_t n_why)
    {
        return static_cast<output *>(user)->put(z0, nz, slices, why, n_why);
    }
};

class plan::turn
{
  public:
    turn(plan &of, desk &at) : of_(of)
    {
        if (of_.busy_)
            throw std::runtime_error(
                "plan: already running in another thread; make one plan per thread");
        of_.busy_ = true;
        of_.now_ = &at;
    }
    ~turn()
    {
        of_.now_ = nullptr;
        of_.busy_ = false;
    }
    turn(const turn &) = delete;
    turn &operator=(const turn &) = delete;

  private:
    plan &of_;
};

plan::output::output(nb::object given, const fbp_plan_summary &p, bool in_double)
{
    n[0] = p.volume.n[0];
    n[1] = p.volume.n[1];
    n[2] = p.volume.n[2] * p.time_points;
    type = in_double ? FBP_F64 : FBP_F32;
    if (nb::isinstance<nb::str>(given))
        path = nb::cast<std::string>(given);
    else if (is_array(given))
        take_array(given);
    else if (PyCallable_Check(given.ptr()))
        function = std::move(given);
    else
        refuse("out: expected an array, a function or a path");
}

/* (z, y, x), or (frame, z, y, x); a volume of one slice may be (y, x). */
void plan::output::take_array(nb::handle given)
{
    array a = borrow_anywhere(given, "out");
    const std::string wanted = "(" + std::to_string(n[2]) + ", " + std::to_string(n[1]) + ", " +
                               std::to_string(n[0]) + ")";

    if (!a.writable)
        refuse("out: is read-only; give a writable array");
    if (a.type != type)
        refuse(std::string("out: is ") + fbp_name(FBP_LIST_TYPES, a.type) + ", the volume " +
               fbp_name(FBP_LIST_TYPES, type) + "; give np.empty(plan.shape, plan.dtype)");
    const bool joins = a.shape.size() == 4 &&
                       a.strides[0] == a.strides[1] * static_cast<std::ptrdiff_t>(a.shape[1]);
    if (joins) { /* frames behind each other */
        a.shape[1] *= a.shape[0];
        a.shape.erase(a.shape.begin());
        a.strides.erase(a.strides.begin());
    }
    if (a.shape.size() < 3)
        a = a.padded(3);
    if (a.shape.size() != 3 || a.shape[0] != n[2] || a.shape[1] != n[1] || a.shape[2] != n[0])
        refuse("out: has shape " + a.shape_text() + ", the volume " + wanted +
               " (z, y, x); give np.empty(plan.shape, plan.dtype)");
    samples = a;
}

int plan::output::put(std::size_t z0, std::size_t nz, const void *slices, char *why,
                      std::size_t n_why)
{
    const std::size_t bytes = fbp_type_size(type) * nz * n[1] * n[0];

    if (!function.is_valid()) {
        put_slices(samples, z0, nz, slices);
        return 0;
    }
    const bool good = at->ask([&] {
        char *copy = new char[bytes];
        const nb::capsule owner(copy, [](void *p) noexcept { delete[] static_cast<char *>(p); });
        std::memcpy(copy, slices, bytes);
        const std::size_t shape[] = {nz, n[1], n[0]};
        const nb::dlpack::dtype dtype = type == FBP_F64 ? nb::dtype<double>() : nb::dtype<float>();
        const nb::ndarray<nb::numpy> given(copy, 3, shape, owner, nullptr, dtype);
        function(z0, given);
    });
    if (!good && n_why > 0)
        std::strncpy(why, "the function for slices failed", n_why - 1);
    return !good;
}

void plan::output::open()
{
    fbp::sized<fbp_sink_functions> functions;

    if (samples.place) {
        check(fbp_sink_device_memory(&sink, samples.data, type, n, samples.place->backend(),
                                     samples.place->queue()));
        return;
    }
    if (samples.data && samples.is_plain()) {
        check(fbp_sink_memory(&sink, samples.data, type, n));
        return;
    }
    if (type == FBP_F64)
        functions.write_double = on_write<double>;
    else
        functions.write = on_write<float>;
    functions.user = this;
    functions.at_once = n[2];
    functions.concurrent = samples.data != nullptr;
    check(fbp_sink_callback(&sink, &functions, n));
}

/* Runs while the library works, with the GIL: the next view of an iterator. */
static std::function<bool()> feeder(opened *from)
{
    if (!from || !from->feeds())
        return nullptr;
    return [from] { return from->next(); };
}

plan::plan(nb::object scan_object, nb::object views_object, const nb::dict &keywords,
           listeners listen)
    : scan_(std::move(scan_object)), views_(std::move(views_object))
{
    const fbp_scan *s = &nb::cast<const scan &>(scan_).s;
    std::string message;

    read_params(keywords, params_);
    params_.p.callbacks.progress = on_progress;
    params_.p.callbacks.log = on_log;
    params_.p.callbacks.user = &now_;
    if (!views_.is_none()) {
        source_ = std::make_unique<opened>(nb::cast<const views &>(views_), &now_);
        params_.p.input.source = source_->get();
    }
    desk at(std::move(listen));
    const turn mine(*this, at);
    const fbp_status st = at.run(
        [&] {
            fbp_plan *made = nullptr;
            const fbp_status created = fbp_plan_create(&made, s, &params_.p);
            plan_.reset(made);
            return created;
        },
        [] {}, message);
    if (st != FBP_OK)
        throw failure{st, message};
    if (source_)
        check_place(nb::cast<const views &>(views_).samples, "views");
}

/* In a thread of its own, as all work of the library: a driver may give the thread that closes a
 * device another current one than the program has chosen. */
plan::~plan()
{
    const gil_release free_python;
    try {
        std::thread([&] { plan_.reset(); }).join();
    } catch (const std::system_error &) { /* there is no thread to be had */
        plan_.reset();
    }
}

void plan::check_place(const array &a, const char *what) const
{
    const char *given = params_.p.device;

    fbp_python::check_place(a, given && std::strcmp(given, "auto") != 0 ? given : info().backend,
                            what);
}

/* Views are still read when the first slices are written. */
void plan::check_apart(const nb::object &views_object, const array &out)
{
    if (!views_object.is_none() && nb::cast<const views &>(views_object).samples.overlaps(out))
        refuse("out: shares memory with the views, which would be overwritten while they are read; "
               "give a separate array");
}

void plan::open()
{
    desk at({nb::none(), nb::none()});
    const turn mine(*this, at);
    std::string message;
    fbp::stopper stop;
    const fbp_status st = at.run(
        [&] {
            const fbp::stopper::attached here(stop);
            return fbp_plan_open(plan_.get());
        },
        [&] { stop.stop(); }, message);

    if (st != FBP_OK)
        throw failure{st, message};
}

double plan::estimate()
{
    double seconds = 0;

    call([&] { return fbp_plan_estimate(plan_.get(), &seconds); });
    return seconds;
}

void plan::run_on(desk &at, opened *from, output &to, fbp::report &report)
{
    std::string message;
    fbp::stopper stop;
    const auto set_running = [&](fbp::stopper *now) {
        const std::lock_guard<std::mutex> lock(lock_);
        running_ = now;
        if (now && std::exchange(stop_next_, false))
            now->stop();
    };

    const fbp_status st = at.run(
        [&] {
            const fbp::stopper::attached here(stop);
            set_running(&stop);
            const fbp_status ended =
                to.path.empty()
                    ? fbp_plan_run_to(plan_.get(), from ? from->get() : nullptr, to.sink, &report)
                    : fbp_plan_run(plan_.get(), to.path.c_str(), &report);
            set_running(nullptr);
            return ended;
        },
        [&] { stop.stop(); }, message);
    if (st != FBP_OK)
        throw failure{st, message};
}

nb::dict plan::run(nb::object views_object, nb::object out, listeners listen)
{
    fbp::report report;
    output to(std::move(out), info(), params_.p.precision == FBP_PRECISION_DOUBLE);
    std::unique_ptr<opened> from;
    desk at(std::move(listen));
    const turn mine(*this, at);

    to.at = &at;
    check_place(to.samples, "out");
    check_apart(views_object.is_none() ? views_ : views_object, to.samples);
    if (!views_object.is_none()) {
        check_place(nb::cast<const views &>(views_object).samples, "views");
        from = std::make_unique<opened>(nb::cast<const views &>(views_object), &now_);
    } else if (source_) {
        source_->follow();
    }
    at.idle = feeder(from ? from.get() : source_.get());
    if (to.path.empty())
        to.open();
    else if (from)
        refuse("views: a run that writes a file uses the scan's own views; omit views, or let the "
               "run write to an array");
    run_on(at, from.get(), to, report);
    return report_of(report);
}

/* For Python's collector of cycles.  There is no tp_clear: every cycle through a plan contains its
 * views and another object that can be cleared. */
int plan::traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    if (!nb::inst_ready(self))
        return 0;
    Py_VISIT(nb::inst_ptr<plan>(self)->scan_.ptr());
    Py_VISIT(nb::inst_ptr<plan>(self)->views_.ptr());
    return 0;
}

void define_plan(nb::module_ &m)
{
    static const PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void *>(&plan::traverse)},
                                        {0, nullptr}};

    nb::class_<plan>(m, "Plan", nb::type_slots(slots), "A plan of the C library's: fbp_plan.")
        .def(
            "__init__",
            [](plan *self, nb::object scan, nb::object views, const nb::dict &keywords,
               nb::object progress, nb::object log) {
                new (self) plan(std::move(scan), std::move(views), keywords,
                                {std::move(progress), std::move(log)});
            },
            nb::arg("scan"), nb::arg("views").none(), nb::arg("keywords"),
            nb::arg("progress").none(), nb::arg("log").none())
        .def(
            "run",
            [](plan &self, nb::object views, nb::object out, nb::object progress, nb::object log) {
                return self.run(std::move(views), std::move(out),
                                {std::move(progress), std::move(log)});
            },
            nb::arg("views").none(), nb::arg("out"), nb::arg("progress").none(),
            nb::arg("log").none())
        .def("stop", &plan::stop)
        .def("open", &plan::open)
        .def("estimate", &plan::estimate)
        .def_prop_ro("info", [](const plan &self) { return summary_of(self.info()); });
}

} // namespace fbp_python
