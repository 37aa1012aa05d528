#include "program/run/report.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "base/arithmetic.hpp"
#include "tenure/shape.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

// Products and convolutions sum over what their factors share. Views that repeat may have more
// products than a number: the greatest one then.
std::int64_t flops_of(const GraphNode& node, const Step& step, const Schedule& schedule) {
  const std::int64_t results = step.element_count;
  const auto layout = [&](std::size_t operand) -> const tnr_view& {
    return schedule.places[node.operands[operand]].layout;
  };
  if (node.code == TNR_NODE_MATMUL || node.code == TNR_NODE_QUANTIZED_MATMUL) {
    const tnr_view& a = layout(0);
    return product_or_most(product_or_most(2, results), a.shape[a.rank - 1]);
  }
  if (node.code == TNR_NODE_CONV2D || node.code == TNR_NODE_QUANTIZED_CONV2D) {
    const tnr_view& weight = layout(1);
    const std::int64_t depth = element_count(weight) / std::max<std::int64_t>(weight.shape[0], 1);
    return product_or_most(product_or_most(2, results), depth);
  }
  return results;
}

// Whether a result of the step is in the same memory.
bool writes_to(const Schedule& schedule, const Step& step, const Placed& placed) noexcept {
  for (std::uint32_t i = 0; i < step.result_count; ++i) {
    const Placed& result = schedule.places[step.result + i];
    if (result.storage == placed.storage && result.index == placed.index) return true;
  }
  return false;
}

}  // namespace

tnr_step_info describe_step(const Graph& graph, const Schedule& schedule, std::uint32_t index) {
  const Step& step = schedule.steps[index];
  const Placed& result = schedule.places[step.result];
  tnr_step_info info{};
  info.struct_size = sizeof info;
  info.kind = static_cast<tnr_step_kind>(step.kind);
  info.node = step.node == kNoValue ? kNoValue : graph.nodes[step.node].number;
  info.node_count = static_cast<std::uint32_t>(step.nodes.size());
  info.output = result.storage == Storage::kOutput ? result.index : TNR_OPERAND_NONE;
  info.dtype = result.layout.dtype;
  info.rank = result.layout.rank;
  std::copy_n(result.layout.shape, info.rank, info.shape);
  for (std::size_t i = 0; i < step.operands.size(); ++i) {
    const std::uint32_t place = step.operands[i];
    if (place == kNoValue || schedule.places[place].storage == Storage::kNone) continue;
    info.read_bytes += element_bytes(schedule.places[place].layout);
  }
  for (std::uint32_t i = 0; i < step.result_count; ++i) {
    info.written_bytes += element_bytes(schedule.places[step.result + i].layout);
  }
  info.last_use = index;
  if (result.storage == Storage::kBlock) {
    info.block_offset = static_cast<std::uint64_t>(schedule.memory.offsets[result.index]);
    info.block_bytes = static_cast<std::uint64_t>(schedule.memory.sizes[result.index]);
    info.last_use = schedule.lifetimes[result.index].last;
  }
  std::size_t length = 0;
  const auto add_name = [&](const char* name) {
    const int written = std::snprintf(info.name + length, sizeof info.name - length, "%s%s",
                                      length == 0 ? "" : " ", name);
    length =
        std::min(length + static_cast<std::size_t>(std::max(written, 0)), sizeof info.name - 1);
  };
  if (step.kind == Step::Kind::kCopy) add_name("copy");
  for (const std::uint32_t node : step.nodes) {
    if (graph.nodes[node].factor != nullptr || graph.nodes[node].filters != nullptr) {
      add_name("packed");
    }
    add_name(operation_name(graph.nodes[node]));
    const std::int64_t flops = flops_of(graph.nodes[node], step, schedule);
    if (__builtin_add_overflow(info.flops, flops, &info.flops)) info.flops = UINT64_MAX;
  }
  return info;
}

tnr_pass_info describe_pass(const PassCounts& counts, std::uint32_t disabled_passes,
                            const Schedule& schedule, std::uint32_t index) noexcept {
  const PassOf& pass = kPasses[index];
  tnr_pass_info info{};
  info.struct_size = sizeof info;
  info.pass = pass.bit;
  info.is_on = (disabled_passes & pass.bit) == 0 ? 1 : 0;
  info.count = counts.of(index) + schedule.counts.of(index);
  std::snprintf(info.name, sizeof info.name, "%s", pass.name);
  std::snprintf(info.counted, sizeof info.counted, "%s", pass.counted);
  return info;
}

void describe_reads(const Schedule& schedule, std::uint32_t index, std::uint8_t* reads,
                    std::size_t read_count) noexcept {
  std::fill_n(reads, read_count, std::uint8_t{0});
  for (const std::uint32_t operand : schedule.steps[index].operands) {
    if (operand == kNoValue) continue;
    const Placed& placed = schedule.places[operand];
    if (placed.storage == Storage::kInput) reads[schedule.steps.size() + placed.index] = 1;
    if (placed.storage != Storage::kBlock && placed.storage != Storage::kOutput) continue;
    // Whatever has been written there since, nothing reads any more.
    for (std::uint32_t step = index; step-- > 0;) {
      if (!writes_to(schedule, schedule.steps[step], placed)) continue;
      reads[step] = 1;
      break;
    }
  }
}

}  // namespace tenure
