// Expressions whose views lie on a device, and the calls there that they stand for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "../core/expression/expression_model.hpp"
#include "tenure/context.hpp"
#include "tenure/device_queue.hpp"
#include "tenure/tenure.h"

namespace tenure::test {

// Memory of an array on the device, its gaps too, and the same view of it: by the core's queue, so
// that nothing of it is an owner.
class ThereArray {
 public:
  ThereArray(const Context& context, const Array& like)
      : queue_(context.queue()),
        size_bytes_(static_cast<std::size_t>(like.view.size_bytes)),
        data_(queue_->allocate(std::max<std::size_t>(size_bytes_, 1))),
        view(like.view) {
    queue_->copy_bytes(DeviceQueue::Direction::kIn, data_, like.view.base, size_bytes_);
    view.device = queue_->device();
    view.base = data_;
    view.data = static_cast<const unsigned char*>(data_) +
                (static_cast<const unsigned char*>(like.view.data) -
                 static_cast<const unsigned char*>(like.view.base));
  }
  static ThereArray of_call(const Context& context, tnr_dtype dtype, const Shape& shape) {
    return {context, Array(dtype, shape)};
  }
  ThereArray(ThereArray&& other) noexcept
      : queue_(other.queue_),
        size_bytes_(other.size_bytes_),
        data_(std::exchange(other.data_, nullptr)),
        view(other.view) {}
  ThereArray& operator=(ThereArray&&) = delete;
  ThereArray(const ThereArray&) = delete;
  ThereArray& operator=(const ThereArray&) = delete;
  ~ThereArray() {
    if (data_ != nullptr) queue_->free(data_);
  }

  // Into memory that the view on the CPU has.
  void read_to(Array& here) const {
    queue_->copy_bytes(DeviceQueue::Direction::kOut, const_cast<void*>(here.view.base), data_,
                       size_bytes_);
  }

 private:
  const DeviceQueue* queue_;
  std::size_t size_bytes_;
  void* data_;

 public:
  tnr_view view;
};

// The views of an expression there.
class ThereViews {
 public:
  ThereViews(const Context& context, const Expression& expression) {
    for (const Array& array : expression.arrays) {
      arrays_.emplace_back(context, array);
      views_.push_back(&arrays_.back().view);
    }
  }
  [[nodiscard]] const std::vector<const tnr_view*>& views() const { return views_; }

 private:
  std::deque<ThereArray> arrays_;
  std::vector<const tnr_view*> views_;
};

inline tnr_expression with_views(const Expression& expression,
                                 const std::vector<const tnr_view*>& views) {
  tnr_expression given = expression.given();
  given.views = views.data();
  return given;
}

}  // namespace tenure::test
