// The scheduler of simt.hpp.
#include "simt.hpp"

#include <link.h>
#include <sys/mman.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#define TENURE_SIMT_ASAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TENURE_SIMT_ASAN
#endif
#endif
#if defined(TENURE_SIMT_ASAN)
#include <sanitizer/common_interface_defs.h>
#endif

// Keeps the registers that a call keeps on the stack, and goes on with another stack: ucontext asks
// the system for the mask of signals each time, which takes a hundred times as long.
extern "C" void tenure_simt_switch(void** saved, void* next);
asm(".pushsection .text\n"
    ".globl tenure_simt_switch\n"
    ".hidden tenure_simt_switch\n"
    ".type tenure_simt_switch, @function\n"
    "tenure_simt_switch:\n"
    "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
    "  movq %rsp, (%rdi)\n"
    "  movq %rsi, %rsp\n"
    "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
    "  ret\n"
    ".size tenure_simt_switch, . - tenure_simt_switch\n"
    ".popsection\n");

namespace simt {
namespace {

constexpr unsigned kMostThreads = 1024;
constexpr std::size_t kStackBytes = std::size_t{256} << 10;
constexpr std::size_t kPageBytes = 4096;

// The first block and one in kScribbled of the others begin with shared memory that has a pattern
// in it. To write it takes longer than a small block.
constexpr unsigned kScribbled = 8;

// A shuffle's result from a lane that does not take part: nothing that a test expects.
constexpr uint64_t kUndefined = 0xfff7dead7fadbeefu;

struct Stack {
  void* pointer = nullptr;  // where it was left
#if defined(TENURE_SIMT_ASAN)
  const void* bottom = nullptr;
  std::size_t bytes = 0;
  void* fake = nullptr;
#endif
};

// For the address sanitizer: that one stack is left for another, and that the other is reached.
void leave([[maybe_unused]] Stack& from, [[maybe_unused]] const Stack& to) {
#if defined(TENURE_SIMT_ASAN)
  __sanitizer_start_switch_fiber(&from.fake, to.bottom, to.bytes);
#endif
}
void arrive([[maybe_unused]] const Stack& at, [[maybe_unused]] Stack& from) {
#if defined(TENURE_SIMT_ASAN)
  __sanitizer_finish_switch_fiber(at.fake, &from.bottom, &from.bytes);
#endif
}

struct Fibre {
  Stack stack;
};

struct Thread {
  Fibre* fibre;  // that it waits on
  Call call;     // that it waits at
  uint64_t result;
};

// Lanes that meet at a call.
struct Group {
  Meeting meeting;
  unsigned mask;
  unsigned arrived;
};

// Sets of lanes, a bit each.
struct Warp {
  unsigned lanes;  // that there are
  unsigned fresh;  // have not begun
  unsigned ready;  // could go on
  unsigned ended;
  unsigned group_count;
  Group groups[kWarp];  // that wait, of which no two share a lane
};

const Kernel* g_kernels = nullptr;

class Block;
Block* g_block = nullptr;  // that runs

[[noreturn, gnu::format(printf, 1, 2)]] void stop(const char* format, ...);

const char* name_of(Meeting meeting) {
  constexpr const char* kNames[] = {"__syncthreads",     "__syncwarp",        "__shfl_sync",
                                    "__shfl_up_sync",    "__shfl_down_sync",  "__shfl_xor_sync",
                                    "__ballot_sync",     "__reduce_add_sync", "__reduce_min_sync",
                                    "__reduce_max_sync", "__reduce_and_sync", "__reduce_or_sync",
                                    "__reduce_xor_sync"};
  return kNames[static_cast<unsigned>(meeting)];
}

void run_fibre();

// Shared memory is all that this library has of one copy for each thread of the host. Before a
// block begins, it holds nothing that another one left.
void scribble_shared_memory(unsigned char pattern) {
  struct Found {
    void* memory;
    std::size_t bytes;
  };
  static thread_local unsigned char own = 0;  // what tells this library from others
  Found found = {&own, 0};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto& wanted = *static_cast<Found*>(data);
        for (int i = 0; i < info->dlpi_phnum && info->dlpi_tls_data != nullptr; ++i) {
          const auto bytes = static_cast<std::size_t>(info->dlpi_phdr[i].p_memsz);
          const auto* const first = static_cast<const unsigned char*>(info->dlpi_tls_data);
          const auto* const at = static_cast<const unsigned char*>(wanted.memory);
          if (info->dlpi_phdr[i].p_type != PT_TLS || at < first || at >= first + bytes) continue;
          wanted = {info->dlpi_tls_data, bytes};
          return 1;
        }
        return 0;
      },
      &found);
  memset(found.memory, pattern, found.bytes);
}

class Block {
 public:
  Block(const Kernel& kernel, const void* argument, Index threads)
      : kernel_(kernel), argument_(argument), count_(threads.x * threads.y * threads.z) {}

  const Kernel& kernel() const { return kernel_; }

  void run(unsigned block, uint64_t seed) {
    random_.seed(seed);
    blockIdx = place(block, gridDim);
    const unsigned warp_count = (count_ + kWarp - 1) / kWarp;
    for (unsigned i = 0; i < warp_count; ++i) {
      const unsigned lanes = count_ - i * kWarp < kWarp ? (1u << (count_ - i * kWarp)) - 1 : ~0u;
      warps_[i].lanes = warps_[i].fresh = lanes;
      warps_[i].ready = warps_[i].ended = warps_[i].group_count = 0;
    }
    ended_ = 0;
    at_barrier_ = 0;
    barrier_sum_ = 0;
    while (ended_ < count_) {
      const auto first = static_cast<unsigned>(random_() % warp_count);
      bool ran = false;
      for (unsigned i = 0; i < warp_count && !ran; ++i) ran = run_warp((first + i) % warp_count);
      if (!ran) report_deadlock();
    }
  }

  // The running thread meets the others here.
  uint64_t meet(const Call& call) {
    Thread& thread = threads_[running_];
    thread.call = call;
    const bool all =
        call.meeting == Meeting::kBarrier ? arrive_at_barrier(call.value) : arrive_in_warp(call);
    if (!all) {
      thread.fibre = fibre_;
      leave_fibre(fibre_);
    }
    return thread.result;
  }

  // Threads of the warp that have not begun, one after the other, on the fibre that calls it.
  void run_fresh() {
    Warp& warp = warps_[warp_];
    while (warp.fresh != 0) {
      const unsigned lane = choose(warp.fresh);
      warp.fresh &= ~(1u << lane);
      begin(lane);
      kernel_.run(argument_);
      end();
    }
  }

  // From a fibre that no thread needs. It may go on for another block.
  static void park(Fibre* fibre) {
    idle_fibres().push_back(fibre);
    leave_fibre(fibre);
  }
  Fibre* fibre() const { return fibre_; }
  Stack& main() { return main_; }

 private:
  // Whether a thread of it could go on; then until none can.
  bool run_warp(unsigned number) {
    Warp& warp = warps_[number];
    if ((warp.fresh | warp.ready) == 0) return false;
    warp_ = number;
    while (const unsigned able = warp.fresh | warp.ready) {
      first_lane_ = static_cast<unsigned>(random_()) % kWarp;
      const unsigned lane = choose(able);
      if ((warp.ready >> lane & 1u) != 0) {
        warp.ready &= ~(1u << lane);
        fibre_ = threads_[number * kWarp + lane].fibre;
        begin(lane);
      } else {
        fibre_ = idle_fibre();  // which calls run_fresh()
      }
      enter_fibre();
    }
    return true;
  }

  // The next of the set, from a lane on that chance has named.
  unsigned choose(unsigned lanes) const {
    const unsigned from_first = lanes >> first_lane_ << first_lane_;
    return static_cast<unsigned>(__builtin_ctz(from_first != 0 ? from_first : lanes));
  }
  void begin(unsigned lane) {
    running_ = warp_ * kWarp + lane;
    threadIdx = place(running_, blockDim);
  }
  // Along x first.
  static Index place(unsigned number, const Index& extents) {
    if (number < extents.x) return {number, 0, 0};
    const unsigned row = number / extents.x;
    return {number % extents.x, row % extents.y, row / extents.y};
  }
  void end() {
    Warp& warp = warps_[warp_];
    const unsigned lane = running_ % kWarp;
    warp.ended |= 1u << lane;
    ++ended_;
    if (at_barrier_ != 0) {
      stop("thread %u ended, and %u others wait for it at __syncthreads", running_, at_barrier_);
    }
    for (unsigned i = 0; i < warp.group_count; ++i) {
      if ((warp.groups[i].mask >> lane & 1u) == 0) continue;
      stop("thread %u ended, and lanes %#x of its warp wait for it at %s", running_,
           warp.groups[i].arrived, name_of(warp.groups[i].meeting));
    }
  }

  // Both: whether it was the last.
  bool arrive_at_barrier(uint64_t value) {
    if (ended_ != 0) {
      stop("thread %u is at __syncthreads, but %u threads have ended", running_, ended_);
    }
    barrier_sum_ += value;
    if (++at_barrier_ < count_) return false;
    for (unsigned i = 0; i < count_; ++i) threads_[i].result = barrier_sum_;
    for (unsigned i = 0; i * kWarp < count_; ++i) warps_[i].ready = warps_[i].lanes;
    warps_[warp_].ready &= ~(1u << running_ % kWarp);
    at_barrier_ = 0;
    barrier_sum_ = 0;
    return true;
  }

  bool arrive_in_warp(const Call& call) {
    Warp& warp = warps_[warp_];
    const unsigned own = 1u << running_ % kWarp;
    Group& group = group_of(warp, call);
    group.arrived |= own;
    // In a block that does not fill its last warp, the missing lanes do not count.
    if (group.arrived != (group.mask & warp.lanes)) return false;
    finish_meeting(call, warp);
    warp.ready |= group.arrived & ~own;
    group = warp.groups[--warp.group_count];
    return true;
  }

  Group& group_of(Warp& warp, const Call& call) {
    const unsigned own = running_ % kWarp;
    if ((call.mask >> own & 1u) == 0) {
      stop("lane %u of warp %u calls %s with the mask %#x, which it is not in", own, warp_,
           name_of(call.meeting), call.mask);
    }
    if ((call.mask & warp.ended) != 0) {
      stop("lane %u of warp %u waits at %s for lanes %#x, which have ended", own, warp_,
           name_of(call.meeting), call.mask & warp.ended);
    }
    for (unsigned i = 0; i < warp.group_count; ++i) {
      Group& group = warp.groups[i];
      if (group.mask == call.mask && group.meeting == call.meeting) return group;
      if ((group.mask & call.mask) == 0) continue;
      stop("lane %u of warp %u is at %s with the mask %#x, but lanes %#x at %s with %#x", own,
           warp_, name_of(call.meeting), call.mask, group.arrived, name_of(group.meeting),
           group.mask);
    }
    Group& group = warp.groups[warp.group_count++];
    group = {call.meeting, call.mask, 0};
    return group;
  }

  void finish_meeting(const Call& call, const Warp& warp) {
    Thread* const lanes = &threads_[warp_ * kWarp];
    const uint64_t folded = is_shuffle(call.meeting) ? 0 : fold(call, warp, lanes);
    for (unsigned left = call.mask & warp.lanes; left != 0; left &= left - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(left));
      lanes[lane].result = is_shuffle(call.meeting) ? shuffled(warp, lanes, lane) : folded;
    }
  }

  static bool is_shuffle(Meeting meeting) {
    return meeting >= Meeting::kShuffle && meeting <= Meeting::kShuffleXor;
  }

  static uint64_t shuffled(const Warp& warp, const Thread* lanes, unsigned lane) {
    const Call& call = lanes[lane].call;
    const unsigned group = lane & ~(call.width - 1);
    const unsigned end = group + call.width;
    unsigned from = lane;
    switch (call.meeting) {
      case Meeting::kShuffle: from = group + (call.lane & (call.width - 1)); break;
      case Meeting::kShuffleUp: from = lane >= group + call.lane ? lane - call.lane : lane; break;
      case Meeting::kShuffleDown: from = lane + call.lane < end ? lane + call.lane : lane; break;
      default: from = (lane ^ call.lane) < end ? lane ^ call.lane : lane; break;
    }
    const bool is_there = from < kWarp && (call.mask & warp.lanes & 1u << from) != 0;
    return is_there ? lanes[from].call.value : kUndefined;
  }

  static uint64_t fold(const Call& call, const Warp& warp, const Thread* lanes) {
    uint64_t folded = 0;
    bool is_first = true;
    for (unsigned left = call.mask & warp.lanes; left != 0; left &= left - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(left));
      const uint64_t value = lanes[lane].call.value;
      const bool less = static_cast<int64_t>(value) < static_cast<int64_t>(folded);
      switch (call.meeting) {
        case Meeting::kBallot: folded |= value << lane; break;
        case Meeting::kAdd: folded += value; break;
        case Meeting::kMin: folded = is_first || less ? value : folded; break;
        case Meeting::kMax: folded = is_first || !less ? value : folded; break;
        case Meeting::kAnd: folded = is_first ? value : folded & value; break;
        case Meeting::kOr: folded |= value; break;
        case Meeting::kXor: folded ^= value; break;
        default: break;
      }
      is_first = false;
    }
    return folded;
  }

  [[noreturn]] void report_deadlock() const {
    if (at_barrier_ != 0) {
      std::fprintf(stderr, "simt: %u of %u threads are at __syncthreads\n", at_barrier_, count_);
    }
    for (unsigned number = 0; number * kWarp < count_; ++number) {
      const Warp& warp = warps_[number];
      for (unsigned i = 0; i < warp.group_count; ++i) {
        std::fprintf(stderr, "simt: lanes %#x of warp %u are at %s with the mask %#x\n",
                     warp.groups[i].arrived, number, name_of(warp.groups[i].meeting),
                     warp.groups[i].mask);
      }
    }
    stop("no thread can go on");
  }

  // ---- stacks ----

  void enter_fibre() {
    Stack& to = fibre_->stack;
    leave(main_, to);
    tenure_simt_switch(&main_.pointer, to.pointer);
    arrive(main_, fibre_->stack);
  }
  static void leave_fibre(Fibre* fibre) {
    leave(fibre->stack, g_block->main_);
    tenure_simt_switch(&fibre->stack.pointer, g_block->main_.pointer);
    arrive(fibre->stack, g_block->main_);
  }

  // Never destroyed: as many as the threads of a block that waited.
  static std::vector<Fibre*>& idle_fibres() {
    static auto* const fibres = new std::vector<Fibre*>;
    return *fibres;
  }
  static Fibre* idle_fibre() {
    std::vector<Fibre*>& idle = idle_fibres();
    if (idle.empty()) return make_fibre();
    Fibre* const fibre = idle.back();
    idle.pop_back();
    return fibre;
  }

  // With a page below it that faults.
  static Fibre* make_fibre() {
    void* const memory = mmap(nullptr, kStackBytes + kPageBytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory, kPageBytes, PROT_NONE) != 0) {
      stop("no memory for the stack of a thread");
    }
    auto* const bottom = static_cast<char*>(memory) + kPageBytes;
    // Tops at one place of a page each would share few sets of the caches.
    static unsigned number = 0;
    const std::size_t place = number++ * 7 % 64 * 64;
    auto* const top = reinterpret_cast<void**>(bottom + kStackBytes - place);
    // The stack is as after a call: the address that returns to run_fibre, and its own return
    // address above it, where the stack is 8 bytes off a multiple of 16.
    void** const pointer = top - 8;
    for (void** at = pointer; at < top; ++at) *at = nullptr;
    pointer[6] = reinterpret_cast<void*>(&run_fibre);
    auto* const fibre = new Fibre;
    fibre->stack.pointer = pointer;
#if defined(TENURE_SIMT_ASAN)
    fibre->stack.bottom = bottom;
    fibre->stack.bytes = kStackBytes;
#endif
    return fibre;
  }

  const Kernel& kernel_;
  const void* argument_;
  unsigned count_;
  unsigned ended_ = 0;
  unsigned at_barrier_ = 0;
  uint64_t barrier_sum_ = 0;
  unsigned running_ = 0;  // thread
  unsigned warp_ = 0;     // that runs
  unsigned first_lane_ = 0;
  Fibre* fibre_ = nullptr;  // that runs
  Stack main_;
  Thread threads_[kMostThreads];
  Warp warps_[kMostThreads / kWarp];
  std::minstd_rand random_;
};

// The body of a fibre, which never returns.
void run_fibre() {
  arrive(g_block->fibre()->stack, g_block->main());
  for (;;) {
    g_block->run_fresh();
    Block::park(g_block->fibre());
  }
}

void stop(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  std::fprintf(stderr, "simt: kernel %s, block [%u, %u, %u]: ",
               g_block != nullptr ? g_block->kernel().name : "?", blockIdx.x, blockIdx.y,
               blockIdx.z);
  std::vfprintf(stderr, format, arguments);
  std::fputc('\n', stderr);
  va_end(arguments);
  std::abort();
}

uint64_t first_seed() {
  const char* const text = std::getenv("TENURE_SIMT_SEED");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 1;
}

}  // namespace

Registration::Registration(const char* name, std::size_t argument_bytes, Run run)
    : argument_{0, argument_bytes}, kernel_{name, &argument_, 1, run, g_kernels} {
  g_kernels = &kernel_;
}
Registration::Registration(const char* name, const Parameter* parameters,
                           std::size_t parameter_count, Run run)
    : argument_{}, kernel_{name, parameters, parameter_count, run, g_kernels} {
  g_kernels = &kernel_;
}

const Kernel* find_kernel(const char* name) {
  const Kernel* kernel = g_kernels;
  while (kernel != nullptr && strcmp(kernel->name, name) != 0) kernel = kernel->next;
  return kernel;
}

uint64_t meet(const Call& call) { return g_block->meet(call); }

void launch(const Kernel& kernel, Index extents, Index threads, const void* argument) {
  static uint64_t seed = first_seed();
  const uint64_t thread_count = uint64_t{threads.x} * threads.y * threads.z;
  const uint64_t blocks = uint64_t{extents.x} * extents.y * extents.z;
  if (thread_count == 0 || thread_count > kMostThreads || blocks == 0) {
    std::fprintf(stderr, "simt: kernel %s with %llu blocks of %llu threads\n", kernel.name,
                 static_cast<unsigned long long>(blocks),
                 static_cast<unsigned long long>(thread_count));
    std::abort();
  }
  const auto block = std::make_unique<Block>(kernel, argument, threads);
  g_block = block.get();
  blockDim = threads;
  gridDim = extents;
  // A step that has no factor in common with the number of blocks reaches each of them.
  const uint64_t start = (++seed * 0x9e3779b97f4a7c15u) >> 33;
  const uint64_t step = blocks % 7919 == 0 ? 1 : 7919;
  for (uint64_t i = 0; i < blocks; ++i) {
    ++seed;
    if (i == 0 || seed % kScribbled == 0) {
      scribble_shared_memory(static_cast<unsigned char>(0x91 + seed % 64));
    }
    block->run(static_cast<unsigned>((start + i * step) % blocks), seed);
  }
  g_block = nullptr;
}

}  // namespace simt
