#include "params.hpp"

#include "scan.hpp"

namespace fbp_python
{

static const char *keep_text(params &to, nb::handle value)
{
    to.texts.push_back(nb::cast<std::string>(value));
    return to.texts.back().c_str();
}

/* One of an enum's names; Last: the highest that there is. */
template <class Enum>
static Enum named(const char *(*name)(Enum), nb::handle value, const char *what)
{
    return static_cast<Enum>(by_name([&](int i) { return name(static_cast<Enum>(i)); },
                                     nb::cast<std::string>(value), what));
}

/* Names that the library has no list of. */
template <std::size_t N>
static int listed(const char *const (&names)[N], nb::handle value, const char *what)
{
    return by_name([&](int i) { return static_cast<std::size_t>(i) < N ? names[i] : nullptr; },
                   nb::cast<std::string>(value), what);
}

static void read_box(nb::handle value, std::size_t (&box)[3][2])
{
    for (std::size_t i = 0; i < 3; i++)
        for (std::size_t k = 0; k < 2; k++)
            box[i][k] = nb::cast<std::size_t>(nb::object(nb::object(value[i])[k]));
}

using reader = void (*)(params &, nb::handle, const char *);

template <class T, T fbp_recon_params::*Field>
static void take(params &to, nb::handle value, const char *)
{
    to.p.*Field = nb::cast<T>(value);
}

template <int fbp_recon_params::*Field> static void flag(params &to, nb::handle value, const char *)
{
    to.p.*Field = nb::cast<bool>(value);
}

template <const char *fbp_recon_params::*Field>
static void text(params &to, nb::handle value, const char *)
{
    to.p.*Field = keep_text(to, value);
}

template <class Enum, Enum fbp_recon_params::*Field, const char *(*Name)(Enum)>
static void choice(params &to, nb::handle value, const char *what)
{
    to.p.*Field = named<Enum>(Name, value, what);
}

static void take_weights(params &to, nb::handle value, const char *what)
{
    static const char *const names[] = {"auto", "equal"};

    to.p.angular_weights =
        static_cast<fbp_angular_weights>(FBP_ANGULAR_AUTO + listed(names, value, what));
}

static void take_precision(params &to, nb::handle value, const char *what)
{
    static const char *const names[] = {"default", "exact", "fast", "half", "double"};

    to.p.precision = static_cast<fbp_precision>(listed(names, value, what));
}

static void take_mask(params &to, nb::handle value, const char *)
{
    to.p.mask = 1;
    to.p.mask_value = nb::cast<double>(value);
}

static void take_output_type(params &to, nb::handle value, const char *what)
{
    const std::string name = nb::cast<std::string>(value);

    to.p.output_type = fbp_type_from_name(name.c_str());
    if (to.p.output_type == FBP_TYPE_NONE)
        refuse(std::string(what) + ": there is no type \"" + name +
               "\": choose one of float32, uint8, uint16, float64");
}

static void take_output_range(params &to, nb::handle value, const char *)
{
    for (std::size_t i = 0; i < 2; i++)
        to.p.output_range[i] = nb::cast<double>(nb::object(value[i]));
}

static void take_half_width(params &to, nb::handle value, const char *)
{
    to.p.half_width = nb::cast<std::size_t>(value);
    to.p.spatial_filter = 1;
}

static void take_unit(params &to, nb::handle value, const char *what)
{
    to.p.unit = static_cast<std::size_t>(named<fbp_unit>(fbp_unit_name, value, what));
}

static void take_part(params &to, nb::handle value, const char *)
{
    to.p.part = nb::cast<std::size_t>(nb::object(value[0]));
    to.p.n_parts = nb::cast<std::size_t>(nb::object(value[1]));
}

static void take_roi(params &to, nb::handle value, const char *)
{
    read_box(value, to.p.roi);
}

#define SIZE(field)   take<std::size_t, &fbp_recon_params::field>
#define NUMBER(field) take<double, &fbp_recon_params::field>

static const struct {
    const char *name;
    reader read;
} keywords[] = {
    {"device", text<&fbp_recon_params::device>},
    {"threads", take<int, &fbp_recon_params::n_threads>},
    {"memory", SIZE(memory_bytes)},
    {"device_memory", SIZE(device_memory_bytes)},
    {"filter", choice<fbp_filter, &fbp_recon_params::filter, fbp_filter_name>},
    {"cutoff", NUMBER(cutoff)},
    {"cutoff_v", NUMBER(cutoff_v)},
    {"spatial", flag<&fbp_recon_params::spatial_filter>},
    {"half_width", take_half_width},
    {"angular_weights", take_weights},
    {"precision", take_precision},
    {"hu", NUMBER(mu_water)},
    {"unit", take_unit},
    {"kernel", text<&fbp_recon_params::kernel>},
    {"output_type", take_output_type},
    {"output_range", take_output_range},
    {"auto_range", flag<&fbp_recon_params::auto_range>},
    {"resume", flag<&fbp_recon_params::resume>},
    {"compress", flag<&fbp_recon_params::compress>},
    {"force", flag<&fbp_recon_params::force>},
    {"batch", SIZE(batch_views)},
    {"slab", SIZE(slab_slices)},
    {"follow", flag<&fbp_recon_params::follow>},
    {"follow_timeout", NUMBER(follow_timeout_s)},
    {"roi", take_roi},
    {"part", take_part},
    {"pad", choice<fbp_pad_kind, &fbp_recon_params::pad, fbp_pad_name>},
    {"mask", take_mask},
    {"scratch", text<&fbp_recon_params::scratch>},
    {"region", text<&fbp_recon_params::region>},
    {"oversampling", SIZE(oversampling)},
    {"wiener", NUMBER(wiener)},
    {"interpolation",
     choice<fbp_interpolation, &fbp_recon_params::interpolation, fbp_interpolation_name>},
    {"periodic", flag<&fbp_recon_params::periodic>},
    {"stages", take<int, &fbp_recon_params::stages>},
    {"angular", choice<fbp_ring_interpolation, &fbp_recon_params::ring_interpolation,
                       fbp_ring_interpolation_name>},
    {"picture_oversampling", SIZE(picture_oversampling)},
    {"response", text<&fbp_recon_params::response>},
    {"angles", SIZE(angles)},
    {"output", text<&fbp_recon_params::output>},
};

static void read_one(const char *name, nb::handle value, params &out)
{
    for (const auto &k : keywords) {
        if (std::string(k.name) != name)
            continue;
        try {
            k.read(out, value, name);
        } catch (const nb::cast_error &) {
            PyErr_Clear();
            refuse(std::string(name) + ": found " + nb::cast<std::string>(nb::repr(value)) +
                   ", which is of the wrong type or negative");
        }
        return;
    }
    refuse(std::string("there is no keyword ") + name);
}

void read_params(const nb::dict &given, params &out)
{
    for (const auto &[key, value] : given)
        if (!value.is_none())
            read_one(nb::cast<std::string>(key).c_str(), value, out);
}

} // namespace fbp_python
