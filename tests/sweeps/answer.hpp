// The result of a call, read through the public interface.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "memory.hpp"

namespace tenure::sweeps {

// A handle of a matrix, or none.
class Handle {
 public:
  Handle() = default;
  explicit Handle(tnr_sparse* handle) : handle_(handle) {}
  Handle(Handle&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Handle() { tnr_sparse_release(handle_); }

  operator tnr_sparse*() const { return handle_; }
  [[nodiscard]] tnr_sparse_view view() const;

 private:
  tnr_sparse* handle_ = nullptr;
};

struct Part {
  std::string name;
  Bytes bytes;

  bool operator==(const Part&) const = default;
};

struct Answer {
  tnr_status status = TNR_STATUS_OK;
  std::string message;  // of a failure
  std::vector<Part> parts;
  Handle made;
  // A violation that no answer may have: an index of a result out of range, bytes between the
  // elements of an output written.
  std::string fault;
  // The flags of a result that are not true.
  std::string false_flags;

  // The status of a call, and whether there are results to be read.
  bool succeeds(tnr_status called);
  // Takes the matrix that a call made; all of its parts, and their violations.
  void take(tnr_sparse* matrix);
  void add(std::string name, const void* data, std::size_t size_bytes);
  template <class T>
  void add_number(std::string name, const T& number) {
    add(std::move(name), &number, sizeof number);
  }
  // All elements, in row-major order.
  void add_elements(std::string name, const tnr_view& view);
};

// How two answers differ; "" where they are the same to the bit, or have failed alike.
std::string difference(const Answer& a, const Answer& b);

// The elements of a view, in row-major order.
Bytes elements_of(const tnr_view& view);

}  // namespace tenure::sweeps
