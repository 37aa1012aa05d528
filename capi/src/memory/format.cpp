#include "tenure/format.hpp"

#include <string>

#include "boundary.hpp"
#include "tenure/blob.hpp"
#include "tenure/view.hpp"

using tenure::capi::deref;
using tenure::capi::guarded;

extern "C" {

tnr_status tnr_view_format(const tnr_view* view, uint32_t precision, size_t size_bytes, char* text,
                           size_t* needed_bytes) noexcept {
  return guarded([&] {
    const tnr_view& input = deref(view, "view");
    size_t& needed = deref(needed_bytes, "needed_bytes");
    if (size_bytes != 0) (void)deref(text, "text");
    tenure::check_view(input, "view");
    tenure::Pins pins;
    pins.add(input, "view");
    const std::string whole = tenure::format(input, precision);
    needed = whole.size() + 1;
    if (size_bytes != 0) text[whole.copy(text, size_bytes - 1)] = '\0';
  });
}

}  // extern "C"
