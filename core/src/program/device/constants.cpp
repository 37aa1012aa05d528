#include "program/device/constants.hpp"

#include <algorithm>

#include "memory/traffic.hpp"
#include "program/unbacked.hpp"
#include "tenure/device_queue.hpp"
#include "tenure/ops.hpp"
#include "tenure/shape.hpp"

namespace tenure {

std::vector<tnr_view> device_layouts(const Graph& graph) {
  std::vector<tnr_view> layouts;
  layouts.reserve(graph.constants.size());
  for (const auto& constant : graph.constants) {
    if (constant == nullptr) {
      layouts.push_back(of_nothing({TNR_DTYPE_U8, 1, {}}));
      continue;
    }
    const tnr_view& here = constant->view();
    layouts.push_back(unbacked_view(type_of(here), has_no_gap(here) ? here.strides : nullptr));
  }
  return layouts;
}

DeviceConstants::DeviceConstants(const Context& context, const Graph& graph)
    : device_(context.queue()->device()), views_(device_layouts(graph)) {
  std::vector<std::int64_t> offsets(views_.size());
  std::int64_t size_bytes = 0;
  for (std::size_t i = 0; i < views_.size(); ++i) {
    offsets[i] = size_bytes;
    size_bytes += whole_lines(static_cast<std::int64_t>(views_[i].size_bytes));
  }
  const char* data = nullptr;
  if (size_bytes != 0) {
    tnr_view& whole = memory_.view;
    whole.owner = blob_allocate_on(context, static_cast<std::size_t>(size_bytes));
    data = static_cast<const char*>(blob_memory(whole.owner).data);
    whole.base = whole.data = data;
    whole.size_bytes = static_cast<std::uint64_t>(size_bytes);
    whole.device = device_;
  }
  for (std::size_t i = 0; i < views_.size(); ++i) {
    tnr_view& view = views_[i];
    view.base = view.data = data == nullptr ? nullptr : data + offsets[i];
    view.device = device_;
    if (view.size_bytes == 0) continue;
    try {
      copy(context, graph.constants[i]->view(), {view});
    } catch (const Error& error) {
      fail(error.status(), "constants[%zu]: %s", i, error.message());
    }
  }
}

}  // namespace tenure
