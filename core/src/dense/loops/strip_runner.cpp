#include "dense/loops/strip_runner.hpp"

#include <algorithm>
#include <cstring>

#include "cpu/dispatch.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

using kernels::Byte;
using kernels::Finding;
using kernels::Strip;
using kernels::StripInput;

void copy(std::int64_t count, Byte* out, std::int64_t out_step, const StripInput& in) noexcept {
  run_plainly(kernels::copy_kernels()[index_of_width(in.width_bytes)],
              {.count = count,
               .out = out,
               .out_step = out_step,
               .width_bytes = in.width_bytes,
               .source_count = 1,
               .in = &in,
               .parameters = nullptr});
}

StripInput dense(const Byte* data, std::int64_t width_bytes) noexcept {
  return {data, width_bytes, width_bytes};
}

// Elements of fewer than this are taken one by one in any case.
constexpr std::int64_t kWorthGathering = 16;

}  // namespace

// `rows` steps of one side, and dense elements on the other. Row by row where a row's elements are
// adjacent: down the columns, each line of each row would be met again and again.
void move_rows(const ElementRows& rows, const Byte* in, Byte* out, std::int64_t width_bytes,
               bool to_dense) noexcept {
  const std::int64_t row_bytes = rows.columns * width_bytes;
  if (rows.column_step == width_bytes) {
    for (std::int64_t row = 0; row < rows.count; ++row) {
      const std::int64_t at = row * rows.row_step;
      const std::int64_t dense_at = row * row_bytes;
      std::memcpy(out + (to_dense ? dense_at : at), in + (to_dense ? at : dense_at),
                  static_cast<std::size_t>(row_bytes));
    }
    return;
  }
  kernels::Block block{};
  block.rank = 2;
  block.extents[0] = rows.count;
  block.extents[1] = rows.columns;
  std::int64_t* const steps = to_dense ? block.in_steps : block.out_steps;
  std::int64_t* const dense_steps = to_dense ? block.out_steps : block.in_steps;
  steps[0] = rows.row_step;
  steps[1] = rows.column_step;
  dense_steps[0] = row_bytes;
  dense_steps[1] = width_bytes;
  block.in = in;
  block.out = out;
  block.width_bytes = width_bytes;
  kernels::permuting_kernels().move[index_of_width(width_bytes)](block);
}

StripRunner::Way StripRunner::way_of(const Operation& operation, const Strip& like) noexcept {
  if (operation.moves()) return Way::kKernel;
  bool dense = like.out_step == like.width_bytes;
  bool repeated = true;
  for (unsigned i = 0; i < like.source_count; ++i) {
    const StripInput& source = like.in[i];
    repeated &= source.step == 0;
    dense &= source.step == 0 || source.step == source.width_bytes;
  }
  if (repeated && like.count > 1) return Way::kOnce;
  dense |= like.count < kWorthGathering || operation.steps() == kernels::Steps::kAny;
  return dense && operation.conversion() == nullptr ? Way::kKernel : Way::kPanels;
}

Finding StripRunner::run_otherwise(const Strip& strip) const noexcept {
  return way_ == Way::kOnce ? run_once(strip) : run_panels(strip);
}

Finding StripRunner::run_once(const Strip& strip) const noexcept {
  alignas(16) Byte result[16];
  Strip once = strip;
  once.count = 1;
  once.out = result;
  const Finding found = run_strip(operation_, once);
  copy(strip.count, strip.out, strip.out_step, {result, 0, strip.width_bytes});
  return found;
}

// A chunk at a time: all sources of it are read before any of its results is written.
Finding StripRunner::run_panels(const Strip& strip) const noexcept {
  alignas(kLineBytes) Byte panels[kMaxSources + 2][kPanelPitch];
  Byte* const results = panels[kMaxSources];
  Byte* const elements = panels[kMaxSources + 1];  // gathered or to be scattered, on their way
  constexpr kernels::Conversion kNone{};
  const kernels::Conversion& conversion =
      operation_.conversion() == nullptr ? kNone : *operation_.conversion();
  const std::int64_t result_bytes =
      conversion.spill == nullptr ? strip.width_bytes : conversion.out_bytes;
  const bool dense_out = strip.count <= 1 || strip.out_step == strip.width_bytes;

  std::int64_t widest = std::max({conversion.in_bytes, result_bytes, strip.width_bytes});
  for (unsigned i = 0; i < strip.source_count; ++i) {
    widest = std::max(widest, strip.in[i].width_bytes);
  }
  const std::int64_t chunk = kPanelBytes / widest;

  MovingStrip part(strip);
  unsigned found = kernels::kNothing;
  for (std::int64_t first = 0; first < strip.count; first += chunk) {
    const std::int64_t count = std::min(chunk, strip.count - first);
    for (unsigned i = 0; i < strip.source_count; ++i) {
      const StripInput& source = strip.in[i];
      StripInput& read = part.source(i);
      const bool is_repeated = source.step == 0;
      if (is_repeated && first != 0) continue;  // as for the first chunk
      const Byte* from = source.data + first * source.step;
      if (!is_repeated && source.step != source.width_bytes && strip.count > 1) {
        Byte* const to = conversion.load == nullptr ? panels[i] : elements;
        copy(count, to, source.width_bytes, {from, source.step, source.width_bytes});
        from = to;
      }
      read = dense(from, source.width_bytes);
      if (conversion.load != nullptr) {
        run_plainly(conversion.load,
                    dense_strip(is_repeated ? 1 : count, panels[i], conversion.in_bytes, {read}));
        read = dense(panels[i], conversion.in_bytes);
      }
      if (is_repeated) read.step = 0;
    }
    Byte* const out = strip.out + first * strip.out_step;
    const bool direct = dense_out && conversion.spill == nullptr;
    part->count = count;
    part->out = direct ? out : results;
    part->out_step = part->width_bytes = result_bytes;
    found |= operation_.kernel()(*part);
    if (direct) continue;
    const Byte* made = results;
    if (conversion.spill != nullptr) {
      Byte* const to = dense_out ? out : elements;
      run_plainly(conversion.spill,
                  dense_strip(count, to, strip.width_bytes, {dense(results, result_bytes)}));
      made = to;
    }
    if (!dense_out) copy(count, out, strip.out_step, dense(made, strip.width_bytes));
  }
  return static_cast<Finding>(found);
}

Finding StripRunner::run_rows(const Strip& first, std::int64_t rows,
                              const std::int64_t* row_steps) const noexcept {
  if (are_short(first.count) && rows > 1) return run_together(first, rows, row_steps);
  unsigned found = kernels::kNothing;
  MovingStrip strip(first);
  for (std::int64_t row = 0; row < rows; ++row) {
    found |= run(*strip);
    strip->out += row_steps[0];
    for (unsigned i = 0; i < first.source_count; ++i) strip.source(i).data += row_steps[1 + i];
  }
  return static_cast<Finding>(found);
}

Finding StripRunner::run_together(const Strip& first, std::int64_t rows,
                                  const std::int64_t* row_steps) const noexcept {
  unsigned found = kernels::kNothing;
  alignas(kLineBytes) Byte panels[kMaxSources + 1][kPanelPitch];
  std::int64_t widest = first.width_bytes;
  for (unsigned i = 0; i < first.source_count; ++i) {
    widest = std::max(widest, first.in[i].width_bytes);
  }
  const std::int64_t rows_together = kPanelBytes / widest / first.count;
  MovingStrip together(first);
  for (std::int64_t row = 0; row < rows; row += rows_together) {
    const std::int64_t count = std::min(rows_together, rows - row);
    for (unsigned i = 0; i < first.source_count; ++i) {
      const StripInput& source = first.in[i];
      const Byte* const from = source.data + row * row_steps[1 + i];
      const ElementRows of_source = {count, first.count, row_steps[1 + i], source.step};
      StripInput& read = together.source(i);
      if (source.step == 0 && of_source.row_step == 0) {
        read = source;
      } else if (of_source.are_dense(source.width_bytes)) {
        read = dense(from, source.width_bytes);
      } else {
        move_rows(of_source, from, panels[i], source.width_bytes, true);
        read = dense(panels[i], source.width_bytes);
      }
    }
    Byte* const out = first.out + row * row_steps[0];
    const ElementRows of_out = {count, first.count, row_steps[0], first.out_step};
    const bool direct = of_out.are_dense(first.width_bytes);
    together->count = count * first.count;
    together->out = direct ? out : panels[kMaxSources];
    together->out_step = first.width_bytes;
    found |= run_strip(operation_, *together);
    if (!direct) move_rows(of_out, panels[kMaxSources], out, first.width_bytes, false);
  }
  return static_cast<Finding>(found);
}

}  // namespace tenure
