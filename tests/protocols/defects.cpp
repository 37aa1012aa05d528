// Defects injected into operations, and the catalogue of possible ones.
#include <set>
#include <string>
#include <string_view>

#include "execution.hpp"

namespace tenure::explore {

namespace {

std::set<Mutant> g_mutants;  // of the code that has run
std::array<bool, 64> g_collected_swaps;
std::array<std::array<std::uintptr_t, 4>, 1024> g_collected;

bool is_collecting() { return g.mutant.defect == Defect::kNone; }

}  // namespace

// The file's path below the folder of the core's sources; of a scenario's own file its name.
std::string name_of(const Place& place) {
  const std::string path = place.file_name();
  // The path as it was given to the compiler; it may be relative.
  constexpr std::string_view kFolder = "/core/src/";
  const std::size_t folder = path.rfind(kFolder);
  return folder != std::string::npos ? path.substr(folder + kFolder.size())
                                     : path.substr(path.rfind('/') + 1);
}

bool is_mutated(const Place& place, Defect defect) {
  return g.mutant.defect == defect && g.mutant.site.line == place.line() &&
         g.mutant.site.column == place.column() && [&] {
           const Aside aside;
           return g.mutant.site.file == name_of(place);
         }();
}

void collect(const Place& place, std::initializer_list<Defect> defects) {
  if (!is_collecting()) return;
  // Nearly always, the entry is the same as in earlier calls.
  unsigned set = 0;
  for (Defect defect : defects) set |= 1u << static_cast<unsigned>(defect);
  const std::array<std::uintptr_t, 4> key = {reinterpret_cast<std::uintptr_t>(place.file_name()),
                                             place.line(), place.column(), set};
  auto& entry = g_collected[(key[0] + key[1] * 37 + key[2] * 101 + set) % g_collected.size()];
  if (entry == key) return;
  entry = key;
  const Aside aside;
  for (Defect defect : defects) {
    if (defect == Defect::kNone) continue;
    g_mutants.insert({{name_of(place), place.line(), place.column()}, defect});
  }
}

std::memory_order weaken(std::memory_order order, const Place& place) {
  const bool has_total_order = order == std::memory_order_seq_cst;
  if (is_collecting()) {
    collect(place, {is_acquire(order) ? Defect::kNoAcquire : Defect::kNone,
                    is_release(order) ? Defect::kNoRelease : Defect::kNone,
                    has_total_order ? Defect::kNoTotalOrder : Defect::kNone});
  }
  if (g.mutant.defect == Defect::kNone) return order;
  const bool no_total_order = is_mutated(place, Defect::kNoTotalOrder);
  const bool no_acquire = is_mutated(place, Defect::kNoAcquire);
  const bool no_release = is_mutated(place, Defect::kNoRelease);
  if (!no_total_order && !no_acquire && !no_release) return order;
  const bool acquires = is_acquire(order) && !no_acquire;
  const bool releases = is_release(order) && !no_release;
  if (acquires && releases) return std::memory_order_acq_rel;
  if (acquires) return std::memory_order_acquire;
  return releases ? std::memory_order_release : std::memory_order_relaxed;
}

// A load or a store has one half only, whatever the order is called.
std::memory_order half(std::memory_order order, bool is_load, const Place& place) {
  if (order != std::memory_order_seq_cst) return weaken(order, place);
  collect(place, {Defect::kNoTotalOrder, is_load ? Defect::kNoAcquire : Defect::kNoRelease});
  if (is_mutated(place, is_load ? Defect::kNoAcquire : Defect::kNoRelease)) {
    return std::memory_order_relaxed;
  }
  if (!is_mutated(place, Defect::kNoTotalOrder)) return order;
  return is_load ? std::memory_order_acquire : std::memory_order_release;
}

bool is_swapped(unsigned swap) {
  if (!g.is_running) return false;
  if (is_collecting() && !g_collected_swaps.at(swap)) {
    g_collected_swaps[swap] = true;
    const Aside aside;
    g_mutants.insert({{"", swap, 0}, Defect::kSwapped});
  }
  return g.mutant.defect == Defect::kSwapped && g.mutant.site.line == swap;
}

std::vector<Mutant> take_mutants() {
  std::vector<Mutant> mutants(g_mutants.begin(), g_mutants.end());
  g_mutants.clear();
  g_collected.fill({});
  g_collected_swaps.fill(false);
  return mutants;
}

const char* defect_name(Defect defect) {
  switch (defect) {
    case Defect::kNone: return "none";
    case Defect::kNoAcquire: return "no acquire";
    case Defect::kNoRelease: return "no release";
    case Defect::kNoTotalOrder: return "no total order";
    case Defect::kNoFailureAcquire: return "no acquire on failure";
    case Defect::kSplit: return "split";
    case Defect::kSwapped: return "swapped";
    default: return "late";
  }
}

}  // namespace tenure::explore
