#include "expression/small.hpp"

#include "dense/loops/strip_runner.hpp"
#include "memory/traffic.hpp"

namespace tenure {
namespace {

using kernels::Byte;
using kernels::Finding;
using kernels::Strip;
using kernels::StripInput;

// Bytes of all results but the last: as many as a few panels have. Larger ones gain more by
// panels than they lose by planning them.
constexpr std::int64_t kResultBytes = std::int64_t{16} << 10;

}  // namespace

bool is_small(const Nodes& nodes, std::int64_t count) noexcept {
  const std::int64_t widest_bytes = nodes.widest_bytes();
  if (!nodes.are_all_elementwise() || count > kResultBytes / widest_bytes) return false;
  return whole_lines(count * widest_bytes) * static_cast<std::int64_t>(nodes.count() - 1) <=
         kResultBytes;
}

Finding run_small(const Nodes& nodes, const tnr_view* const* views, std::int64_t count,
                  Byte* out) noexcept {
  const unsigned given = nodes.given_view_count();  // behind them is the output
  alignas(kLineBytes) Byte results[kResultBytes];
  const Byte* places[kMaxNodes];
  Byte* next = results;
  unsigned found = kernels::kNothing;
  const unsigned last = nodes.count() - 1;
  for (unsigned i = 0; i <= last; ++i) {
    const Node& node = nodes[i];
    StripInput sources[kMaxOperands];
    for (unsigned k = 0; k < node.operand_count; ++k) {
      const NodeOperand& operand = node.operands[k];
      const std::int64_t width = operand.width_bytes();
      switch (operand.from) {
        case From::kNode: sources[k] = {places[operand.index], width, width}; break;
        case From::kView: {
          const bool is_given = operand.index < given;
          sources[k] = {is_given ? static_cast<const Byte*>(views[operand.index]->data) : out,
                        width, width};
          break;
        }
        case From::kScalar: sources[k] = {nodes.element(operand.index).bytes, 0, width}; break;
      }
    }
    Byte* const to = i == last ? out : next;
    const auto width = static_cast<std::int64_t>(element_size(node.dtype));
    const Strip strip = {.count = count,
                         .out = to,
                         .out_step = width,
                         .width_bytes = width,
                         .source_count = node.operand_count,
                         .in = sources,
                         .parameters = nullptr};
    const bool is_direct = node.entry == nullptr || node.entry->conversion == nullptr;
    found |= is_direct ? node.kernel(strip) : run_strip(node.operation(), strip);
    places[i] = to;
    next += whole_lines(count * width);
  }
  return static_cast<Finding>(found);
}

}  // namespace tenure
