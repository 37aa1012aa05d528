#include "dense/bool8.hpp"

#include <cstring>

#include "cpu/dispatch.hpp"
#include "dense/loops/strip_runner.hpp"
#include "view/operand_checks.hpp"

namespace tenure {

using kernels::Byte;

bool are_written_bools(const Byte* bytes, std::int64_t count) noexcept {
  std::uint64_t met = 0;
  std::int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes + i, sizeof word);
    met |= word;
  }
  for (; i < count; ++i) met |= bytes[i];
  return (met & 0xfefefefefefefefe) == 0;
}

void write_as_bools(Byte* bytes, std::int64_t count) noexcept {
  const unsigned type = type_index(TNR_DTYPE_BOOL8);
  const kernels::StripInput source[] = {{bytes, 1, 1}};
  kernels::cast_kernels()[type][type].kernel(dense_strip(count, bytes, 1, source));
}

}  // namespace tenure
