// Specs of einsum: the label of each axis of each operand, and of the result.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tenure/tenure.h"

namespace tenure {

// One bit for each label.
using LabelSet = std::uint64_t;
constexpr LabelSet set_of(unsigned label) noexcept { return LabelSet{1} << label; }

// Labels are numbers: letters in the order of ASCII, then the axes of "..." from the last one on,
// by which they are aligned.
class EinsumSpec {
 public:
  // A chain of matrices has two labels more than products; there are 52 letters.
  static constexpr unsigned kMaxOperands = 32;
  static constexpr unsigned kLetterCount = 52;
  static constexpr unsigned kLabelCount = kLetterCount + TNR_MAX_RANK;

  // Throws INVALID_ARGUMENT or UNSUPPORTED for an error in the spec, for an operand that is no
  // valid view, and for extents that do not agree.
  EinsumSpec(const char* text, const tnr_view* operands, std::uint32_t operand_count);

  // For each axis of an operand. A label may stand there twice.
  [[nodiscard]] const std::uint8_t* labels_of(unsigned operand) const noexcept {
    return labels_[operand];
  }
  [[nodiscard]] std::uint32_t result_rank() const noexcept { return result_rank_; }
  [[nodiscard]] const std::uint8_t* result_labels() const noexcept { return result_labels_; }
  // An operand may have an extent of 1 where the label has another.
  [[nodiscard]] std::int64_t extent(unsigned label) const noexcept { return extents_[label]; }
  // All labels of the operands.
  [[nodiscard]] LabelSet labels() const noexcept { return once_ | more_; }
  [[nodiscard]] LabelSet result_set() const noexcept {
    LabelSet set = 0;
    for (std::uint32_t axis = 0; axis < result_rank_; ++axis) set |= set_of(result_labels_[axis]);
    return set;
  }
  [[nodiscard]] bool has_empty_axis() const noexcept { return has_empty_axis_; }

 private:
  // The labels of one term, as it is read.
  struct Term {
    std::uint8_t letters[TNR_MAX_RANK];
    std::uint32_t count = 0;
    std::uint32_t before_ellipsis = 0;
    bool has_ellipsis = false;
  };

  // Each reads on from at_.
  void read_operands();
  void read_result();
  void read_term(Term& term, std::uint32_t most, const char* whose);
  void read_ellipsis(bool& has_ellipsis);
  void skip_spaces() noexcept;

  void add_operand(unsigned operand, const Term& term);
  void add_axis(unsigned operand, std::uint32_t axis, unsigned label);
  void add_to_result(unsigned label);
  void add_ellipsis_to_result();
  void infer_result();

  [[noreturn]] void refuse(const char* why) const;
  [[noreturn]] void refuse_extent(unsigned operand, std::uint32_t axis, unsigned label) const;

  const char* text_;
  std::size_t at_ = 0;
  const tnr_view* operands_;
  std::uint32_t operand_count_;

  std::uint8_t labels_[kMaxOperands][TNR_MAX_RANK];
  LabelSet once_ = 0;  // labels that stand once in all
  LabelSet more_ = 0;
  std::int64_t extents_[kLabelCount];
  // Where the extent of a label comes from, for the message.
  std::uint8_t origin_operand_[kLabelCount];
  std::uint8_t origin_axis_[kLabelCount];
  std::uint32_t ellipsis_rank_ = 0;  // of the operand that has most such axes
  bool has_empty_axis_ = false;
  std::uint8_t result_labels_[TNR_MAX_RANK];
  std::uint32_t result_rank_ = 0;
};

// "operands[0]" and so on, which messages name.
const char* einsum_operand_name(unsigned operand) noexcept;

}  // namespace tenure
