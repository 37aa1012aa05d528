// Views in one array, as calls of any number of operands take them.
#pragma once

#include <cstddef>

#include "memory/scratch.hpp"
#include "program/operations.hpp"
#include "tenure/tenure.h"

namespace tenure {

class SideBySide : public FewOnStack<tnr_view, 8> {
 public:
  using FewOnStack::FewOnStack;
  // The operands of a node, which are arrays.
  SideBySide(const GraphNode& node, const OperandView* operands)
      : SideBySide(node.operands.size()) {
    for (std::size_t i = 0; i < node.operands.size(); ++i) data()[i] = *operands[i].view;
  }
};

}  // namespace tenure
