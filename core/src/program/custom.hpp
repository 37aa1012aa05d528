// Custom operations: functions of a user.
#pragma once

#include "base/array_type.hpp"
#include "program/operations.hpp"
#include "tenure/program.hpp"

namespace tenure {

// Functions that a graph and its programs call; released when all of them are gone.
class Custom {
 public:
  // Throws INVALID_ARGUMENT, and then takes nothing.
  explicit Custom(const tnr_custom_operation& operation);
  Custom(const Custom&) = delete;
  Custom& operator=(const Custom&) = delete;
  ~Custom();

  [[nodiscard]] const char* name() const noexcept { return name_; }
  [[nodiscard]] std::uint32_t operand_count() const noexcept { return given_.operand_count; }
  [[nodiscard]] std::uint32_t number_count() const noexcept { return given_.number_count; }
  [[nodiscard]] bool has_device_function() const noexcept {
    return given_.compute_on_device != nullptr;
  }
  [[nodiscard]] bool has_derivative() const noexcept { return given_.derive != nullptr; }
  // Whether its calls may be repeated.
  [[nodiscard]] bool is_pure() const noexcept { return (given_.flags & TNR_CUSTOM_PURE) != 0; }
  [[nodiscard]] bool in_place() const noexcept { return (given_.flags & TNR_CUSTOM_IN_PLACE) != 0; }

  [[nodiscard]] tnr_custom_info describe() const noexcept;

  // All throw where the function answers with another status than OK, or by an exception.
  [[nodiscard]] ArrayType infer(const tnr_view* operands, const std::int64_t* numbers) const;
  void compute(const Context& context, const tnr_view* operands, const std::int64_t* numbers,
               const tnr_view_mut& out) const;
  // compute() on views of the context's device. Requires has_device_function().
  void compute_on_device(const Context& context, const tnr_view* operands,
                         const std::int64_t* numbers, const tnr_view_mut& out) const;
  // compute() with the checks of TNR_RUN_CHECKED. Throws INTERNAL for errors that show in the
  // results, in the operands and around the output.
  void compute_checked(const Context& context, const tnr_view* operands,
                       const std::int64_t* numbers, const tnr_view_mut& out) const;

  // Calls `derive`, for a node of the graph. Writes a value of the graph for each operand, or
  // kNoValue.
  void derive(GraphToken graph, const GraphNode& node, const std::int64_t* numbers,
              std::uint32_t gradient, std::uint32_t* gradients) const;

 private:
  void call(const tnr_view* operands, const std::int64_t* numbers, const tnr_view_mut& out) const;
  template <class Lend, class LendMut, class Call>
  void call_with_owners(const tnr_view* operands, const tnr_view& out, const Lend& lend,
                        const LendMut& lend_mut, const Call& call) const;
  void call_lent(const tnr_view* operands, const std::int64_t* numbers, const tnr_view& out) const;
  [[nodiscard]] bool must_initialize(const tnr_view* operands,
                                     const tnr_view_mut& out) const noexcept;
  [[nodiscard]] bool may_replace(const tnr_view* operands, const ArrayType& type) const noexcept;

  tnr_custom_operation given_;
  char name_[kCustomNameBytes];
};

ArrayType infer_custom(const NodeCall& call, const OperandType* operands);
void run_custom(const Context& context, const NodeCall& call, const OperandView* operands,
                const tnr_view_mut& out);

}  // namespace tenure
