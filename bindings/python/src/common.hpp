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

#include <strings.h>

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

/** Refuse `text`, which is none of `names`, with the nearest of them; `what` is the keyword that it
 *  was given for. */
[[noreturn]] void refuse_name(const char *what, const std::string &text, const nb::list &names);

/** The index of `text` in a list of names, whose case does not count; `what` is the keyword that it
 *  was given for. */
template <class Name> int place_of(Name name, const std::string &text, const char *what)
{
    nb::list all;

    for (int i = 0; name(i) != nullptr; i++) {
        if (*name(i) && strcasecmp(text.c_str(), name(i)) == 0)
            return i;
        if (*name(i))
            all.append(nb::str(name(i)));
    }
    refuse_name(what, text, all);
}

/** The value of an enum with the name `text` in a list of the library's, or an alias that the
 *  command accepts ("hanning"). */
template <class Enum> Enum by_name(fbp_list list, const std::string &text, const char *what)
{
    const int found = fbp_name_find(list, text.c_str());

    return static_cast<Enum>(
        found >= 0 ? found
                   : place_of([list](int i) { return fbp_name(list, static_cast<std::size_t>(i)); },
                              text, what));
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
