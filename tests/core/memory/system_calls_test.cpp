// Every call to the system, refused in turn: nothing of other threads is harmed, memory is given
// back, and the answer is right or OUT_OF_MEMORY.
//
// Each case is a process of its own, which begins with nothing and may end in any way.
#include "base/system_calls.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>
#include <ostream>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "memory/memory.hpp"
#include "memory/region/region.hpp"
#include "refused_system_calls.hpp"
#include "refused_threads.hpp"
#include "tenure/tenure.hpp"

using namespace tenure;
using namespace tenure::test;

namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::int64_t kSide = 1024;  // 4 MiB of f32: read once, into reserved memory

// ---- the work ----

// A number for the bytes of a result.
class Digest {
 public:
  template <class T>
  void add(std::span<const T> elements) {
    const auto bytes = std::as_bytes(elements);
    std::size_t at = 0;
    for (; at + 8 <= bytes.size(); at += 8) {
      std::uint64_t word;
      std::memcpy(&word, bytes.data() + at, 8);
      add(word);
    }
    for (; at < bytes.size(); ++at) add(static_cast<std::uint64_t>(bytes[at]));
  }
  void add(std::uint64_t word) { value_ = (value_ ^ word) * 0x9E3779B97F4A7C15u + 1; }
  void add(const tnr::Handle<tnr_sparse>& matrix) {
    const tnr::SparseView view(matrix);
    add(view.major<std::int32_t>());
    add(view.minor<std::int32_t>());
    add(view.values<float>());
  }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0;
};

// kSide x kSide elements, `per_cent` of them not zero, with the same share in the first rows, from
// which the library estimates the rest.
std::vector<float> dense_matrix(unsigned per_cent) {
  std::minstd_rand random(per_cent);
  std::vector<float> elements(static_cast<std::size_t>(kSide * kSide));
  for (float& element : elements) {
    if (random() % 100 < per_cent) element = static_cast<float>(random() % 1000 + 1);
  }
  return elements;
}

const std::vector<float> kThin = dense_matrix(27);
const std::vector<float> kThick = dense_matrix(60);

tnr::Handle<tnr_sparse> from_dense(tnr_context* context, const std::vector<float>& elements,
                                   tnr_sparse_format format) {
  const tnr::View<const float> dense(elements, {kSide, kSide});
  return tnr::owned(tnr_sparse_from_dense(context, format, dense, nullptr));
}

using Work = std::uint64_t (*)(tnr_context*);

// Small and large blobs, and sizes that are used again; make_many_blobs() makes more than the
// library holds back.
std::uint64_t make_blobs(tnr_context* context) {
  Digest digest;
  for (const std::size_t bytes : {std::size_t{100}, kMiB + 3, 3 * kMiB, 3 * kMiB, 9 * kMiB}) {
    const auto blob = tnr::owned(tnr_blob_alloc(context, bytes));
    auto* const data = static_cast<char*>(tnr_blob_data_mut(blob.get()));
    data[0] = 1;
    data[bytes - 1] = 2;
    digest.add(static_cast<std::uint64_t>(data[0] + data[bytes - 1]));
  }
  const auto copied = tnr::Tensor<float>::copy(kThin, {kSide, kSide}, context);
  digest.add(std::span<const float>(copied.view().data(), copied.view().size()));
  return digest.value();
}

std::uint64_t make_many_blobs(tnr_context* context) {
  std::vector<tnr::Handle<tnr_blob>> blobs;
  for (std::size_t i = 0; i < RegionCache::kMaxRegions + 2; ++i) {
    blobs.push_back(tnr::owned(tnr_blob_alloc(context, kMiB + i)));
    *static_cast<char*>(tnr_blob_data_mut(blobs.back().get())) = 1;
  }
  return blobs.size();
}

// A result that is larger than the memory which it was begun in, and then memory like that again.
std::uint64_t make_sparse(tnr_context* context) {
  Digest digest;
  digest.add(from_dense(context, kThin, TNR_SPARSE_FORMAT_CSR));
  for (int i = 0; i < 2; ++i) digest.add(from_dense(context, kThick, TNR_SPARSE_FORMAT_CSR));
  digest.add(from_dense(context, kThin, TNR_SPARSE_FORMAT_COO));
  return digest.value();
}

std::uint64_t make_dense(tnr_context* context) {
  Digest digest;
  const std::int64_t rows = 3 * kSide;
  std::vector<std::int32_t> offsets(static_cast<std::size_t>(rows) + 1);
  for (std::size_t i = 0; i < offsets.size(); ++i) offsets[i] = static_cast<std::int32_t>(i);
  const std::vector<std::int32_t> cols(static_cast<std::size_t>(rows), 5);
  const std::vector<float> values(static_cast<std::size_t>(rows), 2);
  const auto matrix = tnr::SparseView::csr<std::int32_t, float>(rows, kSide, offsets, cols, values);
  auto out = tnr::Tensor<float>::zeros({rows, kSide}, context);  // 12 MiB
  tnr::check(tnr_sparse_to_dense(context, matrix, nullptr, out.view()));
  digest.add(std::span<const float>(out.view().data(), out.view().size()));
  return digest.value();
}

std::uint64_t coalesce_pack_and_multiply(tnr_context* context) {
  Digest digest;
  std::minstd_rand random(1);
  constexpr std::size_t kCount = 300'000;
  std::vector<std::int32_t> rows(kCount);
  std::vector<std::int32_t> cols(kCount);
  const std::vector<float> values(kCount, 3);
  for (std::size_t i = 0; i < kCount; ++i) {
    rows[i] = static_cast<std::int32_t>(random() % kSide);
    cols[i] = static_cast<std::int32_t>(random() % kSide);
  }
  const auto coo = tnr::SparseView::coo<std::int32_t, float>(kSide, kSide, rows, cols, values);
  const auto sorted =
      tnr::owned(tnr_sparse_coalesce(context, TNR_SPARSE_COMBINE_SUM, coo, nullptr));
  digest.add(sorted);
  const auto csr = tnr::owned(
      tnr_sparse_convert(context, TNR_SPARSE_FORMAT_CSR, tnr::SparseView(sorted), nullptr));
  digest.add(csr);
  const auto packed = tnr::owned(tnr_packed_create(context, tnr::SparseView(csr), nullptr));

  tnr_scalar one = {TNR_DTYPE_F32, 0, {}};
  const tnr_scalar zero = one;
  const float value = 1;
  std::memcpy(one.bytes, &value, sizeof value);
  const std::vector<float> x(static_cast<std::size_t>(kSide), 1);
  auto y = tnr::Tensor<float>::zeros({kSide}, context);
  tnr::check(tnr_packed_matmul(context, &one, packed.get(), tnr::View<const float>(x, {kSide}),
                               &zero, nullptr, y.view()));
  digest.add(std::span<const float>(y.view().data(), y.view().size()));
  auto product = tnr::Tensor<float>::zeros({kSide, 300}, context);
  const auto factor = tnr::Tensor<float>::full({kSide, 300}, 1, context);
  tnr::check(tnr_sparse_matmul(context, TNR_ORIENTATION_AS_IS, &one, tnr::SparseView(csr),
                               tnr::View<const float>(factor.view()), &zero, nullptr,
                               product.view()));
  digest.add(std::span<const float>(product.view().data(), product.view().size()));
  return digest.value();
}

std::uint64_t multiply_sparse(tnr_context* context) {
  std::vector<std::int32_t> offsets(static_cast<std::size_t>(kSide) + 1);
  std::vector<std::int32_t> cols;
  for (std::int32_t row = 0; row < kSide; ++row) {
    for (std::int32_t i = 0; i < 24; ++i) cols.push_back(i * 37 + row % 30);
    offsets[static_cast<std::size_t>(row) + 1] = static_cast<std::int32_t>(cols.size());
  }
  const std::vector<float> values(cols.size(), 2);
  const auto a = tnr::SparseView::csr<std::int32_t, float>(kSide, kSide, offsets, cols, values,
                                                           TNR_SPARSE_SORTED | TNR_SPARSE_UNIQUE);
  Digest digest;
  for (int i = 0; i < 2; ++i) digest.add(tnr::owned(tnr_sparse_product(context, a, a, nullptr)));
  return digest.value();
}

struct NamedWork {
  const char* name;
  Work run;
  int step = 1;  // of the calls that the normal run refuses
};
void PrintTo(const NamedWork& work, std::ostream* out) { *out << work.name; }
constexpr NamedWork kWorks[] = {
    {"blobs", make_blobs},
    {"many blobs", make_many_blobs, 5},
    {"sparse of dense", make_sparse},
    {"dense of sparse", make_dense},
    {"coalesce, pack, multiply", coalesce_pack_and_multiply},
    {"sparse product", multiply_sparse},
};

// ---- in a process of its own ----

struct Report {
  bool has_ended = false;
  tnr_status status = TNR_STATUS_OK;
  std::uint64_t digest = 0;
  int refused = 0;
  Call first_refused = Call::kNone;
  std::size_t left_bytes = 0;  // after everything was released and trimmed
  std::size_t doubtful_bytes = 0;
  int neighbours = 0;
  char harm[200] = "";
};

// Memory that a child writes its report to.
class SharedReport {
 public:
  SharedReport()
      : report_(new(mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Report) {}
  ~SharedReport() { munmap(report_, sizeof(Report)); }
  SharedReport(const SharedReport&) = delete;
  SharedReport& operator=(const SharedReport&) = delete;
  Report& operator*() const { return *report_; }

 private:
  Report* report_;
};

template <class Body>
Report in_child(Body body) {
  const SharedReport shared;
  std::fflush(nullptr);
  const pid_t child = fork();
  EXPECT_NE(child, -1);
  if (child == 0) {
    try {
      body(*shared);
    } catch (...) {
      _exit(1);  // not on with the tests of the parent
    }
    const char* const harm = harm_to_others();
    if (harm != nullptr) std::snprintf((*shared).harm, sizeof(Report::harm), "%s", harm);
    (*shared).left_bytes = owned_bytes();
    (*shared).doubtful_bytes = doubtful_bytes();
    (*shared).neighbours = neighbour_count();
    (*shared).has_ended = true;
    _exit(0);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  return *shared;
}

struct Refusal {
  int first;
  Reach reach;
  Manner manner;
  Call only = Call::kNone;
};
constexpr Refusal kNoRefusal = {INT32_MAX, Reach::kOne, Manner::kAtOnce};

Report run(Work work, std::uint32_t threads, const Refusal& refusal) {
  return in_child([&](Report& report) {
    refuse(refusal.first, refusal.reach, refusal.manner, refusal.only);
    try {
      const auto context = tnr::make_context(threads);
      report.digest = work(context.get());
    } catch (const tnr::Error& error) {
      report.status = error.status();
    }
    refuse_nothing();
    report.refused = refused_count();
    report.first_refused = first_refused();
    tnr_memory_trim();
  });
}

void expect_no_harm(const Report& report) {
  EXPECT_TRUE(report.has_ended);
  EXPECT_STREQ(report.harm, "");
  EXPECT_EQ(report.left_bytes, report.doubtful_bytes);
}

// One refusal, other than of memory, costs no answer.
void expect_answer(const Report& report, const Report& expected, bool may_lack_memory) {
  if (may_lack_memory && report.status != TNR_STATUS_OK) {
    EXPECT_STREQ(tnr_status_name(report.status), tnr_status_name(TNR_STATUS_OUT_OF_MEMORY));
    return;
  }
  EXPECT_STREQ(tnr_status_name(report.status), tnr_status_name(TNR_STATUS_OK));
  EXPECT_EQ(report.digest, expected.digest);
}

// Refuses each call in turn, or one in `step`, until no call is left; returns the number of cases.
int sweep(const NamedWork& work, std::uint32_t threads, Reach reach, int step,
          const Report& expected) {
  int cases = 0;
  for (int first = 0;; first += step) {
    const Report report = run(work.run, threads, {first, reach, Manner::kAtOnce});
    SCOPED_TRACE(testing::Message()
                 << work.name << " on " << threads << " threads, call " << first << " ("
                 << kCallNames[static_cast<int>(report.first_refused)] << ") refused"
                 << (reach == Reach::kOne ? "" : ", and all from there on"));
    ++cases;
    const bool may_lack_memory =
        reach == Reach::kAllFromThere || report.first_refused == Call::kMap ||
        report.first_refused == Call::kAtFork;  // without which there is no context
    expect_no_harm(report);
    expect_answer(report, expected, may_lack_memory);
    if (report.first_refused == Call::kMove || report.first_refused == Call::kAdvise) {
      const Report half_way = run(work.run, threads, {first, reach, Manner::kHalfWay});
      ++cases;
      SCOPED_TRACE("half way");
      expect_no_harm(half_way);
      expect_answer(half_way, expected, may_lack_memory);
    }
    if (testing::Test::HasFailure() || report.refused == 0) return cases;
  }
}

// One after the other, which takes minutes: `ctest -C Long` asks for it.
bool is_long() { return std::getenv("TENURE_LONG_SWEEP") != nullptr; }

class SystemCalls : public testing::TestWithParam<NamedWork> {
 protected:
  void SetUp() override {
    if (kSanitized) GTEST_SKIP() << "no memory is mapped under a sanitizer";
  }
};

TEST_P(SystemCalls, EachRefusedHarmsNobodyAndIsGivenBack) {
  int cases = 0;
  for (const std::uint32_t threads : {1u, 2u}) {
    const Report expected = run(GetParam().run, threads, kNoRefusal);
    expect_no_harm(expected);
    ASSERT_EQ(expected.status, TNR_STATUS_OK);
    EXPECT_GT(expected.neighbours, 0);
    // The second thread asks for little that the first does not.
    const int step = is_long() ? 1 : threads == 1 ? GetParam().step : 7;
    cases += sweep(GetParam(), threads, Reach::kOne, step, expected);
    cases += sweep(GetParam(), threads, Reach::kAllFromThere, is_long() ? 1 : 7, expected);
  }
  EXPECT_GT(cases, is_long() ? 60 : 20);
  std::printf("%d cases\n", cases);
}

// A kernel that never knew the call, or a sandbox that forbids it.
TEST_P(SystemCalls, OfOneKindAllRefusedCostNoAnswer) {
  const Report expected = run(GetParam().run, 2, kNoRefusal);
  for (const Call call :
       {Call::kUnmap, Call::kAdvise, Call::kMove, Call::kExtend, Call::kLookUp, Call::kThread}) {
    SCOPED_TRACE(kCallNames[static_cast<int>(call)]);
    for (const Manner manner : {Manner::kAtOnce, Manner::kHalfWay}) {
      const Report report = run(GetParam().run, 2, {0, Reach::kAllFromThere, manner, call});
      expect_no_harm(report);
      expect_answer(report, expected, false);
    }
  }
  const Report report =
      run(GetParam().run, 2, {0, Reach::kAllFromThere, Manner::kAtOnce, Call::kMap});
  expect_no_harm(report);
  EXPECT_EQ(report.status, TNR_STATUS_OUT_OF_MEMORY);
}

INSTANTIATE_TEST_SUITE_P(Works, SystemCalls, testing::ValuesIn(kWorks), [](const auto& work) {
  std::string name = work.param.name;
  std::erase_if(name, [](char letter) { return letter == ' ' || letter == ','; });
  return name;
});

TEST(SystemCallsOfAllKinds, AreAsked) {
  if (kSanitized) GTEST_SKIP() << "no memory is mapped under a sanitizer";
  for (const Call call : {Call::kMap, Call::kUnmap, Call::kAdvise, Call::kMove, Call::kExtend,
                          Call::kLookUp, Call::kAtFork, Call::kThread}) {
    int refused = 0;
    for (const Work work : {make_sparse, make_dense}) {
      refused += run(work, 2, {0, Reach::kOne, Manner::kAtOnce, call}).refused;
    }
    EXPECT_GT(refused, 0) << kCallNames[static_cast<int>(call)];
  }
}

TEST(SystemCallsOfContexts, EachThreadRefusedIsOutOfMemory) {
  for (int first = 0; first <= 3; ++first) {
    const Report report = in_child([&](Report& of_child) {
      {
        const ThreadFault fault(first);
        try {
          of_child.digest = make_blobs(tnr::make_context(4).get());
        } catch (const tnr::Error& error) {
          of_child.status = error.status();
        }
      }
      tnr_memory_trim();
    });
    expect_no_harm(report);
    EXPECT_EQ(report.status, first == 3 ? TNR_STATUS_OK : TNR_STATUS_OUT_OF_MEMORY) << first;
  }
}

TEST(SystemCallsOfContexts, ARefusalOfForksLastsNoLonger) {
  const Report report = in_child([](Report& of_child) {
    refuse(0, Reach::kOne, Manner::kAtOnce, Call::kAtFork);
    try {
      static_cast<void>(tnr::make_context(1));
    } catch (const tnr::Error& error) {
      of_child.status = error.status();
    }
    of_child.refused = refused_count();
    static_cast<void>(tnr::make_context(1));
  });
  expect_no_harm(report);
  EXPECT_EQ(report.refused, 1);
  EXPECT_EQ(report.status, TNR_STATUS_OUT_OF_MEMORY);
}

// ---- memory that moves ----

// A region of three mappings: it has grown twice beyond its head.
Region grown_region() {
  Region head = map_region(kMiB);
  head.data[0] = 1;
  for (const std::size_t bytes : {3 * kMiB, 5 * kMiB}) {
    const auto [region, head_bytes] = reserve_region(16 * kMiB, head);
    if (head_bytes == 0) return {};
    head = shrink_region(region, bytes);
    head.data[bytes - 1] = static_cast<char>(bytes / kMiB);
  }
  return head;
}
bool is_as_grown(const char* data) {
  return data[0] == 1 && data[3 * kMiB - 1] == 3 && data[5 * kMiB - 1] == 5;
}

TEST(SystemCallsOfRegions, SeveralMappingsMoveOneByOne) {
  const Report report = in_child([](Report& of_child) {
    Region head = grown_region();
    const auto [region, head_bytes] = reserve_region(64 * kMiB, head);
    of_child.digest = head_bytes == 5 * kMiB && is_as_grown(region.data);
    unmap_region(region);
  });
  expect_no_harm(report);
  EXPECT_EQ(report.digest, 1u);
}

TEST(SystemCallsOfRegions, MoreMappingsThanMoveAreGivenUp) {
  const Report report = in_child([](Report& of_child) {
    Region head = map_region(kMiB);
    for (std::size_t grown = 2; grown <= 8; ++grown) {
      const auto [region, head_bytes] = reserve_region(16 * kMiB, head);
      head = shrink_region(region, grown * kMiB);
      head.data[grown * kMiB - 1] = 1;
      // Four mappings at most, and then one again.
      of_child.digest += head_bytes == 0;
      if (head_bytes == 0) of_child.digest += 10 * grown;
    }
    unmap_region(head);
  });
  expect_no_harm(report);
  EXPECT_EQ(report.digest, 61u);
}

// Refuses the first move, or a later one of the same head, in both manners; also where the refused
// extensions do not tell one mapping from several.
TEST(SystemCallsOfRegions, ARefusedMoveUnmapsNothingOfOthers) {
  struct Case {
    Refusal refusal;
    bool keeps_head;
  };
  const Case cases[] = {
      {{0, Reach::kOne, Manner::kAtOnce, Call::kMove}, true},
      {{0, Reach::kOne, Manner::kHalfWay, Call::kMove}, true},
      {{1, Reach::kOne, Manner::kAtOnce, Call::kMove}, false},
      {{1, Reach::kOne, Manner::kHalfWay, Call::kMove}, false},
      {{2, Reach::kOne, Manner::kHalfWay, Call::kMove}, false},
      {{0, Reach::kAllFromThere, Manner::kAtOnce, Call::kExtend}, true},
  };
  for (const Case& of : cases) {
    SCOPED_TRACE(testing::Message() << "move " << of.refusal.first << ", keeps " << of.keeps_head);
    const Report report = in_child([&](Report& of_child) {
      Region head = grown_region();
      refuse(of.refusal.first, of.refusal.reach, of.refusal.manner, of.refusal.only);
      const Region refused = reserve_region(64 * kMiB, head).region;
      of_child.refused = refused_count();
      refuse_nothing();
      of_child.digest = refused.data == nullptr && (head.data != nullptr) == of.keeps_head &&
                        (head.data == nullptr || is_as_grown(head.data));
      // Once is enough: the next is not asked for.
      Region other = map_region(kMiB);
      refuse(0, Reach::kAllFromThere, Manner::kAtOnce);
      of_child.digest += reserve_region(64 * kMiB, other).region.data == nullptr &&
                         other.data != nullptr && refused_count() == 0;
      refuse_nothing();
      unmap_region(other);
      unmap_region(head);
    });
    expect_no_harm(report);
    EXPECT_GT(report.refused, 0);
    EXPECT_EQ(report.digest, 2u);
  }
}

TEST(SystemCallsOfRegions, RefusedUnmapsGiveMemoryBackAtOnceAndAddressesLater) {
  const Report report = in_child([](Report& of_child) {
    const Region region = map_region(8 * kMiB);
    std::memset(region.data, 1, region.size_bytes);
    refuse(0, Reach::kAllFromThere, Manner::kAtOnce, Call::kUnmap);
    unmap_region(region);
    refuse_nothing();
    std::vector<unsigned char> flags(region.size_bytes / 4096);
    bool is_forgotten = owned_bytes() == region.size_bytes &&
                        mincore(region.data, region.size_bytes, flags.data()) == 0;
    for (std::size_t page = kHugePageBytes / 4096; page < flags.size(); ++page) {
      is_forgotten = is_forgotten && (flags[page] & 1) == 0;
    }
    const Region other = map_region(kMiB);  // which unmaps the memory around it
    of_child.digest = is_forgotten && owned_bytes() == other.size_bytes;
    unmap_region(other);
  });
  expect_no_harm(report);
  EXPECT_EQ(report.digest, 1u);
}

// ---- a kernel that refuses by itself ----

// Maps until the process has as many mappings as it may; no data where that is not to be reached.
std::span<char> fill_up_mappings() {
  std::size_t most = 0;
  std::ifstream("/proc/sys/vm/max_map_count") >> most;
  if (most == 0 || most > 100'000) return {};
  const std::size_t bytes = 2 * most * 4096;
  void* const all =
      mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) return {};
  char* const data = static_cast<char*>(all);
  for (std::size_t page = 1; page < 2 * most; page += 2) {
    if (mprotect(data + page * 4096, 4096, PROT_READ) != 0) return {data, bytes};
  }
  return {};
}

TEST(SystemCallsOfTheKernel, WhereThereMayBeNoMoreMappingsMemoryIsGivenBack) {
  if (kSanitized) GTEST_SKIP() << "no memory is mapped under a sanitizer";
  const Report expected = run(make_sparse, 1, kNoRefusal);
  const Report report = in_child([&](Report& of_child) {
    const auto context = tnr::make_context(1);
    of_child.digest = make_sparse(context.get());
    const std::span<char> filled = fill_up_mappings();
    of_child.refused = !filled.empty();
    for (int i = 0; i < 20 && of_child.status == TNR_STATUS_OK; ++i) {
      try {
        static_cast<void>(make_many_blobs(context.get()));
        of_child.digest = make_sparse(context.get());
      } catch (const tnr::Error& error) {
        of_child.status = error.status();
      }
    }
    munmap(filled.data(), filled.size());
    tnr_memory_trim();
  });
  expect_no_harm(report);
  expect_answer(report, expected, true);
  if (report.refused == 0) GTEST_SKIP() << "the system allows too many mappings";
}

}  // namespace
