// A stream of a CUDA device.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/device.hpp"
#include "cuda/host_uses.hpp"
#include "cuda/kernels.hpp"
#include "tenure/device_queue.hpp"

namespace tenure::cuda {

// One-dimensional, both.
struct Grid {
  unsigned blocks;
  unsigned threads;
};

class Recorder;

class Queue final : public DeviceQueue {
 public:
  // `stream` and `engine` as in tnr_context_options.
  Queue(Device& device, std::uint64_t stream, tnr_engine engine);
  // That of a recorder, which it has for all of its life.
  Queue(Device& device, tnr_engine engine, Recorder& recorder);
  ~Queue() override;

  [[nodiscard]] void* allocate(std::size_t size_bytes) const override;
  void free(void* data) const noexcept override;
  [[nodiscard]] void* allocate_pinned(std::size_t size_bytes) const override;
  void require_memory(const void* data, std::size_t size_bytes) const override;
  void copy_in(void* out, const void* in, std::size_t size_bytes) const override;
  void copy_out(void* out, const void* in, std::size_t size_bytes) const override;
  void copy_bytes(void* out, const void* in, std::size_t size_bytes) const override;
  void fill_bytes(void* data, unsigned char value, std::size_t size_bytes) const override;
  void wait() const override;
  void settle() const noexcept override;
  void follow(const DeviceQueue& other) const override;
  void follow(const DeviceEvent& event) const override;
  void follow_stream(std::uint64_t stream) const override;
  [[nodiscard]] std::uint64_t stream() const noexcept override;
  [[nodiscard]] std::unique_ptr<const DeviceEvent> record() const override;
  void end_uses() const noexcept override;
  [[nodiscard]] std::unique_ptr<DeviceRecorder> open_recorder() const override;

  void copy(const Context& context, const tnr_view& a, const tnr_view_mut& out) const override;
  void copy_async(const Context& context, const tnr_view& a,
                  const tnr_view_mut& out) const override;
  void cast(const tnr_view& a, const tnr_view_mut& out) const override;
  void fill(const tnr_scalar& value, const tnr_view_mut& out) const override;
  void unary(tnr_unary_op op, const tnr_view& a, const tnr_view_mut& out) const override;
  void binary(tnr_binary_op op, const tnr_view& a, const tnr_view& b,
              const tnr_view_mut& out) const override;
  void binary(tnr_binary_op op, const tnr_view& a, const tnr_scalar& b,
              const tnr_view_mut& out) const override;
  void binary(tnr_binary_op op, const tnr_scalar& a, const tnr_view& b,
              const tnr_view_mut& out) const override;
  void ternary(tnr_ternary_op op, const tnr_view& a, const tnr_view& b, const tnr_view& c,
               const tnr_view_mut& out) const override;
  void compare(tnr_compare_op op, const tnr_view& a, const tnr_view& b,
               const tnr_view_mut& out) const override;
  void compare(tnr_compare_op op, const tnr_view& a, const tnr_scalar& b,
               const tnr_view_mut& out) const override;
  void select(const tnr_view& condition, const tnr_view& a, const tnr_view& b,
              const tnr_view_mut& out) const override;
  [[nodiscard]] DeviceFindings compute(const DeviceExpression& expression,
                                       const tnr_view* const* views, const tnr_view_mut& out,
                                       const Pins& pins) const override;
  void reduce(tnr_reduce_op op, const tnr_view& a, std::uint32_t axes,
              std::optional<std::uint32_t> ddof, const tnr_view_mut& out,
              double power) const override;
  void normalize(tnr_normalize_op op, const tnr_view& a, std::uint32_t axes,
                 const tnr_normalize_attributes& attributes,
                 const tnr_view_mut& out) const override;
  void scan(tnr_scan_op op, const tnr_view& a, std::uint32_t axis,
            const tnr_view_mut& out) const override;
  void sort(const tnr_view& a, std::uint32_t axis, SortOrder order, const tnr_view_mut* indices,
            const tnr_view_mut* out) const override;
  void top_k(const tnr_view& a, std::uint32_t axis, SortOrder order, const tnr_view_mut* indices,
             const tnr_view_mut* out) const override;
  void matmul(const tnr_scalar& alpha, const tnr_view& a, const tnr_view& b, const tnr_scalar& beta,
              const tnr_view_mut& out, const tnr_matmul_attributes& attributes) const override;
  void conv2d(const tnr_view& a, const tnr_view& weight, const tnr_view* bias,
              const tnr_conv2d_attributes& attributes, const tnr_view_mut& out) const override;
  void conv2d_transposed(const tnr_view& a, const tnr_view& weight, const tnr_view* bias,
                         const tnr_conv2d_attributes& attributes,
                         const tnr_view_mut& out) const override;
  void pool2d(tnr_reduce_op op, const tnr_view& a, const tnr_pool2d_attributes& attributes,
              const tnr_view_mut& out) const override;
  void batch_norm(const tnr_view& a, const tnr_view* mean, const tnr_view& var,
                  const tnr_view* weight, const tnr_view* bias, double eps,
                  const tnr_view_mut& out) const override;
  void take(const tnr_view& a, std::uint32_t axis, const tnr_view& indices,
            const tnr_view_mut& out) const override;
  void gather(const tnr_view& a, std::uint32_t axis, const tnr_view& indices,
              const tnr_view_mut& out) const override;
  void put(tnr_binary_op op, const tnr_view& a, std::uint32_t axis, const tnr_view& indices,
           const tnr_view_mut& out) const override;
  void scatter(tnr_binary_op op, const tnr_view& a, std::uint32_t axis, const tnr_view& indices,
               const tnr_view_mut& out) const override;
  [[nodiscard]] bool sparse_matmul(const DeviceSparseMatmul& call) const override;
  [[nodiscard]] bool sample_entries(const DeviceSample& call) const override;
  [[nodiscard]] bool scatter_entries(const DeviceScatter& call) const override;
  [[nodiscard]] std::int64_t scan_entries(const DeviceScan& scan) const override;
  [[nodiscard]] EntryFinding order_entries(const DeviceEntryOrder& call) const override;

  // Enqueues the kernel with its one argument, which is copied. An error names the kernel.
  void launch(Kernel kernel, Grid grid, const void* argument) const;
  template <class Argument>
  void launch(Kernel kernel, Grid grid, const Argument& argument) const {
    launch(kernel, grid, static_cast<const void*>(&argument));
  }
  // The same of a function that is none of the library's own kernels.
  void launch(Function function, const char* name, Grid grid, const void* argument) const;
  // The same of what call(stream) has a library enqueue, with the device's context current; throws
  // what it does.
  template <class Call>
  void launch_by(const Call& call) const {
    const Current current(device_);
    if (begins_launch()) call(stream_);
  }
  // Whether products and convolutions are by the vendor's libraries. Throws what
  // environment_engine() does, where nobody has chosen.
  [[nodiscard]] bool is_by_vendor() const;
  // Whether code may be loaded now: not while a driver records.
  [[nodiscard]] bool may_load() const noexcept { return recorder_ == nullptr || is_rehearsal(); }
  // As copy_in() and copy_out(), which wait: memory of the CPU is in use until the copy is done.
  void enqueue_in(void* out, const void* in, std::size_t size_bytes) const;
  void enqueue_out(void* out, const void* in, std::size_t size_bytes) const;
  // Keeps a blob of the CPU for them, which the caller has pinned; waits where that cannot be had.
  void keep_in_use(BlobToken owner) const noexcept;
  // Between the memory of two devices.
  void copy_between(const Device& out_device, void* out, const Device& in_device, const void* in,
                    std::size_t size_bytes) const;

  [[nodiscard]] const Device& opened_device() const noexcept { return device_; }
  [[nodiscard]] Stream handle() const noexcept { return stream_; }
  [[nodiscard]] unsigned multiprocessor_count() const noexcept {
    return device_.multiprocessor_count();
  }

  // Memory of one call, which ends in the order of the queue.
  class Scratch {
   public:
    Scratch(const Queue& queue, std::size_t size_bytes)
        : queue_(queue), data_(queue.allocate(size_bytes)) {}
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    ~Scratch() { queue_.free(data_); }

    [[nodiscard]] void* data() const noexcept { return data_; }

   private:
    const Queue& queue_;
    void* data_;
  };

 private:
  // Counts a launch; false where it is only rehearsed.
  [[nodiscard]] bool begins_launch() const noexcept;
  // The device's context is current. kSuccess also of what is only rehearsed.
  [[nodiscard]] Result launch_here(Function function, Grid grid, const void* argument) const;
  // Whether what was called is only rehearsed.
  [[nodiscard]] bool is_rehearsal() const noexcept;
  // Throws UNSUPPORTED where work is recorded; `what` is what the call does.
  void require_live(const char* what) const {
    if (recorder_ != nullptr) [[unlikely]]
      refuse_to_record(what);
  }
  [[noreturn, gnu::cold]] static void refuse_to_record(const char* what);

  Device& device_;
  Stream stream_ = nullptr;
  bool is_own_ = false;
  tnr_engine engine_;
  Recorder* const recorder_ = nullptr;
  mutable HostUses host_uses_;
};

}  // namespace tenure::cuda
