/** @file common.hpp  What all parts of the binding share. */
#ifndef FBP_PYTHON_COMMON_HPP
#define FBP_PYTHON_COMMON_HPP

#include "fbp/fbp.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace fbp_python
{

/** A call failed, for a reason that is said in one line.  Becomes an exception of libfbp._errors.
 */
struct failure {
    fbp_status status;
    std::string message;
};

/** An argument that cannot be used: FBP_ERR_INVALID. */
[[noreturn]] inline void refuse(const std::string &message)
{
    throw failure{FBP_ERR_INVALID, message};
}

inline void check(fbp_status status)
{
    if (status != FBP_OK)
        throw failure{status, fbp_message()};
}

/** The place of `text` in a list of names; `what` is the keyword that it was given for. */
template <class Name> int place_of(Name name, const std::string &text, const char *what)
{
    std::string all;

    for (int i = 0; name(i) != nullptr; i++) {
        if (text == name(i))
            return i;
        if (*name(i))
            all += (all.empty() ? "" : ", ") + std::string(name(i));
    }
    refuse(std::string(what) + ": unknown name \"" + text + "\"; choose one of " + all);
}

/** The value of an enum with the name `text` in a list of the library's. */
template <class Enum> Enum by_name(fbp_list list, const std::string &text, const char *what)
{
    return static_cast<Enum>(place_of(
        [list](int i) { return fbp_name(list, static_cast<std::size_t>(i)); }, text, what));
}

/** Releases the GIL as long as it exists.  If the interpreter is finalized meanwhile, the thread
 * sleeps until the process ends: Python would unwind its C++ frames, which aborts the process. */
class gil_release
{
  public:
    gil_release() : state_(PyEval_SaveThread())
    {
    }
    ~gil_release() noexcept(false);
    gil_release(const gil_release &) = delete;
    gil_release &operator=(const gil_release &) = delete;

  private:
    PyThreadState *state_;
};

/* Parts of the module, a file each. */
void define_views(nb::module_ &m);
void define_scan(nb::module_ &m);
void define_images(nb::module_ &m);
void define_geometry(nb::module_ &m);
void define_plan(nb::module_ &m);
void define_tools(nb::module_ &m);
void define_files(nb::module_ &m);

} // namespace fbp_python

#endif // FBP_PYTHON_COMMON_HPP
