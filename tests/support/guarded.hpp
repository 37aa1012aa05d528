// Arrays between two inaccessible pages: a read or a write past either end is a fault.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "layouts.hpp"

namespace tenure::test {

using Byte = unsigned char;

// How the elements of a matrix lie.
struct Arrangement {
  const char* name;
  // In elements; `rows` and `columns` are the extents.
  std::int64_t (*row_stride)(std::int64_t rows, std::int64_t columns);
  std::int64_t (*column_stride)(std::int64_t rows, std::int64_t columns);
  bool is_shifted;  // by as little as the dtype allows
};
inline constexpr Arrangement kArrangements[] = {
    {"dense", [](auto, auto n) { return n; }, [](auto, auto) { return std::int64_t{1}; }, false},
    {"shifted", [](auto, auto n) { return n; }, [](auto, auto) { return std::int64_t{1}; }, true},
    {"padded rows", [](auto, auto n) { return n + 3; }, [](auto, auto) { return std::int64_t{1}; },
     false},
    {"half of the columns", [](auto, auto n) { return 2 * n; },
     [](auto, auto) { return std::int64_t{1}; }, false},
    {"every third element", [](auto, auto n) { return 3 * n; },
     [](auto, auto) { return std::int64_t{3}; }, false},
    {"reversed", [](auto, auto n) { return -n; }, [](auto, auto) { return std::int64_t{-1}; },
     false},
    {"every second one, reversed", [](auto, auto n) { return -2 * n; },
     [](auto, auto) { return std::int64_t{-2}; }, true},
    {"reversed rows", [](auto, auto n) { return n; }, [](auto, auto) { return std::int64_t{-1}; },
     false},
    {"column-major", [](auto, auto) { return std::int64_t{1}; }, [](auto m, auto) { return m; },
     false},
    {"columns apart", [](auto, auto) { return std::int64_t{2}; },
     [](auto m, auto) { return 2 * m + 1; }, true},
};

// Which of the two pages the array touches.
enum class End { kFront, kBack };

// Room for one array at a time.
class Guarded {
 public:
  static constexpr Byte kCanary = 0xA5;

  explicit Guarded(std::size_t room_bytes) {
    const auto page_bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    room_bytes_ = (room_bytes + page_bytes - 1) / page_bytes * page_bytes;
    mapped_bytes_ = room_bytes_ + 2 * page_bytes;
    void* const mapped =
        mmap(nullptr, mapped_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(mapped, MAP_FAILED);
    mapped_ = static_cast<Byte*>(mapped);
    room_ = mapped_ + page_bytes;
    EXPECT_EQ(mprotect(room_, room_bytes_, PROT_READ | PROT_WRITE), 0);
    image_.resize(room_bytes_);
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  ~Guarded() { munmap(mapped_, mapped_bytes_); }

  // An array of `elements`, given densely in row-major order, among canaries.
  void place(tnr_dtype dtype, std::int64_t rows, std::int64_t columns,
             const Arrangement& arrangement, End end, const Byte* elements) {
    const auto width = static_cast<std::int64_t>(element_size(dtype));
    const std::int64_t row_stride = arrangement.row_stride(rows, columns);
    const std::int64_t column_stride = arrangement.column_stride(rows, columns);
    const std::int64_t row_reach = (rows - 1) * row_stride;
    const std::int64_t column_reach = (columns - 1) * column_stride;
    const std::int64_t below =
        -(std::min<std::int64_t>(row_reach, 0) + std::min<std::int64_t>(column_reach, 0)) * width;
    const std::int64_t size = (std::abs(row_reach) + std::abs(column_reach) + 1) * width;
    const auto shift =
        static_cast<std::int64_t>(arrangement.is_shifted ? element_alignment(dtype) : 0);
    const auto room = static_cast<std::int64_t>(room_bytes_);
    ASSERT_LE(size + shift, room);
    // A size that is no multiple of the alignment cannot end at the page.
    const std::int64_t slack = size % static_cast<std::int64_t>(element_alignment(dtype));
    const std::int64_t first = end == End::kFront ? shift : room - size - shift - slack;
    view_ = view_of(room_ + first, static_cast<std::size_t>(size), below, dtype,
                    {{rows, row_stride}, {columns, column_stride}});
    std::memset(room_, kCanary, room_bytes_);
    scatter(elements, room_);
    std::memcpy(image_.data(), room_, room_bytes_);
  }

  [[nodiscard]] const tnr_view& view() const { return view_; }

  // Sets the expected memory: as it was placed, or with these elements.
  void expect_elements(const Byte* elements) { scatter(elements, image_.data()); }
  [[nodiscard]] bool is_as_expected() const {
    return std::memcmp(room_, image_.data(), room_bytes_) == 0;
  }
  // Whether all bytes but those of elements are as they were placed.
  [[nodiscard]] bool has_its_canaries() {
    for_each_element([this](std::int64_t at, std::size_t width) {
      std::memcpy(image_.data() + at, room_ + at, width);
    });
    return is_as_expected();
  }
  // The first byte that is not as expected, from the lowest element.
  [[nodiscard]] std::int64_t first_difference() const {
    return std::mismatch(image_.begin(), image_.end(), room_).first - image_.begin() - base();
  }

 private:
  [[nodiscard]] std::int64_t base() const { return static_cast<const Byte*>(view_.base) - room_; }

  template <class Visit>
  void for_each_element(const Visit& visit) const {
    const auto width = static_cast<std::int64_t>(element_size(view_.dtype));
    const std::int64_t start = static_cast<const Byte*>(view_.data) - room_;
    for (std::int64_t row = 0; row < view_.shape[0]; ++row) {
      for (std::int64_t column = 0; column < view_.shape[1]; ++column) {
        visit(start + (row * view_.strides[0] + column * view_.strides[1]) * width,
              static_cast<std::size_t>(width));
      }
    }
  }
  void scatter(const Byte* elements, Byte* room) const {
    for_each_element([&](std::int64_t at, std::size_t width) {
      std::memcpy(room + at, elements, width);
      elements += width;
    });
  }

  Byte* mapped_;
  Byte* room_;
  std::size_t room_bytes_;
  std::size_t mapped_bytes_;
  std::vector<Byte> image_;
  tnr_view view_;
};

}  // namespace tenure::test
