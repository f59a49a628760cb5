/** @file views.hpp  Where views come from: an array, a function, or an iterator that gives them as
 *  they are measured. */
#ifndef FBP_PYTHON_VIEWS_HPP
#define FBP_PYTHON_VIEWS_HPP

#include "call.hpp"
#include "device.hpp"

namespace fbp_python
{

/** Views as the user gave them; a source is opened anew for each plan and run. */
struct views {
    enum class sort { array, function, iterator };

    sort from = sort::array;
    array samples;                /**< of an array: three dimensions */
    nb::object given;             /**< the function, or the iterator, which is used up */
    std::size_t n[3] = {0, 0, 0}; /**< columns, rows, views */
    fbp_type type = FBP_F32;      /**< what samples are stored as */
    fbp_row_order order = FBP_ROWS_BOTTOM_UP;
};

class feed;

/** The library's source of such views, for one call at a time. */
class opened
{
  public:
    /** `at` takes what is asked of the user's functions: a pointer that may change from call to
     *  call. */
    opened(const views &of, desk *const *at);
    ~opened();
    opened(const opened &) = delete;
    opened &operator=(const opened &) = delete;

    fbp_source *get() const noexcept
    {
        return source_;
    }
    /** Before a call that reads: wait for what the program has given to the views' device. */
    void follow() const;
    /** Take the next view of an iterator, in the caller's thread; false: all are there. */
    bool next();
    /** Is there an iterator to be asked? */
    bool feeds() const noexcept
    {
        return feed_ != nullptr;
    }

  private:
    static int read_array(void *user, std::size_t slice0, std::size_t n_slices, std::size_t row0,
                          std::size_t n_rows, void *out, char *why, std::size_t n_why) noexcept;
    static int read_function(void *user, std::size_t slice0, std::size_t n_slices, std::size_t row0,
                             std::size_t n_rows, void *out, char *why, std::size_t n_why) noexcept;
    static int read_feed(void *user, std::size_t slice0, std::size_t n_slices, std::size_t row0,
                         std::size_t n_rows, void *out, char *why, std::size_t n_why) noexcept;
    static std::size_t there(void *user) noexcept;
    void open_array(const fbp_array_info &info);
    void open_called(const fbp_array_info &info);

    const views &of_;
    desk *const *at_;
    fbp_source *source_ = nullptr;
    std::unique_ptr<feed> feed_;
};

} // namespace fbp_python

#endif // FBP_PYTHON_VIEWS_HPP
