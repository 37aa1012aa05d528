// Jobs: slices handed out by tickets, threads that come when they like, parking and the end.
#include <array>
#include <memory>

#include "lent_word.hpp"
#include "memory/tickets.hpp"
#include "tenure/context.hpp"
#include "threads/context_slot.hpp"
#include "threads/job.hpp"
#include "threads/lookback_scan.hpp"

namespace tenure::explore {

namespace {

// The work of one call: each slice writes a word of its own, which the caller then reads.
template <unsigned kSlices>
struct Work {
  std::array<Word, kSlices> words;

  static void run(void* work, std::int64_t slice) noexcept {
    Word& word = static_cast<Work*>(work)->words[static_cast<std::size_t>(slice)];
    require(word == 0, "a slice is run twice");
    word = kWritten;
  }
  void require_done() {
    for (Word& word : words) {
      require(word == kWritten, "a slice was not run");
      word = kFreed;  // a thread that still runs it would race with this
    }
  }
};

tnr_context_options options_of(unsigned thread_count) {
  tnr_context_options options = {};
  options.struct_size = sizeof options;
  options.thread_count = thread_count;
  return options;
}

// A context of threads of its own, for the scenario.
class PoolContext {
 public:
  explicit PoolContext(unsigned thread_count) : token_(context_create(options_of(thread_count))) {}
  PoolContext(const PoolContext&) = delete;
  PoolContext& operator=(const PoolContext&) = delete;
  // Joins the threads: a worker that sleeps through that is found.
  ~PoolContext() { context_release(token_); }

  template <unsigned kSlices>
  void call(Wake wake) const {
    const ContextUse use(token_);
    const Context& context = use;
    Work<kSlices> work;
    context.run_slices(kSlices, Work<kSlices>::run, &work, wake);
    work.require_done();
  }

 private:
  ContextToken token_;
};

// ---- only the job ----

void help_against_opener() {
  Job job;
  Work<2> work;
  Thread helper([&] {
    if (const std::uint64_t generation = job.open_generation(); generation != 0) {
      job.help(generation);
    }
  });
  require(job.try_acquire(), "a free job is taken");
  const std::uint64_t generation = job.open(Work<2>::run, &work, 0, 2);
  std::uint32_t own_count = 0;
  while (job.run_one(generation)) ++own_count;
  job.wait(own_count);
  work.require_done();
  job.release();
  helper.join();
}

// Both report the slices that they have run; the opener runs nothing.
void help_against_help() {
  Job job;
  Work<2> work;
  const std::uint64_t generation = job.open(Work<2>::run, &work, 0, 2);
  Thread helper([&] { job.help(generation); });
  job.help(generation);
  job.wait(0);
  work.require_done();
  helper.join();
}

// A late thread, with the number of a job that is over, claims nothing of the next.
void late_help_against_next_job() {
  Job job;
  std::array<Work<1>, 2> works;
  Thread helper([&] {
    const std::uint64_t generation = job.open_generation();
    if (generation == 0) return;
    job.help(generation);
    job.help(generation);
  });
  for (Work<1>& work : works) {
    const std::uint64_t generation = job.open(Work<1>::run, &work, 0, 1);
    std::uint32_t own_count = 0;
    while (job.run_one(generation)) ++own_count;
    job.wait(own_count);
    work.require_done();
  }
  helper.join();
}

// Two callers: the one that does not get the job leaves it to the other.
void caller_against_caller() {
  Job job;
  const auto call = [&] {
    Work<1> work;
    if (!job.try_acquire()) return;
    const std::uint64_t generation = job.open(Work<1>::run, &work, 0, 1);
    std::uint32_t own_count = 0;
    while (job.run_one(generation)) ++own_count;
    job.wait(own_count);
    work.require_done();
    job.release();
  };
  Thread other(call);
  call();
  other.join();
}

// ---- the pool ----

void pool_starts_and_stops() { const PoolContext context(2); }

// `release` may free the code that the threads ran.
void pool_stops_before_release() {
  tnr_context_options options = options_of(2);
  options.release = [](void*) {
    require(unjoined_count() == 0, "a context is released before its threads are joined");
  };
  context_release(context_create(options));
}

void call_against_worker() {
  const PoolContext context(2);
  context.call<2>(Wake::kAtOnce);
}

void call_that_wakes_late() {
  const PoolContext context(2);
  context.call<2>(Wake::kWhenLong);
}

void calls_against_worker() {
  const PoolContext context(2);
  context.call<1 + 1>(Wake::kAtOnce);
  context.call<1 + 1>(Wake::kWhenLong);
}

void call_against_spinning_worker() {
  processor_count = 4;
  const PoolContext context(2);
  processor_count = 1;
  context.call<2>(Wake::kAtOnce);
}

// While a job has slices to claim, no worker waits whom the opener has not called: it either saw
// the job before it parked, or was seen parking.
struct Watched {
  unsigned notified_before;
  static void run(void* watched, std::int64_t slice) noexcept {
    if (slice != 0) return;
    require(waiting_count() == 0 ||
                notification_count() != static_cast<Watched*>(watched)->notified_before,
            "a worker sleeps, and nobody has called it");
  }
};

void parking_against_open() {
  Job job;
  ThreadPool pool(job, 1);
  Watched watched = {notification_count()};
  pool.run_job(job.open(Watched::run, &watched, 0, 2), Wake::kAtOnce);
}

// ---- threads of the caller's ----

struct Executor {
  std::array<std::uint64_t, 2> tasks = {};
  unsigned task_count = 0;
  Atomic<unsigned> given{0};

  static void spawn(void* user_context, std::uint64_t task) {
    Executor& self = *static_cast<Executor*>(user_context);
    self.tasks[self.task_count++] = task;
    self.given.store(self.task_count, std::memory_order_release);
  }
};

// A thread that runs each task whenever it finds it, and the first once more after the second.
void tasks_against_calls() {
  Executor executor;
  tnr_context_options options = options_of(2);
  options.spawn = Executor::spawn;
  options.user_context = &executor;
  const ContextToken token = context_create(options);
  Thread helper([&] {
    const unsigned given = executor.given.load(std::memory_order_acquire);
    for (unsigned i = given; i-- > 0;) task_run(executor.tasks[i]);
  });
  {
    const ContextUse use(token);
    const Context& context = use;
    for (int call = 0; call < 2; ++call) {
      Work<2> work;
      context.run_slices(2, Work<2>::run, &work, Wake::kAtOnce);
      work.require_done();
    }
  }
  context_release(token);
  helper.join();
}

// ---- chunks ----

void tickets_are_taken_once() {
  constexpr std::int64_t kChunks = 3;
  Tickets tickets(kChunks);
  std::array<Word, kChunks> words;
  const auto take_all = [&] {
    for (std::int64_t chunk = tickets.take(); chunk >= 0; chunk = tickets.take()) {
      Word& word = words[static_cast<std::size_t>(chunk)];
      require(word == 0, "a chunk is taken twice");
      word = kWritten;
    }
  };
  Thread other(take_all);
  take_all();
  other.join();
  for (const Word& word : words) require(word == kWritten, "a chunk was not taken");
}

// Each chunk learns how many entries lie before it; what the chunks before did is then there.
void sums_against_sums() {
  constexpr std::int64_t kChunks = 3;
  Tickets tickets(kChunks);
  LookbackScan sums(kChunks);
  std::array<Word, kChunks> words;
  const auto add_all = [&] {
    for (std::int64_t chunk = tickets.take(); chunk >= 0; chunk = tickets.take()) {
      words[static_cast<std::size_t>(chunk)] = kWritten;
      require(sums.add(chunk, chunk + 1) == chunk * (chunk + 1) / 2, "a sum is wrong");
      for (std::int64_t before = 0; before < chunk; ++before) {
        require(words[static_cast<std::size_t>(before)] == kWritten, "a chunk is not there yet");
      }
    }
  };
  Thread other(add_all);
  add_all();
  other.join();
  require(sums.total(kChunks) == kChunks * (kChunks + 1) / 2, "the total is wrong");
}

// ---- three threads ----

void two_helpers() {
  Job job;
  Work<2> work;
  const auto help = [&] {
    if (const std::uint64_t generation = job.open_generation(); generation != 0) {
      job.help(generation);
    }
  };
  Thread one(help);
  Thread other(help);
  const std::uint64_t generation = job.open(Work<2>::run, &work, 0, 2);
  std::uint32_t own_count = 0;
  while (job.run_one(generation)) ++own_count;
  job.wait(own_count);
  work.require_done();
  one.join();
  other.join();
}

void call_against_two_workers() {
  const PoolContext context(3);
  context.call<2>(Wake::kAtOnce);
}

void two_callers_and_a_worker() {
  const PoolContext context(2);
  Thread other([&] { context.call<2>(Wake::kAtOnce); });
  context.call<2>(Wake::kAtOnce);
  other.join();
}

void two_workers_start_and_stop() { const PoolContext context(3); }

}  // namespace

std::vector<Scenario> job_scenarios() {
  return {
      {"help_against_opener", 2, help_against_opener},
      {"help_against_help", 2, help_against_help},
      {"late_help_against_next_job", 2, late_help_against_next_job},
      {"caller_against_caller", 2, caller_against_caller},
      {"pool_starts_and_stops", 2, pool_starts_and_stops},
      {"pool_stops_before_release", 2, pool_stops_before_release},
      {"parking_against_open", 2, parking_against_open, kNothingSpurious},
      {"call_against_worker", 2, call_against_worker, kNothingSpurious},
      {"call_that_wakes_late", 2, call_that_wakes_late, kNothingSpurious},
      {"calls_against_worker", 2, calls_against_worker, kOnePreemption},
      {"call_against_spinning_worker", 2, call_against_spinning_worker, kOnePreemption},
      {"tasks_against_calls", 2, tasks_against_calls},
      {"tickets_are_taken_once", 2, tickets_are_taken_once},
      {"sums_against_sums", 2, sums_against_sums},
      {"two_helpers", 3, two_helpers, kThreePreemptions},
      {"call_against_two_workers", 3, call_against_two_workers, kOnePreemption},
      {"two_callers_and_a_worker", 3, two_callers_and_a_worker, kOnePreemption},
      {"two_workers_start_and_stop", 3, two_workers_start_and_stop, kThreePreemptions},
  };
}

}  // namespace tenure::explore
