// Views in one array, as calls of any number of operands take them.
#pragma once

#include <cstddef>
#include <optional>

#include "memory/scratch.hpp"
#include "program/operations.hpp"
#include "tenure/tenure.h"

namespace tenure {

// On the stack where there are few.
class SideBySide {
 public:
  explicit SideBySide(std::size_t count) {
    if (count > kFew) many_.emplace(count * sizeof(tnr_view));
  }
  // The operands of a node, which are arrays.
  SideBySide(const GraphNode& node, const OperandView* operands)
      : SideBySide(node.operands.size()) {
    for (std::size_t i = 0; i < node.operands.size(); ++i) data()[i] = *operands[i].view;
  }
  [[nodiscard]] const tnr_view* data() const noexcept {
    return many_ ? reinterpret_cast<const tnr_view*>(many_->data()) : few_;
  }
  tnr_view* data() noexcept { return many_ ? reinterpret_cast<tnr_view*>(many_->data()) : few_; }

 private:
  static constexpr std::size_t kFew = 8;

  tnr_view few_[kFew];
  std::optional<Scratch> many_;
};

}  // namespace tenure
