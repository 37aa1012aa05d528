// The functions of onednn.hpp in a build without oneDNN.
#include "engine/onednn.hpp"
#include "tenure/status.hpp"

namespace tenure::onednn {

const char* version() noexcept { return nullptr; }

void require() {
  fail(TNR_STATUS_UNSUPPORTED,
       "the engine oneDNN is not in this build: TENURE_WITH_ONEDNN=ON of CMake and the feature "
       "`onednn` of cargo build it in");
}

bool run(const EngineChoice&, const Product&, const ProductMemory&) { return false; }
bool run(const EngineChoice&, const Convolution&, const ConvolutionMemory&) { return false; }

ShapeCounts shape_counts() noexcept { return {}; }

void lock() noexcept {}
void unlock() noexcept {}
void forget_threads() noexcept {}

}  // namespace tenure::onednn
