#include "cuda/operations/enqueue.hpp"

namespace tenure::cuda {

void Queue::enqueue(const DeviceCall& call) const {
  std::visit([this](const auto& of) { cuda::enqueue(*this, of); }, call);
}

}  // namespace tenure::cuda
