// Queues of work on devices.
//
// A context with a device has a queue. Calls enqueue work on it and return; the work runs in order.
// Blobs on a device have a home, the context that made them: their memory is freed in the order of
// its queue. A call through another context comes after what the home's queue has got so far, and
// the home's queue goes on after the call (QueueOrder in memory/queue_order.hpp), so that
// neither reuse nor the end of a blob can meet work that is still to come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "tenure/device.hpp"
#include "tenure/status.hpp"

namespace tenure {

class Context;
class Pins;
enum class SortOrder;
namespace kernels {
struct Predicate;
}

// A product of the rows of a sparse matrix, CSR or transposed CSC, with a dense vector or matrix.
// Everything has been checked but offsets and indices.
struct DeviceSparseMatmul {
  const tnr_sparse_view& a;
  const tnr_view& b;
  const tnr_view_mut& out;
  // One element each, of the type that is computed in: f32 for f16 and bf16. beta is nullptr for 0.
  const void* alpha;
  const void* beta;
  bool is_trusted;     // offsets and indices are known to be right
  const Pins& a_pins;  // of the matrix's parts
  const Pins& pins;    // of b and out
};

// The work that a queue had got at one moment. Any thread may call any function at any time; they
// throw DEVICE_ERROR.
class DeviceEvent {
 public:
  DeviceEvent(const DeviceEvent&) = delete;
  DeviceEvent& operator=(const DeviceEvent&) = delete;
  virtual ~DeviceEvent() = default;

  virtual void wait() const = 0;
  [[nodiscard]] virtual bool is_done() const = 0;

 protected:
  DeviceEvent() noexcept = default;
};

// Products of dense rows and columns at the entries of a sparse matrix. Everything has been checked
// but offsets and indices, and that the rows' entries are those of out.
struct DeviceSample {
  const tnr_sparse_view& a;  // CSR or CSC
  const tnr_view& x;
  const tnr_view& y;
  const tnr_view_mut& out;  // row-major, and of the entries from `first` on
  std::int64_t first;
  const void* alpha;     // as of DeviceSparseMatmul
  bool is_times_values;  // products are multiplied with those of the entries
  bool is_trusted;
  const Pins& a_pins;
  const Pins& pins;
};

// The entries of a sparse matrix as elements. Everything has been checked but offsets and indices.
struct DeviceScatter {
  const tnr_sparse_view& a;  // CSR or CSC
  const tnr_view_mut& out;
  bool is_unique;   // no position has several entries, which are else added up in their order
  bool is_trusted;  // as of DeviceSparseMatmul
  const Pins& a_pins;
  const Pins& pins;
};

// The search of a dense matrix for entries, by rows, into memory of the device. Everything has been
// checked.
struct DeviceScan {
  const tnr_view& dense;  // of rank 2, and not empty
  const tnr_view* mask;   // what the predicate is on instead, of the same shape; or nullptr
  const kernels::Predicate& predicate;
  tnr_dtype index_dtype;  // whether its numbers are enough is the caller's to see
  void* offsets;          // or nullptr
  void* row_indices;      // or nullptr
  void* indices;
  void* values;
  std::int64_t capacity;  // entries that there is room for; those behind are counted alone
  const Pins& pins;       // of dense and mask
};

// Entries in an order, and those of one position made one or kept. Everything has been checked but
// offsets, indices, and whether there is such an operation on a device.
struct DeviceEntryOrder {
  // kNone: as they are.
  enum class By : std::uint8_t { kNone, kRow, kPosition };
  // Memory of the device, of COO the rows of entries in the place of offsets.
  struct Arrays {
    void* major;
    void* minor;
    void* values;
  };
  const char* name;          // of the operation, for messages
  const tnr_sparse_view& a;  // COO, CSR or CSC, whose flags are not looked at
  By by;
  tnr_sparse_combine combine;  // of entries of one position that follow each other; 0: all are kept
  bool has_offsets;            // the result of COO is compressed by its rows; others have offsets
  // Called with the number of entries, when they have been counted and all of `a` is right.
  const std::function<Arrays(std::int64_t)>& allocate;
  const Pins& pins;
};
// kFall: rows of COO that was to be compressed as it is.
enum class EntryFinding : std::uint8_t { kRight, kWrong, kFall };

// One result of element-wise nodes, in one launch: each element runs the nodes one after the other,
// the last of which gives the result. Every node rounds or wraps to its dtype, so that the bits are
// those of the calls one by one. No dtype is complex.
struct DeviceExpression {
  static constexpr unsigned kMostNodes = 24;
  static constexpr unsigned kMostViews = 16;
  static constexpr unsigned kMostNumbers = 24;
  // Results that are held at once for nodes that do not follow at once.
  static constexpr unsigned kMostSlots = 8;
  static constexpr std::uint8_t kNoSlot = 0xff;

  enum class Place : std::uint8_t { kLast, kSlot, kView, kNumber };
  struct Operand {
    Place place;
    std::uint8_t index;  // of kLast 0
  };
  struct Node {
    std::uint32_t code;  // as tnr_node has it; of comparisons EQ, NE, LT and LE
    tnr_dtype dtype;     // of the operands, of a selection's last two
    tnr_dtype out_dtype;
    std::uint8_t operand_count;
    std::uint8_t slot;  // or kNoSlot
    Operand operands[3];
  };
  struct Number {
    tnr_dtype dtype;
    alignas(8) unsigned char bytes[8];
  };

  unsigned node_count = 0;
  unsigned view_count = 0;
  unsigned number_count = 0;
  Node nodes[kMostNodes];
  Number numbers[kMostNumbers];
};

// Elements that a DeviceExpression does not take.
struct DeviceFindings {
  bool zero_divisor = false;
  bool negative_power = false;
};

// Whether a DeviceExpression may have a node of an operation on operands of a dtype. All that there
// is on a device beside it takes more instructions than a call costs.
bool fuses_on_device(std::uint32_t code, tnr_dtype dtype) noexcept;

class DeviceQueue;

// Work that was recorded once, with the addresses that it had then, to be enqueued again and again.
// Where it is enqueued while it still runs, on whichever queue, it comes after itself. Any thread
// may call any function at any time; what is enqueued outlives the object.
class DeviceRecording {
 public:
  DeviceRecording(const DeviceRecording&) = delete;
  DeviceRecording& operator=(const DeviceRecording&) = delete;
  virtual ~DeviceRecording() = default;

  // On a queue of its device. Throws DEVICE_ERROR.
  virtual void enqueue(const DeviceQueue& queue) const = 0;

 protected:
  DeviceRecording() noexcept = default;
};

// A queue on which nothing runs. First comes a rehearsal: calls are checked, and the memory that
// they ask for is counted. Then the same calls are recorded. On both occasions the queue throws
// UNSUPPORTED for what is no work that could be repeated: waits, copies from and to the CPU, and
// the order beside other queues. Memory that is freed serves later calls; all of it is to be freed
// before the end. One thread at a time.
class DeviceRecorder {
 public:
  DeviceRecorder(const DeviceRecorder&) = delete;
  DeviceRecorder& operator=(const DeviceRecorder&) = delete;
  // A recording that was begun and not ended is dropped.
  virtual ~DeviceRecorder() = default;

  [[nodiscard]] virtual const DeviceQueue& queue() const noexcept = 0;
  // The most memory that the calls have had at once.
  [[nodiscard]] virtual std::size_t memory_bytes() const noexcept = 0;
  // Ends the rehearsal. `memory`, aligned to 256, has as many bytes as that took, and is what the
  // calls get now. Throws DEVICE_ERROR.
  virtual void begin(void* memory) = 0;
  // Throws DEVICE_ERROR, std::bad_alloc.
  [[nodiscard]] virtual std::unique_ptr<const DeviceRecording> end() = 0;

 protected:
  DeviceRecorder() noexcept = default;
};

// A stream of a device. Any thread may call any function at any time. All but the destructor and
// what is noexcept throw DEVICE_ERROR, also for what failed on the device since somebody asked.
class DeviceQueue {
 public:
  DeviceQueue(const DeviceQueue&) = delete;
  DeviceQueue& operator=(const DeviceQueue&) = delete;
  // Waits for what is enqueued.
  virtual ~DeviceQueue() = default;

  [[nodiscard]] tnr_device device() const noexcept { return device_; }

  // At least 1 byte, aligned to 256; in the order of the queue, as its end is. Throws
  // OUT_OF_MEMORY.
  [[nodiscard]] virtual void* allocate(std::size_t size_bytes) const = 0;
  virtual void free(void* data) const noexcept = 0;
  // At least 1 byte of the CPU's memory that the device reaches itself, aligned to kBlobAlignment;
  // free_pinned() ends it. Throws OUT_OF_MEMORY.
  [[nodiscard]] virtual void* allocate_pinned(std::size_t size_bytes) const = 0;
  // Throws INVALID_ARGUMENT for memory that the device's driver does not know as the device's own.
  virtual void require_memory(const void* data, std::size_t size_bytes) const = 0;

  // Between the CPU and the device. They return when the bytes are where they should be.
  virtual void copy_in(void* out, const void* in, std::size_t size_bytes) const = 0;
  virtual void copy_out(void* out, const void* in, std::size_t size_bytes) const = 0;

  // Within the device's memory. They enqueue.
  virtual void copy_bytes(void* out, const void* in, std::size_t size_bytes) const = 0;
  virtual void fill_bytes(void* data, unsigned char value, std::size_t size_bytes) const = 0;

  virtual void wait() const = 0;
  // As wait(), for the end of memory: on a device that has failed nothing runs any more.
  virtual void settle() const noexcept = 0;
  // Work that is enqueued here from now on begins after that which `other` has got so far.
  virtual void follow(const DeviceQueue& other) const = 0;
  // The same after an event, and after the work of a stream that its number names, as
  // tnr_cuda_array has it.
  virtual void follow(const DeviceEvent& event) const = 0;
  virtual void follow_stream(std::uint64_t stream) const = 0;
  [[nodiscard]] virtual std::uint64_t stream() const noexcept = 0;
  [[nodiscard]] virtual std::unique_ptr<const DeviceEvent> record() const = 0;
  // Memory of the CPU that copies used which are done is in use by them no longer; wait() ends with
  // this. Callbacks of blobs may run.
  virtual void end_uses() const noexcept = 0;

  // For work on the device of this queue. Throws UNSUPPORTED for a driver that cannot record.
  [[nodiscard]] virtual std::unique_ptr<DeviceRecorder> open_recorder() const = 0;

  // Operations as ops.hpp, normalize.hpp and movement.hpp have them, on views of the device, with
  // the same checks. They enqueue; what is found on the data is waited for. Of `copy` one view may
  // be of the CPU, whose part the context computes and for which it waits, or of another device.
  virtual void copy(const Context& context, const tnr_view& a, const tnr_view_mut& out) const = 0;
  // tnr_copy_async(): one view is of the CPU.
  virtual void copy_async(const Context& context, const tnr_view& a,
                          const tnr_view_mut& out) const = 0;
  virtual void cast(const tnr_view& a, const tnr_view_mut& out) const = 0;
  virtual void fill(const tnr_scalar& value, const tnr_view_mut& out) const = 0;
  virtual void unary(tnr_unary_op op, const tnr_view& a, const tnr_view_mut& out) const = 0;
  virtual void binary(tnr_binary_op op, const tnr_view& a, const tnr_view& b,
                      const tnr_view_mut& out) const = 0;
  virtual void binary(tnr_binary_op op, const tnr_view& a, const tnr_scalar& b,
                      const tnr_view_mut& out) const = 0;
  virtual void binary(tnr_binary_op op, const tnr_scalar& a, const tnr_view& b,
                      const tnr_view_mut& out) const = 0;
  virtual void ternary(tnr_ternary_op op, const tnr_view& a, const tnr_view& b, const tnr_view& c,
                       const tnr_view_mut& out) const = 0;
  virtual void compare(tnr_compare_op op, const tnr_view& a, const tnr_view& b,
                       const tnr_view_mut& out) const = 0;
  virtual void compare(tnr_compare_op op, const tnr_view& a, const tnr_scalar& b,
                       const tnr_view_mut& out) const = 0;
  virtual void select(const tnr_view& condition, const tnr_view& a, const tnr_view& b,
                      const tnr_view_mut& out) const = 0;
  // Everything has been checked, operands that broadcast to the output too; what is exactly the
  // output is read before it is written. Waits where an integer may be divided by 0, or raised to a
  // negative power.
  [[nodiscard]] virtual DeviceFindings compute(const DeviceExpression& expression,
                                               const tnr_view* const* views,
                                               const tnr_view_mut& out, const Pins& pins) const = 0;
  virtual void reduce(tnr_reduce_op op, const tnr_view& a, std::uint32_t axes,
                      std::optional<std::uint32_t> ddof, const tnr_view_mut& out,
                      double power) const = 0;
  virtual void normalize(tnr_normalize_op op, const tnr_view& a, std::uint32_t axes,
                         const tnr_normalize_attributes& attributes,
                         const tnr_view_mut& out) const = 0;
  virtual void matmul(const tnr_scalar& alpha, const tnr_view& a, const tnr_view& b,
                      const tnr_scalar& beta, const tnr_view_mut& out,
                      const tnr_matmul_attributes& attributes) const = 0;
  virtual void conv2d(const tnr_view& a, const tnr_view& weight, const tnr_view* bias,
                      const tnr_conv2d_attributes& attributes, const tnr_view_mut& out) const = 0;
  virtual void conv2d_transposed(const tnr_view& a, const tnr_view& weight, const tnr_view* bias,
                                 const tnr_conv2d_attributes& attributes,
                                 const tnr_view_mut& out) const = 0;
  virtual void pool2d(tnr_reduce_op op, const tnr_view& a, const tnr_pool2d_attributes& attributes,
                      const tnr_view_mut& out) const = 0;
  virtual void batch_norm(const tnr_view& a, const tnr_view* mean, const tnr_view& var,
                          const tnr_view* weight, const tnr_view* bias, double eps,
                          const tnr_view_mut& out) const = 0;
  virtual void take(const tnr_view& a, std::uint32_t axis, const tnr_view& indices,
                    const tnr_view_mut& out) const = 0;
  virtual void gather(const tnr_view& a, std::uint32_t axis, const tnr_view& indices,
                      const tnr_view_mut& out) const = 0;
  virtual void put(tnr_binary_op op, const tnr_view& a, std::uint32_t axis, const tnr_view& indices,
                   const tnr_view_mut& out) const = 0;
  virtual void scatter(tnr_binary_op op, const tnr_view& a, std::uint32_t axis,
                       const tnr_view& indices, const tnr_view_mut& out) const = 0;

  // Whether offsets and indices are right: waits, unless they are trusted. Where they are not, out
  // is written in part, as on the CPU, and no other memory. Throws UNSUPPORTED for a dtype.
  [[nodiscard]] virtual bool sparse_matmul(const DeviceSparseMatmul& call) const = 0;
  // The same, to zeros.
  [[nodiscard]] virtual bool scatter_entries(const DeviceScatter& call) const = 0;
  // How many entries there are, for which it waits.
  [[nodiscard]] virtual std::int64_t scan_entries(const DeviceScan& scan) const = 0;
  // As sparse_matmul().
  [[nodiscard]] virtual bool sample_entries(const DeviceSample& call) const = 0;
  // Waits for what the entries are, and for their number. Throws UNSUPPORTED for a dtype, and for
  // more entries than are sorted at once.
  [[nodiscard]] virtual EntryFinding order_entries(const DeviceEntryOrder& call) const = 0;

  // As normalize.hpp and ordering.hpp have them; an output that is nullptr is not asked for.
  virtual void scan(tnr_scan_op op, const tnr_view& a, std::uint32_t axis,
                    const tnr_view_mut& out) const = 0;
  virtual void sort(const tnr_view& a, std::uint32_t axis, SortOrder order,
                    const tnr_view_mut* indices, const tnr_view_mut* out) const = 0;
  virtual void top_k(const tnr_view& a, std::uint32_t axis, SortOrder order,
                     const tnr_view_mut* indices, const tnr_view_mut* out) const = 0;

 protected:
  explicit DeviceQueue(tnr_device device) noexcept : device_(device) {}

 private:
  tnr_device device_;
};

// The queue of a call on a view that lies on a device. Throws INVALID_ARGUMENT for a context
// without a device, or of another; `name` is the view's.
const DeviceQueue& queue_of(const Context& context, const tnr_view& view, const char* name);

// `stream` and `engine` as in tnr_context_options. Throws INVALID_ARGUMENT for a device that is not
// there and a stream of another, UNSUPPORTED where no device can be used, OUT_OF_MEMORY, DEVICE_ERROR.
std::unique_ptr<DeviceQueue> open_queue(tnr_device device, std::uint64_t stream, tnr_engine engine);

// For who asks first whether there are devices: what the functions below throw where there is no
// driver, as a Refusal. The rest they throw.
Refusal devices_refusal(tnr_device_kind kind);
// Throw as open_queue().
std::uint32_t device_count(tnr_device_kind kind);
tnr_device_info describe_device(tnr_device device);

// Ends memory of allocate_pinned(); a tnr_release_fn.
void free_pinned(void* data) noexcept;
// In a child of fork: the driver is the parent's, and nothing is given back to it.
void forget_devices() noexcept;

// Gives the unused memory of all devices' pools back; returns nothing that could be counted.
void trim_devices() noexcept;

struct DeviceCounts {
  std::uint64_t launches;
  std::uint64_t waits;
};
DeviceCounts device_counts() noexcept;

}  // namespace tenure
