/* Arrays in files, pictures, comparison. */
#include "call.hpp"
#include "device.hpp"

#include <cstring>

namespace fbp_python
{

/** An array in a file: its header, and its samples on demand. */
struct file {
    fbp_source *source = nullptr;

    explicit file(const std::string &path)
    {
        call([&] { return fbp_source_open(&source, path.c_str(), nullptr); });
    }
    ~file()
    {
        fbp_source_close(&source);
    }
    file(const file &) = delete;
    file &operator=(const file &) = delete;
};

static nb::dict info_of(const file &f)
{
    const fbp_array_info &i = *fbp_source_info(f.source);
    nb::dict out;

    out["size"] = nb::make_tuple(i.n[0], i.n[1], i.n[2]);
    out["dtype"] = fbp_name(FBP_LIST_TYPES, i.type);
    out["spacing"] =
        i.has_spacing
            ? nb::object(nb::make_tuple(i.spacing_mm[0], i.spacing_mm[1], i.spacing_mm[2]))
            : nb::none();
    out["origin"] = nb::make_tuple(i.origin_mm[0], i.origin_mm[1], i.origin_mm[2]);
    out["unit"] = i.unit;
    out["format"] = i.format;
    out["frames"] = i.time_points > 1 ? i.time_points : std::size_t{1};
    out["scaled"] = i.scale != 0;
    out["row_order"] = i.row_order == FBP_ROWS_TOP_DOWN ? "top-down" : "bottom-up";
    return out;
}

/* All slices, as float32 or float64. */
static void read(const file &f, nb::handle out)
{
    const array a = borrow(out, "out");
    const std::size_t *n = fbp_source_info(f.source)->n;

    call([&] {
        return fbp_source_read(f.source, 0, n[2], 0, n[1], a.type == FBP_F64 ? FBP_F64 : FBP_F32,
                               a.data);
    });
}

/* Of a volume in the memory of a device: its samples in the host's, as float32 or float64. */
static nb::object to_host(nb::handle given)
{
    const array a = borrow_anywhere(given, "array");
    const std::size_t n = a.shape.size();
    const bool wide = a.type == FBP_F64;
    fbp::array_info info;

    info.n[0] = a.shape[n - 1];
    info.n[1] = n > 1 ? a.shape[n - 2] : 1;
    info.n[2] = 1;
    for (std::size_t i = 0; i + 2 < n; i++)
        info.n[2] *= a.shape[i];
    info.type = a.type;
    info.row_order = FBP_ROWS_BOTTOM_UP;
    char *samples = new char[info.n[0] * info.n[1] * info.n[2] * (wide ? 8 : 4)];
    const nb::capsule owner(samples, [](void *p) noexcept { delete[] static_cast<char *>(p); });
    call([&] {
        fbp_source *source = nullptr;
        fbp_status st =
            fbp_source_device_memory(&source, a.data, &info, a.place->backend(), a.place->queue());
        if (st == FBP_OK)
            st = fbp_source_read(source, 0, info.n[2], 0, info.n[1], wide ? FBP_F64 : FBP_F32,
                                 samples);
        fbp_source_close(&source);
        return st;
    });
    const nb::dlpack::dtype dtype = wide ? nb::dtype<double>() : nb::dtype<float>();
    return nb::cast(nb::ndarray<nb::numpy>(samples, n, a.shape.data(), owner, nullptr, dtype));
}

struct place {
    std::vector<double> spacing, origin;
    std::string unit;
};

static fbp::array_info info_of(const array &a, const place &at, std::size_t frames)
{
    fbp::array_info info;

    for (std::size_t i = 0; i < 3; i++) {
        info.n[i] = a.shape[2 - i];
        info.spacing_mm[i] = at.spacing.at(i);
        info.origin_mm[i] = at.origin.at(i);
    }
    info.has_spacing = true;
    info.type = a.type;
    info.row_order = FBP_ROWS_BOTTOM_UP;
    info.time_points = frames;
    std::strncpy(info.unit, at.unit.c_str(), sizeof info.unit - 1);
    return info;
}

/* Slices of any array as floats or doubles, one after the other. */
static fbp_status write_slices(fbp_sink *sink, const array &a)
{
    const std::size_t pixels = a.shape[1] * a.shape[2];
    std::vector<char> as_is(pixels * fbp_type_size(a.type));
    std::vector<double> values(pixels);
    fbp_status st = FBP_OK;

    for (std::size_t z = 0; z < a.shape[0] && st == FBP_OK; z++) {
        copy_rows(a, z, 1, 0, a.shape[1], as_is.data());
        convert(as_is.data(), a.type, pixels, FBP_F64, values.data());
        st = fbp_stopped() ? FBP_ERR_CANCELLED : fbp_sink_write(sink, z, 1, FBP_F64, values.data());
    }
    return st == FBP_OK ? fbp_sink_finish(sink) : st;
}

static void save(const std::string &path, nb::handle given, std::vector<double> spacing,
                 std::vector<double> origin, const std::string &unit, std::size_t frames,
                 bool compress)
{
    const array a = borrow(given, "array").padded(3);
    const fbp::array_info info = info_of(a, {std::move(spacing), std::move(origin), unit}, frames);
    fbp::sink_params p;

    p.compress = compress;
    p.type = a.type == FBP_F64 ? FBP_F64 : FBP_F32;
    call([&] {
        fbp_sink *sink = nullptr;
        fbp_status st = fbp_sink_open(&sink, path.c_str(), &info, &p);
        if (st == FBP_OK)
            st = write_slices(sink, a);
        fbp_sink_close(&sink);
        return st;
    });
}

/* The same picture as fbp view's; returns its grey window. */
static nb::tuple picture(const std::string &png, nb::handle given, std::vector<double> spacing,
                         bool mip, std::optional<std::pair<double, double>> window,
                         std::optional<std::vector<std::size_t>> slice, double turn_deg)
{
    const array a = borrow(given, "array").padded(3);
    const fbp::array_info info = info_of(a, {std::move(spacing), {0, 0, 0}, ""}, 1);
    fbp::picture_params p;
    double shown[2] = {0, 0};

    if (!a.is_plain())
        refuse("array: must be in C order");
    p.mip = mip;
    p.turn_deg = turn_deg;
    p.shown = shown;
    if (window) {
        p.lo = window->first;
        p.hi = window->second;
    }
    if (slice) {
        p.at_slice = true;
        for (std::size_t i = 0; i < 3; i++)
            p.slice[i] = slice->at(i);
    }
    call([&] {
        fbp_status st = fbp_source_memory(&p.source, a.data, &info);
        if (st == FBP_OK)
            st = fbp_picture_write("the volume", png.c_str(), &p);
        fbp_source_close(&p.source);
        return st;
    });
    return nb::make_tuple(shown[0], shown[1]);
}

static nb::dict compare(const std::string &a, const std::string &b, double radius)
{
    fbp::comparison c;
    nb::dict out;

    call([&] { return fbp_array_compare(a.c_str(), b.c_str(), radius, &c); });
    out["count"] = c.count;
    out["rmse"] = c.rmse;
    out["nrmse"] = c.nrmse;
    out["max"] = c.max;
    out["psnr_db"] = c.psnr_db;
    out["not_finite"] = c.not_finite;
    out["mean_a"] = c.mean_a;
    out["mean_b"] = c.mean_b;
    return out;
}

void define_files(nb::module_ &m)
{
    nb::class_<file>(m, "File", "An array in a file: fbp_source.")
        .def(nb::init<const std::string &>(), nb::arg("path"))
        .def_prop_ro("info", [](const file &f) { return info_of(f); })
        .def("read", &read, nb::arg("out"));
    m.def("save", &save, nb::arg("path"), nb::arg("array"), nb::arg("spacing"), nb::arg("origin"),
          nb::arg("unit"), nb::arg("frames"), nb::arg("compress"));
    m.def("picture", &picture, nb::arg("png"), nb::arg("array"), nb::arg("spacing"), nb::arg("mip"),
          nb::arg("window").none(), nb::arg("slice").none(), nb::arg("turn_deg"));
    m.def("is_elsewhere", &is_elsewhere, nb::arg("given").none(),
          "Does an array lie in memory that the host cannot read?");
    m.def("to_host", &to_host, nb::arg("given"), "The samples of such an array, as a NumPy array.");
    m.def("compare", &compare, nb::arg("a"), nb::arg("b"), nb::arg("radius"));
}

} // namespace fbp_python
