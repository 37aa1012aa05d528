// More entries than i32 offsets count. The test needs only the addresses for them, no memory.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdint>

#include "expect_error.hpp"
#include "sparse_arrays.hpp"
#include "tenure/context.hpp"
#include "tenure/sparse.hpp"
#include "tenure/sparse_voucher.hpp"

namespace {

using namespace tenure;
using namespace tenure::test;

constexpr std::int64_t kMany = std::int64_t{1} << 31;  // one more than fits

// Addresses without memory: a read there ends the process.
class Addresses {
 public:
  explicit Addresses(std::size_t size_bytes)
      : size_bytes_(size_bytes),
        data_(mmap(nullptr, size_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                   0)) {}
  Addresses(const Addresses&) = delete;
  Addresses& operator=(const Addresses&) = delete;
  ~Addresses() { munmap(data_, size_bytes_); }

  [[nodiscard]] bool are_there() const { return data_ != MAP_FAILED; }
  [[nodiscard]] const void* data() const { return data_; }

 private:
  std::size_t size_bytes_;
  void* data_;
};

class ManyEntries : public testing::Test {
 protected:
  void SetUp() override {
    if (!addresses.are_there()) GTEST_SKIP() << "no room for 16 GiB of addresses";
  }

  // A matrix whose entries, all in one row or column, count as checked, because of the voucher.
  tnr_sparse_view matrix(tnr_sparse_format format) const {
    tnr_sparse_view view{};
    view.struct_size = sizeof view;
    view.format = format;
    view.flags = TNR_SPARSE_SORTED;
    view.owner = sparse_voucher();
    view.rows = format == TNR_SPARSE_FORMAT_CSC ? 4 : 1;
    view.cols = format == TNR_SPARSE_FORMAT_CSC ? 1 : 4;
    view.block_rows = view.block_cols = 1;
    view.major = format == TNR_SPARSE_FORMAT_COO ? of_entries(TNR_DTYPE_I64)
                                                 : flat_view(offsets, TNR_DTYPE_I64, {2});
    view.minor = of_entries(TNR_DTYPE_I64);
    view.values = of_entries(TNR_DTYPE_U8);
    return view;
  }

  Addresses addresses{static_cast<std::size_t>(kMany) * 8};
  const std::int64_t offsets[2] = {0, kMany};

 private:
  tnr_view of_entries(tnr_dtype dtype) const { return flat_view(addresses.data(), dtype, {kMany}); }
};

TEST_F(ManyEntries, NarrowOffsetsAreRefusedBeforeAnEntryIsRead) {
  for (const tnr_sparse_format format : {TNR_SPARSE_FORMAT_CSR, TNR_SPARSE_FORMAT_CSC}) {
    SparseOptions options{};
    options.format = format;
    options.index_dtype = TNR_DTYPE_I32;
    expect_error(TNR_STATUS_INVALID_ARGUMENT,
                 {"offsets of the result reach 2147483648", "i32 ends at 2147483647", "use i64"},
                 [&] { sparse_release(sparse_convert(kDefaultContext, matrix(format), options)); });
  }
}

}  // namespace
