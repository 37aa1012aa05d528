// The argument of the kernels of expressions: nodes that a thread runs one after the other on the
// elements it holds. A plain struct; the host fills one for each launch. C++17, for nvcc.
#pragma once

#include "cuda/kernels/arguments.hpp"

namespace tenure::cuda {

// Limits of one launch. The argument stays below the 4 KiB that every driver takes.
inline constexpr unsigned kMostExpressionNodes = 24;
inline constexpr unsigned kMostExpressionLeaves = 16;
inline constexpr unsigned kMostExpressionNumbers = 24;
// Results that are held at once, not counting the last one: 16 bytes of each thread in shared
// memory, so that six blocks find room where a multiprocessor has 227 KiB of it.
inline constexpr unsigned kExpressionSlots = 8;

// Elements of a thread, a group: adjacent along the innermost axis. kLongItems where a type of the
// expression is wider than four bytes.
inline constexpr unsigned kShortItems = 4;
inline constexpr unsigned kLongItems = 2;

// The family of a node's operation, from rules/. Families before kUnaryWords have numbers as
// operands and results, and compute f16 and bf16 as f32.
enum class ExpressionFamily : uint8_t {
  kNumber,
  kFunction,  // of TENURE_FUSED_FUNCTIONS, on f32, f16 and bf16
  kBinaryNumber,
  kPower,
  kTernaryNumber,
  kUnaryWords,
  kBinaryWords,
  kTernaryWords,
  kQuestion,
  kCompare,
  kSelect,
  kCopy,
  kCast,
};

enum class ExpressionLocation : uint8_t {
  kLast,    // the node before
  kSlot,    // an earlier one
  kLeaf,    // memory
  kNumber,  // one element for all
};
struct ExpressionOperand {
  ExpressionLocation location;
  uint8_t index;
};

inline constexpr uint8_t kNoSlot = 0xff;

struct ExpressionNode {
  ExpressionFamily family;
  uint8_t op;  // of the family
  uint8_t operand_count;
  uint8_t slot;      // where the result goes too, or kNoSlot
  uint8_t type;      // ElementType of the operands, of a selection's last two
  uint8_t out_type;  // ElementType of the result
  ExpressionOperand operands[3];
};

// Operand 0 is the output, operand 1 + l is leaf l.
struct ExpressionMemory {
  unsigned char* data;  // of group 0
  int64_t step;         // bytes from one element of a group to the next
  uint32_t type;        // ElementType
  // 1: the elements of a whole group are adjacent, and aligned to be read at once.
  uint32_t is_vector;
};

struct ExpressionNumber {
  uint64_t bits;  // of one element
  uint32_t type;
  uint32_t unused;
};

// Positions along an axis, and bytes from one to the next of each operand. The innermost axis has
// groups for positions.
struct ExpressionAxis {
  Divider divider;
  uint32_t unused;
  int64_t steps[1 + kMostExpressionLeaves];
};

struct ExpressionArgument {
  // Set to 1 where an integer is divided by 0, and where one has a negative power; of expressions
  // without such nodes nullptr.
  uint32_t* findings;
  uint32_t group_count;  // below 2^31
  uint32_t items;        // of a group
  uint32_t last_items;   // of the last group of the innermost axis
  uint32_t inner_groups;
  uint32_t leaf_count;
  uint32_t node_count;
  uint32_t rank;  // at least 1
  uint32_t unused;
  ExpressionMemory memory[1 + kMostExpressionLeaves];
  ExpressionNumber numbers[kMostExpressionNumbers];
  ExpressionNode nodes[kMostExpressionNodes];
  ExpressionAxis axes[8];  // innermost first
};
static_assert(sizeof(ExpressionArgument) <= 4096, "a kernel's parameters");

}  // namespace tenure::cuda
