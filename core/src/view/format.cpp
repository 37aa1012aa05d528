#include "tenure/format.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string_view>
#include <vector>

#include "tenure/dtype.hpp"
#include "tenure/shape.hpp"
#include "tenure/status.hpp"
#include "tenure/view.hpp"

namespace tenure {
namespace {

constexpr std::int64_t kThreshold = 1000;  // elements that are shown before an array is cut short
constexpr std::int64_t kEdge = 3;          // of them at each end of an axis that is cut
constexpr std::size_t kLineWidth = 75;     // columns, after which a row is wrapped

// ---- numbers ----

struct FloatKind {
  int decimal_digits;   // that survive a round trip from text, as C's FLT_DIG
  int fraction_bits;    // of the 16-bit types; 0: the type is one of C++
  int lowest_exponent;  // of a normal number
};
constexpr FloatKind kF64 = {15, 0, 0};
constexpr FloatKind kF32 = {6, 0, 0};
constexpr FloatKind kF16 = {3, 10, -14};
constexpr FloatKind kBF16 = {2, 7, -126};

// The number of the type that is nearest to x, ties to even; its range is not looked at.
double rounded_to(const FloatKind& kind, double x) {
  if (&kind == &kF64) return x;
  if (&kind == &kF32) return static_cast<double>(static_cast<float>(x));
  const int exponent = static_cast<int>(std::bit_cast<std::uint64_t>(x) >> 52 & 0x7ff) - 1023;
  const double quantum =
      std::ldexp(1.0, std::max(exponent, kind.lowest_exponent) - kind.fraction_bits);
  return std::nearbyint(x / quantum) * quantum;
}

// A number in scientific notation: `whole` is one digit with the sign before it.
struct Scientific {
  std::string whole;
  std::string fraction;
  int exponent = 0;
};

Scientific parsed(std::string_view text) {
  const std::size_t e = text.find('e');
  const std::string_view mantissa = text.substr(0, e);
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  Scientific number;
  number.whole = mantissa.substr(0, point);
  if (point < mantissa.size()) number.fraction = mantissa.substr(point + 1);
  // Not std::atoi: from_chars takes no plus sign, and the text has no end of its own.
  const std::string_view power = text.substr(e + 1);
  std::from_chars(power.data() + (power[0] == '+'), power.data() + power.size(), number.exponent);
  return number;
}

// Returns x with exactly `digits` digits after the point, 1080 at most, ties to even.
Scientific with_digits(double x, int digits) {
  char text[1100];  // the exact decimal of any double has fewer digits
  digits = std::min(digits, 1080);
  const auto end =
      std::to_chars(text, text + sizeof text, x, std::chars_format::scientific, digits);
  return parsed({text, static_cast<std::size_t>(end.ptr - text)});
}

// The shortest decimal that reads back as x, and of those the nearest, ties to even.
Scientific shortest(const FloatKind& kind, double x) {
  char text[64];
  if (kind.fraction_bits == 0) {
    const auto end =
        &kind == &kF32 ? std::to_chars(text, text + sizeof text, static_cast<float>(x),
                                       std::chars_format::scientific)
                       : std::to_chars(text, text + sizeof text, x, std::chars_format::scientific);
    return parsed({text, static_cast<std::size_t>(end.ptr - text)});
  }
  // A tie is tried both ways: the numbers below a power of two lie closer.
  const double tried[] = {x, x * (1.0 + std::numeric_limits<double>::epsilon())};
  for (int digits = 0; digits < 8; ++digits) {
    for (const double near : tried) {
      const auto end =
          std::to_chars(text, text + sizeof text, near, std::chars_format::scientific, digits);
      double read = 0;
      std::from_chars(text, end.ptr, read);
      if (rounded_to(kind, read) == x) {
        return parsed({text, static_cast<std::size_t>(end.ptr - text)});
      }
    }
  }
  return with_digits(x, 8);
}

void trim_zeros(std::string& digits) { digits.erase(digits.find_last_not_of('0') + 1); }

// Returns x with the fewest digits after the point that read back as x, and at most `precision`.
Scientific scientific(const FloatKind& kind, double x, std::uint32_t precision) {
  Scientific number = shortest(kind, x);
  if (number.fraction.size() <= precision) return number;
  number = with_digits(x, static_cast<int>(precision));
  trim_zeros(number.fraction);
  return number;
}

// A decimal without a power of ten: the part before the point with its sign, and the part after it.
struct Positional {
  std::string whole;
  std::string fraction;
};

Positional positional(const FloatKind& kind, double x, std::uint32_t precision) {
  const Scientific number = shortest(kind, x);
  const std::int64_t needed = static_cast<std::int64_t>(number.fraction.size()) - number.exponent;
  if (needed > static_cast<std::int64_t>(precision)) {
    char text[700];  // 309 digits before the point, and fewer than 341 after it: `needed` is above
    const auto end = std::to_chars(text, text + sizeof text, x, std::chars_format::fixed,
                                   static_cast<int>(precision));
    const std::string_view written(text, static_cast<std::size_t>(end.ptr - text));
    const std::size_t point = std::min(written.find('.'), written.size());
    Positional rounded{std::string(written.substr(0, point)), ""};
    if (point < written.size()) rounded.fraction = written.substr(point + 1);
    trim_zeros(rounded.fraction);
    return rounded;
  }
  const bool is_negative = number.whole[0] == '-';
  const std::string sign = is_negative ? "-" : "";
  std::string digits = number.whole.substr(is_negative) + number.fraction;
  if (number.exponent < 0) {
    return {sign + "0", std::string(static_cast<std::size_t>(-number.exponent - 1), '0') + digits};
  }
  const auto before = static_cast<std::size_t>(number.exponent) + 1;
  if (digits.size() < before) digits.append(before - digits.size(), '0');
  return {sign + digits.substr(0, before), digits.substr(before)};
}

const char* non_finite(double x) { return std::isnan(x) ? "nan" : x < 0 ? "-inf" : "inf"; }

std::string aligned_right(const std::string& text, std::size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

// ---- cells: the text of each element that is shown, of one width ----

using Cells = std::vector<std::string>;

enum class Plus { kHidden, kShown };

// The common notation of the floats that are shown.
class FloatCells {
 public:
  FloatCells(const std::vector<double>& values, const FloatKind& kind, std::uint32_t precision,
             Plus plus)
      : kind_(kind),
        precision_(precision),
        plus_(plus),
        is_scientific_(prefers_scientific(values)) {
    bool is_all_finite = true;
    bool has_minus = false;
    for (const double x : values) {
      if (!std::isfinite(x)) {
        is_all_finite = false;
        has_minus |= x < 0;
      } else if (is_scientific_) {
        const Scientific number = scientific(kind_, x, precision_);
        before_ = std::max(before_, with_sign(number.whole).size());
        fraction_ = std::max(fraction_, number.fraction.size());
        const std::string power = std::to_string(std::abs(number.exponent));
        exponent_ = std::max(exponent_, power.size());
      } else {
        const Positional number = positional(kind_, x, precision_);
        before_ = std::max(before_, with_sign(number.whole).size());
        after_ = std::max(after_, number.fraction.size());
      }
    }
    if (is_scientific_) after_ = fraction_ + 2 + exponent_;  // "e+"
    if (!is_all_finite) {
      const std::size_t width = has_minus || plus_ == Plus::kShown ? 4 : 3;
      before_ = std::max(before_, width - std::min(width, after_ + 1));
    }
  }

  std::string cell(double x) const {
    if (!std::isfinite(x)) return aligned_right(with_sign(non_finite(x)), before_ + 1 + after_);
    if (!is_scientific_) {
      Positional number = positional(kind_, x, precision_);
      number.fraction.resize(after_, ' ');
      return aligned_right(with_sign(number.whole), before_) + "." + number.fraction;
    }
    Scientific number = shortest(kind_, x);
    if (number.fraction.size() != fraction_) number = with_digits(x, static_cast<int>(fraction_));
    std::string power = std::to_string(std::abs(number.exponent));
    power.insert(0, exponent_ - std::min(exponent_, power.size()), '0');
    return aligned_right(with_sign(number.whole), before_) + "." + number.fraction +
           (number.exponent < 0 ? "e-" : "e+") + power;
  }

 private:
  // Whether some number is so large, so small, or so far from another that a column of digits would
  // be mostly zeros. NumPy compares in the array's own type, so bounds are rounded to it.
  bool prefers_scientific(const std::vector<double>& values) const {
    double low = std::numeric_limits<double>::infinity();
    double high = 0;
    for (const double x : values) {
      if (!std::isfinite(x) || x == 0) continue;
      low = std::min(low, std::abs(x));
      high = std::max(high, std::abs(x));
    }
    if (high == 0) return false;
    const double large = std::pow(10.0, std::min(kind_.decimal_digits, 8));
    return high >= large || low < rounded_to(kind_, 1e-4) || rounded_to(kind_, high / low) > 1000;
  }

  std::string with_sign(const std::string& text) const {
    return plus_ == Plus::kShown && text[0] != '-' ? "+" + text : text;
  }

  const FloatKind& kind_;
  std::uint32_t precision_;
  Plus plus_;
  bool is_scientific_;
  std::size_t before_ = 0;    // width before the point
  std::size_t after_ = 0;     // and after it
  std::size_t fraction_ = 0;  // of scientific notation: digits after the point
  std::size_t exponent_ = 2;  // and of the power
};

Cells float_cells(const std::vector<double>& values, const FloatKind& kind,
                  std::uint32_t precision) {
  const FloatCells common(values, kind, precision, Plus::kHidden);
  Cells cells;
  for (const double x : values) cells.push_back(common.cell(x));
  return cells;
}

// Pairs of real and imaginary parts, which are aligned each for itself.
Cells complex_cells(const std::vector<double>& parts, const FloatKind& kind,
                    std::uint32_t precision) {
  std::vector<double> reals, imaginaries;
  for (std::size_t at = 0; at < parts.size(); at += 2) {
    reals.push_back(parts[at]);
    imaginaries.push_back(parts[at + 1]);
  }
  const FloatCells real(reals, kind, precision, Plus::kHidden);
  const FloatCells imaginary(imaginaries, kind, precision, Plus::kShown);
  Cells cells;
  for (std::size_t at = 0; at < reals.size(); ++at) {
    std::string second = imaginary.cell(imaginaries[at]);
    second.insert(second.find_last_not_of(' ') + 1, 1, 'j');
    cells.push_back(real.cell(reals[at]) + second);
  }
  return cells;
}

// ---- elements ----

// Which indices of an axis are shown: all, or those at its ends.
bool is_cut(std::int64_t extent, bool is_summarised) { return is_summarised && extent > 2 * kEdge; }

using Addresses = std::vector<const char*>;

// Lists the addresses of the elements that are shown, in row-major order.
void list_shown(const tnr_view& view, bool is_summarised, std::uint32_t axis, const char* at,
                Addresses& shown) {
  if (axis == view.rank) return shown.push_back(at);
  const std::int64_t extent = view.shape[axis];
  const auto step = static_cast<std::int64_t>(element_size(view.dtype));
  for (std::int64_t index = 0; index < extent; ++index) {
    if (is_cut(extent, is_summarised) && index == kEdge) index = extent - kEdge;
    const std::int64_t stride = extent > 1 ? view.strides[axis] : 0;
    list_shown(view, is_summarised, axis + 1, at + index * stride * step, shown);
  }
}

template <class T>
T number_at(const char* at) {
  T number;
  std::memcpy(&number, at, sizeof number);
  return number;
}

std::string text_of_integer(tnr_dtype dtype, const char* at) {
  switch (dtype) {
    case TNR_DTYPE_I8: return std::to_string(number_at<std::int8_t>(at));
    case TNR_DTYPE_I16: return std::to_string(number_at<std::int16_t>(at));
    case TNR_DTYPE_I32: return std::to_string(number_at<std::int32_t>(at));
    case TNR_DTYPE_I64: return std::to_string(number_at<std::int64_t>(at));
    case TNR_DTYPE_U8: return std::to_string(number_at<std::uint8_t>(at));
    case TNR_DTYPE_U16: return std::to_string(number_at<std::uint16_t>(at));
    case TNR_DTYPE_U32: return std::to_string(number_at<std::uint32_t>(at));
    default: return std::to_string(number_at<std::uint64_t>(at));
  }
}

Cells integer_cells(tnr_dtype dtype, const Addresses& shown) {
  Cells cells;
  std::size_t width = 0;
  for (const char* const at : shown) {
    cells.push_back(text_of_integer(dtype, at));
    width = std::max(width, cells.back().size());
  }
  for (std::string& cell : cells) cell = aligned_right(cell, width);
  return cells;
}

Cells truth_cells(const Addresses& shown) {
  Cells cells;
  for (const char* const at : shown) cells.emplace_back(*at != 0 ? " True" : "False");
  return cells;
}

double from_half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 0x1f;
  const double fraction = bits & 0x3ff;
  double magnitude;
  if (exponent == 0x1f) {
    magnitude = fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                              : std::numeric_limits<double>::infinity();
  } else {
    magnitude =
        exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25);
  }
  return std::copysign(magnitude, bits >> 15 ? -1.0 : 1.0);
}

// Reads a floating-point number, or a part of a complex one.
double real_at(tnr_dtype dtype, const char* at) {
  switch (dtype) {
    case TNR_DTYPE_F64:
    case TNR_DTYPE_C128: return number_at<double>(at);
    case TNR_DTYPE_F32:
    case TNR_DTYPE_C64: return static_cast<double>(number_at<float>(at));
    case TNR_DTYPE_F16: return from_half(number_at<std::uint16_t>(at));
    default:
      return static_cast<double>(
          std::bit_cast<float>(std::uint32_t{number_at<std::uint16_t>(at)} << 16));
  }
}

std::vector<double> reals_of(tnr_dtype dtype, const Addresses& shown) {
  std::vector<double> reals;
  for (const char* const at : shown) reals.push_back(real_at(dtype, at));
  return reals;
}

// Real and imaginary parts by turns.
std::vector<double> parts_of(tnr_dtype dtype, const Addresses& shown) {
  std::vector<double> parts;
  for (const char* const at : shown) {
    parts.push_back(real_at(dtype, at));
    parts.push_back(real_at(dtype, at + element_size(dtype) / 2));
  }
  return parts;
}

Cells cells_of(const tnr_view& view, bool is_summarised, std::uint32_t precision) {
  Addresses shown;
  list_shown(view, is_summarised, 0, static_cast<const char*>(view.data), shown);
  switch (view.dtype) {
    case TNR_DTYPE_F64: return float_cells(reals_of(view.dtype, shown), kF64, precision);
    case TNR_DTYPE_F32: return float_cells(reals_of(view.dtype, shown), kF32, precision);
    case TNR_DTYPE_F16: return float_cells(reals_of(view.dtype, shown), kF16, precision);
    case TNR_DTYPE_BF16: return float_cells(reals_of(view.dtype, shown), kBF16, precision);
    case TNR_DTYPE_C64: return complex_cells(parts_of(view.dtype, shown), kF32, precision);
    case TNR_DTYPE_C128: return complex_cells(parts_of(view.dtype, shown), kF64, precision);
    case TNR_DTYPE_BOOL8: return truth_cells(shown);
    case TNR_DTYPE_I8:
    case TNR_DTYPE_I16:
    case TNR_DTYPE_I32:
    case TNR_DTYPE_I64:
    case TNR_DTYPE_U8:
    case TNR_DTYPE_U16:
    case TNR_DTYPE_U32:
    case TNR_DTYPE_U64: return integer_cells(view.dtype, shown);
    default: fail(TNR_STATUS_UNSUPPORTED, "view.dtype is 0x%08x, which has no name", view.dtype);
  }
}

// ---- arrangement ----

// Cells in brackets: how they are nested, wrapped and cut short.
class Layout {
 public:
  Layout(const tnr_view& view, bool is_summarised, const Cells& cells)
      : view_(view), is_summarised_(is_summarised), next_(cells.begin()) {}

  std::string text() {
    write_axis(0);
    return std::move(text_);
  }

 private:
  void write_axis(std::uint32_t axis) {
    if (axis == view_.rank) {
      text_ += *next_++;
      return;
    }
    const bool cut = is_cut(view_.shape[axis], is_summarised_);
    const std::int64_t shown = cut ? 2 * kEdge : view_.shape[axis];
    const bool is_row = axis + 1 == view_.rank;
    column_ = axis + 1;
    text_ += '[';
    for (std::int64_t at = 0; at < shown; ++at) {
      if (is_row) {
        if (cut && at == kEdge) put("...", axis, " ");
        put(*next_++, axis, at + 1 < shown ? " " : "");
        continue;
      }
      if (at > 0) break_lines(axis);
      if (cut && at == kEdge) {
        text_ += "...";
        break_lines(axis);
      }
      write_axis(axis + 1);
    }
    text_ += ']';
  }

  // One line end, and an empty line for each axis further in.
  void break_lines(std::uint32_t axis) {
    text_.append(view_.rank - axis - 1, '\n');
    text_.append(axis + 1, ' ');
  }

  // A word of a row and what separates it from the next; one that is too long for any line stays
  // where it is.
  void put(const std::string& word, std::uint32_t axis, const char* separator) {
    const std::size_t indent = axis + 1;
    // Room for the brackets that may follow.
    if (column_ + word.size() > kLineWidth - indent && column_ > indent) {
      text_.erase(text_.find_last_not_of(' ') + 1);
      text_ += '\n';
      text_.append(indent, ' ');
      column_ = indent;
    }
    text_ += word;
    text_ += separator;
    column_ += word.size() + std::strlen(separator);
  }

  const tnr_view& view_;
  bool is_summarised_;
  Cells::const_iterator next_;
  std::string text_;
  std::size_t column_ = 0;
};

}  // namespace

std::string format(const tnr_view& view, std::uint32_t precision) {
  for (std::uint32_t axis = 0; axis < view.rank; ++axis) {
    // Beside the extent of 0 others may be too long to be walked.
    if (view.shape[axis] == 0) return "[]";
  }
  const bool is_summarised = element_count(view) > kThreshold;
  const Cells cells = cells_of(view, is_summarised, precision);
  return Layout(view, is_summarised, cells).text();
}

}  // namespace tenure
