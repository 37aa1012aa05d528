// Which engine a call asks for.
#include "tenure/engine.hpp"

#include <atomic>
#include <cinttypes>
#include <cstdlib>
#include <cstring>

#include "engine/onednn.hpp"
#include "tenure/status.hpp"

namespace tenure {
namespace {

struct EngineName {
  tnr_engine engine;
  const char* name;
};
constexpr EngineName kEngineNames[] = {{TNR_ENGINE_OWN, "own"},
                                       {TNR_ENGINE_ONEDNN, "onednn"},
                                       {TNR_ENGINE_AUTO, "auto"},
                                       {TNR_ENGINE_VENDOR, "vendor"}};

tnr_engine read_environment() {
  const char* const wanted = std::getenv("TENURE_ENGINE");
  if (wanted == nullptr || *wanted == '\0') return TNR_ENGINE_OWN;
  for (const EngineName& known : kEngineNames) {
    if (std::strcmp(wanted, known.name) != 0) continue;
    require_engine(known.engine);
    return known.engine;
  }
  fail(TNR_STATUS_INVALID_ARGUMENT,
       "TENURE_ENGINE is \"%.64s\" but must be one of: own, onednn, auto, vendor", wanted);
}

}  // namespace

void require_engine(tnr_engine engine) {
  if (engine < TNR_ENGINE_ENVIRONMENT || engine > TNR_ENGINE_VENDOR) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "engine is %" PRId32 ", which names no engine", engine);
  }
  if (engine == TNR_ENGINE_ONEDNN) onednn::require();
}

tnr_engine environment_engine() {
  // Several threads may write it, each the same number, unless the environment changes between
  // them: then the first decides.
  static constinit std::atomic<tnr_engine> chosen{TNR_ENGINE_ENVIRONMENT};
  tnr_engine engine = chosen.load(std::memory_order_relaxed);
  if (engine == TNR_ENGINE_ENVIRONMENT) [[unlikely]] {
    const tnr_engine mine = read_environment();
    if (chosen.compare_exchange_strong(engine, mine, std::memory_order_relaxed)) engine = mine;
  }
  return engine;
}

const char* onednn_version() noexcept { return onednn::version(); }

void lock_engines() noexcept { onednn::lock(); }
void unlock_engines() noexcept { onednn::unlock(); }
void forget_engine_threads() noexcept { onednn::forget_threads(); }

}  // namespace tenure
