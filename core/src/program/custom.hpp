// Operations of a user's own.
#pragma once

#include "base/array_type.hpp"
#include "program/operations.hpp"

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
  [[nodiscard]] bool in_place() const noexcept { return (given_.flags & TNR_CUSTOM_IN_PLACE) != 0; }

  // Both throw where the function answers with another status than OK, or by an exception.
  [[nodiscard]] ArrayType infer(const tnr_view* operands, const std::int64_t* numbers) const;
  void compute(const tnr_view* operands, const std::int64_t* numbers,
               const tnr_view_mut& out) const;
  // As compute(), twice, with memory around the output and other bytes in it before. Throws
  // INTERNAL where that can be seen in the result, or around it.
  void compute_checked(const tnr_view* operands, const std::int64_t* numbers,
                       const tnr_view_mut& out) const;

 private:
  tnr_custom_operation given_;
  char name_[32];
};

ArrayType infer_custom(const NodeCall& call, const OperandType* operands);
void run_custom(const Context& context, const NodeCall& call, const OperandView* operands,
                const tnr_view_mut& out);

}  // namespace tenure
