/* Simulated scans, the rotation axis, directions, devices and names. */
#include "array.hpp"
#include "call.hpp"
#include "params.hpp"
#include "results.hpp"
#include "scan.hpp"
#include "views.hpp"

#include <vector>

namespace fbp_python
{

struct phantom {
    fbp_phantom p{};

    phantom(const std::string &name, double half_mm, double scale)
    {
        check(fbp_phantom_create(&p, name.c_str(), half_mm, scale));
    }
    ~phantom()
    {
        fbp_phantom_clear(&p);
    }
    phantom(const phantom &) = delete;
    phantom &operator=(const phantom &) = delete;
};

static array writable(nb::handle out, const char *what)
{
    const array a = borrow(out, what);

    if (!a.writable || !a.is_plain())
        refuse(std::string(what) + ": must be writable and in C order");
    return a;
}

static void simulate(const phantom &of, const scan &with, nb::handle out, double noise_i0,
                     double noise_sd, std::uint64_t seed, bool at_centres, double decay,
                     int threads)
{
    const array a = writable(out, "out");
    fbp::simulate_params p;

    p.noise_i0 = noise_i0;
    p.noise_sd = noise_sd;
    p.seed = seed;
    p.at_centres = at_centres;
    p.decay = decay;
    p.n_threads = threads;
    p.in_double = a.type == FBP_F64;
    p.samples = a.data;
    call([&] { return fbp_phantom_simulate(&of.p, &with.s, nullptr, &p); });
}

static void voxels(const phantom &of, const nb::dict &grid, nb::handle out)
{
    const array a = writable(out, "out");
    const fbp_grid g = to_grid(grid);

    call([&] {
        return fbp_phantom_voxels(&of.p, &g, 0, g.n[2], reinterpret_cast<float *>(a.data));
    });
}

/* Run `find`, which searches the geometry of a scan with these parameters, as a long call. */
static void search(const nb::object &views_object, const nb::dict &keywords, nb::object progress,
                   nb::object log, const std::function<fbp_status(const params &)> &find)
{
    desk at({std::move(progress), std::move(log)});
    desk *now = &at;
    std::unique_ptr<opened> source;
    params p;
    std::string message;

    read_params(keywords, p);
    p.p.callbacks.progress = on_progress;
    p.p.callbacks.log = on_log;
    p.p.callbacks.user = &now;
    if (!views_object.is_none()) {
        source = std::make_unique<opened>(nb::cast<const views &>(views_object), &now);
        p.p.input.source = source->get();
        if (source->feeds())
            at.idle = [&] { return source->next(); };
    }
    fbp::stopper stop;
    const fbp_status st = at.run(
        [&] {
            const fbp::stopper::attached here(stop);
            return find(p);
        },
        [&] { stop.stop(); }, message);
    if (st != FBP_OK)
        throw failure{st, message};
}

static nb::dict centre(nb::object scan_object, nb::object views_object, const nb::dict &keywords,
                       nb::object progress, nb::object log)
{
    const scan &s = nb::cast<const scan &>(scan_object);
    fbp::centre c;
    nb::dict out;

    search(views_object, keywords, std::move(progress), std::move(log),
           [&](const params &p) { return fbp_centre_find(&s.s, &p.p, &c); });
    out["column"] = c.column;
    out["uncertainty"] = c.uncertainty;
    out["sure"] = c.sure;
    out["why"] = c.why;
    out["by_rays"] = c.by_rays;
    out["by_slice"] = c.by_slice;
    out["by_turn"] = c.by_turn;
    out["spread"] = c.spread;
    out["misfit"] = c.misfit;
    out["rival"] = c.rival;
    return out;
}

/* Determines the geometry of a scan; also returns the corrected scan.  beads: from a phantom of
 * beads; drift: with movement between the views. */
static nb::tuple calibrate(nb::object scan_object, nb::object views_object, bool beads, bool drift,
                           const nb::dict &keywords, nb::object progress, nb::object log)
{
    const scan &s = nb::cast<const scan &>(scan_object);
    auto corrected = std::make_unique<scan>();
    fbp::sized<fbp_calibration> c;
    nb::dict values, out;

    search(views_object, keywords, std::move(progress), std::move(log),
           [&](const params &p) {
               return (beads   ? fbp_calibrate_beads
                       : drift ? fbp_calibrate_drift
                               : fbp_calibrate)(&s.s, &p.p, &c, &corrected->s);
           });
    for (int i = 0; i < FBP_CALIBRATED_COUNT; i++) {
        const fbp_estimate &e = c.values[i];
        nb::dict one;
        one["value"] = e.value;
        one["uncertainty"] = e.uncertainty;
        one["observable"] = e.observable;
        one["before"] = e.before;
        one["unit"] = fbp_calibrated_unit(static_cast<fbp_calibrated>(i));
        values[fbp_calibrated_name(static_cast<fbp_calibrated>(i))] = one;
    }
    for (int i = 0; i < 2; i++) {
        nb::dict one;
        one["observable"] = c.drift[i].observable;
        one["slow"] = c.drift[i].slow;
        one["found"] = c.drift[i].found;
        one["range"] = c.drift[i].range;
        one["uncertainty"] = c.drift[i].uncertainty;
        out[i == 0 ? "drift_u" : "drift_v"] = one;
    }
    out["reversed"] = c.reversed;
    out["sense_known"] = c.sense_known;
    out["reliable"] = c.reliable;
    out["misfit_before"] = c.misfit_before;
    out["misfit"] = c.misfit;
    out["method"] = c.method;
    out["why"] = c.why;
    return nb::make_tuple(values, out, std::move(corrected));
}

static nb::list devices()
{
    std::vector<fbp::sized<fbp_device_info>> list(32);
    nb::list out;
    std::size_t n = 0;

    call([&] {
        n = fbp_devices(list.data(), list.size());
        return FBP_OK;
    });
    for (std::size_t i = 0; i < n && i < list.size(); i++) {
        nb::dict d;
        d["name"] = list[i].name;
        d["text"] = list[i].text;
        d["usable"] = !list[i].reason[0];
        d["reason"] = list[i].reason;
        d["memory_bytes"] = list[i].memory_bytes;
        d["free_bytes"] = list[i].free_bytes;
        out.append(d);
    }
    return out;
}

/* The unit vectors of a set, three numbers each. */
static nb::list directions(const std::string &set, std::size_t n, std::size_t n_each,
                           const std::string &order, const std::string &pole)
{
    fbp::sized<fbp_directions> d;
    std::size_t count = 0;
    nb::list out;

    d.set = by_name<fbp_direction_set>(FBP_LIST_DIRECTION_SETS, set, "set");
    d.order = by_name<fbp_direction_order>(FBP_LIST_DIRECTION_ORDERS, order, "order");
    d.pole = by_name<fbp_pole>(FBP_LIST_POLES, pole, "pole");
    d.n[0] = n;
    d.n[1] = n_each;
    check(fbp_directions_make(&d, NULL, &count));
    std::vector<double> v(3 * count);
    call([&] { return fbp_directions_make(&d, reinterpret_cast<double(*)[3]>(v.data()), NULL); });
    for (const double x : v)
        out.append(x);
    return out;
}

/* What the keywords of enums can be. */
static nb::dict names()
{
    static const struct {
        const char *keyword;
        fbp_list list;
    } lists[] = {{"filter", FBP_LIST_FILTERS},   {"pad", FBP_LIST_PADS},
                 {"device", FBP_LIST_DEVICES},   {"kernel", FBP_LIST_KERNELS},
                 {"phantom", FBP_LIST_PHANTOMS}, {"quadrature", FBP_LIST_QUADRATURES}};
    nb::dict out;

    for (const auto &one : lists) {
        nb::list all;
        for (std::size_t i = 0; const char *name = fbp_name(one.list, i); i++)
            if (*name)
                all.append(nb::str(name));
        out[one.keyword] = all;
    }
    return out;
}

/* The name of the library's that `text` stands for, such as "hann" for "Hanning"; None: unknown. */
static std::optional<std::string> filter_named(const std::string &text)
{
    const int found = fbp_name_find(FBP_LIST_FILTERS, text.c_str());

    if (found < 0)
        return std::nullopt;
    return fbp_name(FBP_LIST_FILTERS, static_cast<std::size_t>(found));
}

void define_tools(nb::module_ &m)
{
    nb::class_<phantom>(m, "Phantom", "A phantom of the C library's: struct fbp_phantom.")
        .def(nb::init<const std::string &, double, double>(), nb::arg("name"), nb::arg("half_mm"),
             nb::arg("scale"));
    m.def("simulate", &simulate, nb::arg("phantom"), nb::arg("scan"), nb::arg("out"),
          nb::arg("noise_i0"), nb::arg("noise_sd"), nb::arg("seed"), nb::arg("at_centres"),
          nb::arg("decay"), nb::arg("threads"));
    m.def("voxels", &voxels, nb::arg("phantom"), nb::arg("grid"), nb::arg("out"));
    m.def("centre", &centre, nb::arg("scan"), nb::arg("views").none(), nb::arg("keywords"),
          nb::arg("progress").none(), nb::arg("log").none());
    m.def("calibrate", &calibrate, nb::arg("scan"), nb::arg("views").none(), nb::arg("beads"),
          nb::arg("drift"), nb::arg("keywords"), nb::arg("progress").none(), nb::arg("log").none());
    m.def("devices", &devices);
    m.def("directions", &directions, nb::arg("set"), nb::arg("n"), nb::arg("n_each"),
          nb::arg("order"), nb::arg("pole"));
    m.def("names", &names);
    m.def("filter_named", &filter_named, nb::arg("text"));
    m.def("version", [] { return fbp_version(); });
}

} // namespace fbp_python
