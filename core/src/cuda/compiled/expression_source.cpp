#include "cuda/compiled/expression_source.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "cuda/compiled/texts.hpp"

namespace tenure::cuda {
namespace {

// The types of numbers: at least one, as no array is empty.
unsigned number_count(const ExpressionArgument& argument) noexcept {
  unsigned count = 1;
  for (unsigned n = 0; n < argument.node_count; ++n) {
    const ExpressionNode& node = argument.nodes[n];
    for (unsigned k = 0; k < node.operand_count; ++k) {
      if (node.operands[k].location != ExpressionLocation::kNumber) continue;
      count = std::max(count, node.operands[k].index + 1u);
    }
  }
  return count;
}

void add(std::string& text, const char* before, std::uint32_t number) {
  text += before;
  text += std::to_string(number);
}

void add_types(std::string& text, const char* name, unsigned count,
               const std::uint32_t* (*type)(const ExpressionArgument&, unsigned),
               const ExpressionArgument& argument) {
  text += "  static constexpr ElementType ";
  text += name;
  text += "[] = {";
  for (unsigned i = 0; i < count; ++i) {
    add(text, i == 0 ? "ElementType(" : ", ElementType(", *type(argument, i));
    text += ')';
  }
  text += "};\n";
}

void add_node(std::string& text, const ExpressionNode& node) {
  add(text, "      {Family(", static_cast<std::uint32_t>(node.family));
  add(text, "), ", node.op);
  add(text, ", ", node.operand_count);
  add(text, ", ", node.slot);
  add(text, ", ", node.type);
  add(text, ", ", node.out_type);
  text += ", {";
  for (unsigned k = 0; k < 3; ++k) {
    add(text, k == 0 ? "{Location(" : ", {Location(",
        static_cast<std::uint32_t>(node.operands[k].location));
    add(text, "), ", node.operands[k].index);
    text += '}';
  }
  text += "}},\n";
}

}  // namespace

std::string constants_of(const ExpressionArgument& argument) {
  std::string constants;
  const auto put = [&constants](std::uint32_t byte) { constants += static_cast<char>(byte); };
  put(argument.items);
  put(argument.leaf_count);
  put(argument.node_count);
  for (unsigned k = 0; k <= argument.leaf_count; ++k) put(argument.memory[k].type);
  for (unsigned i = 0; i < number_count(argument); ++i) put(argument.numbers[i].type);
  for (unsigned n = 0; n < argument.node_count; ++n) {
    const ExpressionNode& node = argument.nodes[n];
    put(static_cast<std::uint32_t>(node.family));
    for (const std::uint8_t field :
         {node.op, node.operand_count, node.slot, node.type, node.out_type}) {
      put(field);
    }
    for (const ExpressionOperand& operand : node.operands) {
      put(static_cast<std::uint32_t>(operand.location));
      put(operand.index);
    }
  }
  return constants;
}

// FNV-1a. A module has one kernel, so that two of one name would not meet.
std::string kernel_name(const std::string& constants) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : constants) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  }
  char name[48];
  std::snprintf(name, sizeof name, "tenure_expression_%016llx",
                static_cast<unsigned long long>(hash));
  return name;
}

std::string expression_source(const ExpressionArgument& argument, const std::string& name) {
  const std::string own = name.substr(sizeof "tenure_" - 1);
  std::string text = expression_code();
  text += "namespace tenure::cuda {\nstruct Of_" + own + " {\n";
  add(text, "  static constexpr uint32_t kItems = ", argument.items);
  add(text, ";\n  static constexpr unsigned kLeafCount = ", argument.leaf_count);
  add(text, ";\n  static constexpr unsigned kNodeCount = ", argument.node_count);
  text += ";\n";
  const auto of_memory = [](const ExpressionArgument& a, unsigned k) { return &a.memory[k].type; };
  const auto of_number = [](const ExpressionArgument& a, unsigned i) { return &a.numbers[i].type; };
  add_types(text, "kTypes", 1 + argument.leaf_count, of_memory, argument);
  add_types(text, "kNumbers", number_count(argument), of_number, argument);
  text += "  static constexpr ExpressionNode kNodes[] = {\n";
  for (unsigned n = 0; n < argument.node_count; ++n) add_node(text, argument.nodes[n]);
  text += "  };\n};\n}  // namespace tenure::cuda\nTENURE_EXPRESSION_KERNEL(" + own + ", Of_" +
          own + ")\n";
  return text;
}

}  // namespace tenure::cuda
