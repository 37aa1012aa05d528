#include "refused_system_calls.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "base/system_calls.hpp"

namespace tenure::test {

namespace {

using system_calls::Advice;
using system_calls::Backing;
using system_calls::Error;

constexpr std::size_t kPageBytes = 4096;
constexpr int kPopulateWrite = 23;

struct Plan {
  bool is_active = false;
  int first = 0;
  Reach reach = Reach::kOne;
  Manner manner = Manner::kAtOnce;
  Call only = Call::kNone;
  int asked = 0;
  int refused = 0;
  Call first_refused = Call::kNone;
};

// The address ranges that the library owns: the begin of each part and its end.
class Ledger {
 public:
  void add(void* data, std::size_t size_bytes) {
    const auto begin = reinterpret_cast<std::uintptr_t>(data);
    parts_[begin] = begin + size_bytes;
  }
  [[nodiscard]] bool has(void* data, std::size_t size_bytes) const {
    std::uintptr_t at = reinterpret_cast<std::uintptr_t>(data);
    const std::uintptr_t end = at + size_bytes;
    while (at < end) {
      auto part = parts_.upper_bound(at);
      if (part == parts_.begin() || (--part)->second <= at) return false;
      at = part->second;
    }
    return true;
  }
  void remove(void* data, std::size_t size_bytes) {
    const auto begin = reinterpret_cast<std::uintptr_t>(data);
    const std::uintptr_t end = begin + size_bytes;
    auto part = parts_.upper_bound(begin);
    if (part != parts_.begin()) --part;
    while (part != parts_.end() && part->first < end) {
      const auto [from, to] = *part;
      if (to <= begin) {
        ++part;
        continue;
      }
      part = parts_.erase(part);
      if (from < begin) parts_[from] = begin;
      if (to > end) part = parts_.emplace(end, to).first;
    }
  }
  [[nodiscard]] std::size_t bytes() const {
    std::size_t sum = 0;
    for (const auto& [begin, end] : parts_) sum += end - begin;
    return sum;
  }

 private:
  std::map<std::uintptr_t, std::uintptr_t> parts_;
};

struct Neighbour {
  unsigned char* page;
  unsigned char mark;
};

struct World {
  std::mutex mutex;
  Plan plan;
  Ledger own;
  Ledger doubtful;
  std::vector<Neighbour> neighbours;
  char harm[200] = "";
};

// Never destroyed: blobs may end in destructors of other statics.
World& world() {
  static World* const instance = new World;
  return *instance;
}

void note_harm(const char* what, void* data, std::size_t size_bytes) {
  char* const harm = world().harm;
  if (*harm == 0) {
    std::snprintf(harm, sizeof world().harm, "%s %p, %zu bytes, some not the library's", what, data,
                  size_bytes);
  }
}

bool must_refuse(Call call) {
  Plan& plan = world().plan;
  if (!plan.is_active || (plan.only != Call::kNone && plan.only != call)) return false;
  const int number = plan.asked++;
  if (plan.reach == Reach::kOne ? number != plan.first : number < plan.first) return false;
  if (plan.refused++ == 0) plan.first_refused = call;
  return true;
}

bool is_half_way() { return world().plan.manner == Manner::kHalfWay; }

// Other threads take the first and the last page of the memory that has become free.
void move_in(void* data, std::size_t size_bytes) {
  char* const begin = static_cast<char*>(data);
  for (char* const page : {begin, begin + size_bytes - kPageBytes}) {
    void* const mapped = mmap(page, kPageBytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (mapped == MAP_FAILED) continue;
    if (mapped != page) {  // a kernel before 4.17 takes the address as a wish
      munmap(mapped, kPageBytes);
      continue;
    }
    auto& neighbours = world().neighbours;
    const auto mark = static_cast<unsigned char>(neighbours.size() % 255 + 1);
    std::memset(mapped, mark, kPageBytes);
    neighbours.push_back({static_cast<unsigned char*>(mapped), mark});
  }
}

bool is_several_mappings(void* data, std::size_t size_bytes) {
  void* const extended = mremap(data, size_bytes, size_bytes + kPageBytes, 0);
  if (extended != MAP_FAILED) {
    munmap(static_cast<char*>(data) + size_bytes, kPageBytes);
    return false;
  }
  return errno == EFAULT;
}

Error lose_target(void* to, std::size_t size_bytes) {
  munmap(to, size_bytes);
  world().own.remove(to, size_bytes);
  move_in(to, size_bytes);
  return EFAULT;
}

}  // namespace

void refuse(int first, Reach reach, Manner manner, Call only) noexcept {
  const std::lock_guard lock(world().mutex);
  world().plan = {true, first, reach, manner, only, 0, 0, Call::kNone};
}
void refuse_nothing() noexcept {
  const std::lock_guard lock(world().mutex);
  world().plan.is_active = false;
}
int refused_count() noexcept { return world().plan.refused; }
Call first_refused() noexcept { return world().plan.first_refused; }
std::size_t owned_bytes() noexcept { return world().own.bytes(); }
std::size_t doubtful_bytes() noexcept { return world().doubtful.bytes(); }
int neighbour_count() noexcept { return static_cast<int>(world().neighbours.size()); }

const char* harm_to_others() noexcept {
  World& all = world();
  const std::lock_guard lock(all.mutex);
  if (all.harm[0] != 0) return all.harm;
  for (const Neighbour& neighbour : all.neighbours) {
    unsigned char flag;
    if (mincore(neighbour.page, kPageBytes, &flag) != 0) {
      note_harm("unmapped: ", neighbour.page, kPageBytes);
      return all.harm;
    }
    if (std::any_of(neighbour.page, neighbour.page + kPageBytes,
                    [&](unsigned char byte) { return byte != neighbour.mark; })) {
      note_harm("written: ", neighbour.page, kPageBytes);
      return all.harm;
    }
  }
  return nullptr;
}

}  // namespace tenure::test

namespace tenure::system_calls {

using namespace tenure::test;

void* map(std::size_t size_bytes, Backing backing) noexcept {
  const std::lock_guard lock(world().mutex);
  if (must_refuse(Call::kMap)) return nullptr;
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | (backing == Backing::kMemory ? 0 : MAP_NORESERVE);
  void* const mapped = mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  world().own.add(mapped, size_bytes);
  return mapped;
}

Error unmap(void* data, std::size_t size_bytes) noexcept {
  const std::lock_guard lock(world().mutex);
  if (must_refuse(Call::kUnmap)) return ENOMEM;
  if (!world().own.has(data, size_bytes)) {
    note_harm("unmap", data, size_bytes);
    return EINVAL;
  }
  if (munmap(data, size_bytes) != 0) return errno;
  world().own.remove(data, size_bytes);
  move_in(data, size_bytes);
  return 0;
}

Error advise(void* data, std::size_t size_bytes, Advice advice) noexcept {
  const std::lock_guard lock(world().mutex);
  // Pages that are made may be those of a caller's memory.
  if (advice != Advice::kWillBeWritten && !world().own.has(data, size_bytes)) {
    note_harm("advise", data, size_bytes);
    return EINVAL;
  }
  const bool refuses = must_refuse(Call::kAdvise);
  if (refuses && !is_half_way()) return EINVAL;  // as of advice that a kernel does not know
  if (refuses) size_bytes = size_bytes / 2 / kPageBytes * kPageBytes;
  const int number = advice == Advice::kHugePages ? MADV_HUGEPAGE
                     : advice == Advice::kForget  ? MADV_DONTNEED
                                                  : kPopulateWrite;
  const int status = madvise(data, size_bytes, number);
  return refuses ? ENOMEM : status == 0 ? 0 : errno;
}

Error move(void* from, std::size_t size_bytes, void* to) noexcept {
  const std::lock_guard lock(world().mutex);
  if (!world().own.has(from, size_bytes) || !world().own.has(to, size_bytes)) {
    note_harm("move to or from", to, size_bytes);
    return EINVAL;
  }
  if (must_refuse(Call::kMove)) {
    if (is_half_way()) return lose_target(to, size_bytes);
    world().doubtful.add(to, size_bytes);
    return ENOMEM;
  }
  if (is_several_mappings(from, size_bytes)) return lose_target(to, size_bytes);
  if (mremap(from, size_bytes, size_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to) == MAP_FAILED) {
    return errno;
  }
  world().own.remove(from, size_bytes);
  move_in(from, size_bytes);
  return 0;
}

Error extend(void* data, std::size_t size_bytes, std::size_t wanted_bytes) noexcept {
  const std::lock_guard lock(world().mutex);
  if (!world().own.has(data, size_bytes)) {
    note_harm("extend", data, size_bytes);
    return EINVAL;
  }
  if (must_refuse(Call::kExtend)) return EPERM;
  if (mremap(data, size_bytes, wanted_bytes, 0) == MAP_FAILED) return errno;
  world().own.add(static_cast<char*>(data) + size_bytes, wanted_bytes - size_bytes);
  return 0;
}

Error look_up(void* page, std::size_t page_bytes, unsigned char* answer) noexcept {
  const std::lock_guard lock(world().mutex);
  if (must_refuse(Call::kLookUp)) return EPERM;
  return mincore(page, page_bytes, answer) == 0 ? 0 : errno;
}

Error permit_tiles() noexcept { return ENOSYS; }

Error at_fork(void (*before)(), void (*after_in_parent)(), void (*after_in_child)()) noexcept {
  const std::lock_guard lock(world().mutex);
  if (must_refuse(Call::kAtFork)) return ENOMEM;
  return pthread_atfork(before, after_in_parent, after_in_child);
}

Error make_thread_key(pthread_key_t* key, void (*at_end)(void*)) noexcept {
  const std::lock_guard lock(world().mutex);
  if (must_refuse(Call::kThread)) return EAGAIN;
  return pthread_key_create(key, at_end);
}

Error set_thread_value(pthread_key_t key, const void* value) noexcept {
  const std::lock_guard lock(world().mutex);
  if (must_refuse(Call::kThread)) return ENOMEM;
  return pthread_setspecific(key, value);
}

}  // namespace tenure::system_calls
