#include "cuda/operations/enqueue.hpp"

namespace tenure::cuda {

// A call without a function does not compile.
void Queue::enqueue(const DeviceCall& call) const {
  std::visit([this](const auto& of) { cuda::enqueue(*this, of); }, call);
}

}  // namespace tenure::cuda
