// Elements that operations refuse, such as an index that is out of bounds: thrown, as other errors
// are, or noted for a run that asks for no memory, which a throw does.
#pragma once

#include "tenure/status.hpp"

namespace tenure {

// Notes what operations of this thread find, while it lives.
class DataFindings {
 public:
  DataFindings() noexcept;
  DataFindings(const DataFindings&) = delete;
  DataFindings& operator=(const DataFindings&) = delete;
  ~DataFindings();

  // The one that was noted since the last call, or none.
  Refusal take() noexcept {
    if (!noted_) [[likely]]
      return std::nullopt;
    Refusal taken = noted_;
    noted_ = Refusal();
    return taken;
  }

 private:
  friend void refuse_data(tnr_status status, const char* format, ...);

  DataFindings* before_;  // of this thread
  Refusal noted_;
};

// Throws as fail() does. While the thread has a DataFindings, it notes the error there and returns
// instead: the caller then reads nothing by the refused element, and leaves its output as it is.
[[gnu::cold, gnu::noinline, gnu::format(TENURE_PRINTF, 2, 3)]] void refuse_data(tnr_status status,
                                                                                const char* format,
                                                                                ...);

}  // namespace tenure
