// A kernel of the caller's own on a device.
#pragma once

#include <cstdint>
#include <string>

#include "cuda/device.hpp"
#include "cuda/modules.hpp"

namespace tenure::cuda {

class ForeignKernel {
 public:
  // Throws as tnr_kernel_create() says. Cold: for size.
  [[gnu::cold]] ForeignKernel(const Device& device, const tnr_kernel_options& options);
  ForeignKernel(const ForeignKernel&) = delete;
  ForeignKernel& operator=(const ForeignKernel&) = delete;
  // Launches that were enqueued go on. In a child of fork nothing ends.
  ~ForeignKernel();

  [[nodiscard]] const Device& device() const noexcept { return *module_->device; }
  [[nodiscard]] Function function() const noexcept { return function_; }
  [[nodiscard]] const char* name() const noexcept { return name_.c_str(); }
  [[nodiscard]] std::uint32_t parameter_count() const noexcept { return parameter_count_; }
  [[nodiscard]] const tnr_kernel_parameter& parameter(std::uint32_t i) const noexcept {
    return parameters_[i];
  }

  // Throws INVALID_ARGUMENT, with the number and the bound.
  void require_grid(const tnr_kernel_grid& grid) const;

 private:
  void set_parameters(const tnr_kernel_options& options);
  void find_function();
  void require_parameters() const;
  void find_limits();

  std::string name_;
  std::uint32_t parameter_count_ = 0;
  tnr_kernel_parameter parameters_[TNR_MAX_KERNEL_PARAMETERS];
  Module* module_ = nullptr;
  Function function_ = nullptr;
  std::uint32_t most_blocks_[3] = {};
  std::uint32_t most_threads_[3] = {};
  std::uint32_t most_threads_of_block_ = 0;
  std::uint32_t most_shared_bytes_ = 0;
};

// Bytes of what the kernel gets for it.
std::size_t parameter_bytes(const tnr_kernel_parameter& parameter) noexcept;

}  // namespace tenure::cuda
