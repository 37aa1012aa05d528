// Keys of elements, elements of keys, and binary searches by them.
#include "cpu/kernels/ordering/keys.hpp"

#include "cpu/kernels/ordering/records.hpp"
#include "cpu/kernels/vectors.hpp"
#include "cpu/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// Strided elements that are copied to adjacent memory at a time, so that one loop serves all steps.
constexpr int64_t kPiece = 256;

// A place in a loop that waits for memory or moves a few bytes at a time: compilers would vectorise
// it, to ten times the code.
[[gnu::always_inline]] inline int64_t alone(int64_t i) {
  __asm__("" : "+r"(i));
  return i;
}

// Facts in the width of the elements, or of a register of them.
template <class U>
struct Facts {
  U key_or = {};
  U key_and;
  U zero_or = {};
  U zero_and;
  U nan_or = {};
  U nan_and;

  void add_to(KeyFacts& facts) const {
    facts.key_or |= key_or;
    facts.key_and &= key_and;
    facts.zero_or |= zero_or;
    facts.zero_and &= zero_and;
    facts.nan_or |= nan_or;
    facts.nan_and &= nan_and;
  }
};

// Bits that some lane has.
template <class U>
U any_bits(Vector<U> v) {
  typedef uint64_t Pair __attribute__((vector_size(16)));
  Pair pairs[kVectorBytes / 16];
  __builtin_memcpy(pairs, &v, sizeof v);
  Pair both = pairs[0];
  for (int64_t i = 1; i < kVectorBytes / 16; ++i) both |= pairs[i];
  uint64_t bits = both[0] | both[1];
  for (unsigned width = 32; width >= 8 * sizeof(U); width /= 2) bits |= bits >> width;
  return static_cast<U>(bits);
}
// Bits that all lanes have.
template <class U>
U common_bits(Vector<U> v) {
  return static_cast<U>(~any_bits<U>(~v));
}

// Writes the keys of whole registers of floats; returns the number of elements. Compilers make
// branches of the loop below, and zeros and NaN mispredict one of them.
template <class U>
int64_t load_float_vectors(const NarrowRule<U>& rule, const Byte* from, int64_t count, Byte* keys,
                           Facts<U>& all) {
  using V = Vector<U>;
  using Signed = Vector<SignedOf<U>>;
  Facts<V> facts = {.key_and = ~V{}, .zero_and = ~V{}, .nan_and = ~V{}};
  const V sign = broadcast(rule.sign);
  const V flip = broadcast(rule.flip);
  const auto infinity = reinterpret_cast<Signed>(broadcast(rule.infinity));
  int64_t i = 0;
  for (; i + kPerVector<U> <= count; i += kPerVector<U>) {
    const V bits = load<V>(from + i * static_cast<int64_t>(sizeof(U)));
    const V magnitude = bits & ~sign;
    const V zero = reinterpret_cast<V>(magnitude == V{});
    const V nan = reinterpret_cast<V>(reinterpret_cast<Signed>(magnitude) > infinity);
    const V negative = reinterpret_cast<V>(reinterpret_cast<Signed>(bits) < Signed{});
    const V number = ((bits ^ (negative | sign)) & ~zero) | (sign & zero);
    const V key = (number ^ flip) | nan;
    facts.key_or |= key;
    facts.key_and &= key;
    facts.zero_or |= bits & zero;
    facts.zero_and &= bits | ~zero;
    facts.nan_or |= bits & nan;
    facts.nan_and &= bits | ~nan;
    store(keys + i * static_cast<int64_t>(sizeof(U)), key);
  }
  all = {.key_or = static_cast<U>(all.key_or | any_bits<U>(facts.key_or)),
         .key_and = static_cast<U>(all.key_and & common_bits<U>(facts.key_and)),
         .zero_or = static_cast<U>(all.zero_or | any_bits<U>(facts.zero_or)),
         .zero_and = static_cast<U>(all.zero_and & common_bits<U>(facts.zero_and)),
         .nan_or = static_cast<U>(all.nan_or | any_bits<U>(facts.nan_or)),
         .nan_and = static_cast<U>(all.nan_and & common_bits<U>(facts.nan_and))};
  return i;
}

template <class U, KeyKind kKind>
void load_adjacent(const NarrowRule<U>& rule, const Byte* from, int64_t count, Byte* keys,
                   KeyFacts& all) {
  Facts<U> facts = {.key_and = kAllOnes<U>, .zero_and = kAllOnes<U>, .nan_and = kAllOnes<U>};
  int64_t i = 0;
  if constexpr (kKind == KeyKind::kFloat) {
    i = load_float_vectors<U>(rule, from, count, keys, facts);
  }
  for (; i < count; ++i) {
    const U bits = load<U>(from + i * static_cast<int64_t>(sizeof(U)));
    const U key = rule.template key<kKind>(bits);
    facts.key_or = static_cast<U>(facts.key_or | key);
    facts.key_and = static_cast<U>(facts.key_and & key);
    if constexpr (kKind == KeyKind::kFloat) {
      const U zero = rule.is_zero(bits) ? kAllOnes<U> : U{0};
      const U nan = rule.is_nan(bits) ? kAllOnes<U> : U{0};
      facts.zero_or = static_cast<U>(facts.zero_or | (bits & zero));
      facts.zero_and = static_cast<U>(facts.zero_and & (bits | static_cast<U>(~zero)));
      facts.nan_or = static_cast<U>(facts.nan_or | (bits & nan));
      facts.nan_and = static_cast<U>(facts.nan_and & (bits | static_cast<U>(~nan)));
    }
    store(keys + i * static_cast<int64_t>(sizeof(U)), key);
  }
  facts.add_to(all);
}

template <class U>
[[gnu::noinline]] void load_keys(const KeyRule& rule, const Byte* from, int64_t count, Byte* keys,
                                 KeyFacts& facts) {
  const NarrowRule<U> narrow(rule);
  switch (kind_of(rule)) {
    case KeyKind::kFloat:
      if constexpr (sizeof(U) > 1)
        return load_adjacent<U, KeyKind::kFloat>(narrow, from, count, keys, facts);
      break;
    case KeyKind::kTruth:
      if constexpr (sizeof(U) == 1)
        return load_adjacent<U, KeyKind::kTruth>(narrow, from, count, keys, facts);
      break;
    default: load_adjacent<U, KeyKind::kInteger>(narrow, from, count, keys, facts);
  }
}

template <class U, Carry kCarry>
void load_records(const KeyRule& rule, const KeyLoad& given, KeyFacts& facts) {
  using R = Record<U, kCarry>;
  constexpr int64_t kWidth = sizeof(U);
  const bool is_adjacent = given.step == kWidth;
  if (is_adjacent && kCarry == Carry::kNothing) {
    return load_keys<U>(rule, given.data, given.count, given.records, facts);
  }
  Byte piece[kPiece * kWidth];
  for (int64_t done = 0; done < given.count; done += kPiece) {
    const int64_t left = given.count - done;
    const int64_t count = left < kPiece ? left : kPiece;
    const Byte* from = given.data + done * given.step;
    if (!is_adjacent) {
      for (int64_t i = 0; i < count; ++i) {
        store(piece + i * kWidth, load<U>(from + alone(i) * given.step));
      }
      from = piece;
    }
    Byte* const to = given.records + done * static_cast<int64_t>(sizeof(R));
    if constexpr (kCarry == Carry::kNothing) {
      load_keys<U>(rule, from, count, to, facts);
    } else {
      load_keys<U>(rule, from, count, piece, facts);
      const auto first = static_cast<uint64_t>(given.first_index + done);
      for (int64_t i = 0; i < count; ++i) {
        const U key = load<U>(piece + alone(i) * kWidth);
        store(to + i * static_cast<int64_t>(sizeof(R)),
              make_record<U, kCarry>(key, first + static_cast<uint64_t>(i)));
      }
    }
  }
}

template <class U, KeyKind kKind>
void store_adjacent(const NarrowRule<U>& rule, const Byte* keys, int64_t count, U zero, U nan,
                    Byte* out) {
  for (int64_t i = 0; i < count; ++i) {
    const U key = load<U>(keys + i * static_cast<int64_t>(sizeof(U)));
    store(out + i * static_cast<int64_t>(sizeof(U)), rule.template element<kKind>(key, zero, nan));
  }
}

template <class U>
[[gnu::noinline]] void store_elements(const KeyRule& rule, const Byte* keys, int64_t count,
                                      const KeyStore& given, Byte* out) {
  const NarrowRule<U> narrow(rule);
  const auto zero = static_cast<U>(given.zero);
  const auto nan = static_cast<U>(given.nan);
  switch (kind_of(rule)) {
    case KeyKind::kFloat:
      if constexpr (sizeof(U) > 1)
        return store_adjacent<U, KeyKind::kFloat>(narrow, keys, count, zero, nan, out);
      break;
    case KeyKind::kTruth:
      if constexpr (sizeof(U) == 1)
        return store_adjacent<U, KeyKind::kTruth>(narrow, keys, count, zero, nan, out);
      break;
    default: store_adjacent<U, KeyKind::kInteger>(narrow, keys, count, zero, nan, out);
  }
}

template <class U, Carry kCarry>
void store_keys(const KeyRule& rule, const KeyStore& given) {
  using R = Record<U, kCarry>;
  constexpr int64_t kWidth = sizeof(U);
  const bool is_adjacent = given.step == kWidth;
  if (is_adjacent && kCarry == Carry::kNothing) {
    return store_elements<U>(rule, given.records, given.count, given, given.out);
  }
  Byte piece[kPiece * kWidth];
  for (int64_t done = 0; done < given.count; done += kPiece) {
    const int64_t left = given.count - done;
    const int64_t count = left < kPiece ? left : kPiece;
    const Byte* keys = given.records + done * static_cast<int64_t>(sizeof(R));
    if constexpr (kCarry != Carry::kNothing) {
      for (int64_t i = 0; i < count; ++i) {
        const R record = load<R>(keys + alone(i) * static_cast<int64_t>(sizeof(R)));
        store(piece + i * kWidth, key_in<U, kCarry>(record));
      }
      keys = piece;
    }
    Byte* const out = given.out + done * given.step;
    store_elements<U>(rule, keys, count, given, is_adjacent ? out : piece);
    if (is_adjacent) continue;
    for (int64_t i = 0; i < count; ++i) {
      store(out + alone(i) * given.step, load<U>(piece + i * kWidth));
    }
  }
}

void store_indices_32(const Byte* records, int64_t count, Byte* out, int64_t step) {
  for (int64_t i = 0; i < count; ++i) {
    store(out + alone(i) * step,
          static_cast<int64_t>(load<uint64_t>(records + 8 * i) & 0xffffffffu));
  }
}
void store_indices_64(const Byte* records, int64_t count, Byte* out, int64_t step) {
  for (int64_t i = 0; i < count; ++i) {
    store(out + alone(i) * step, static_cast<int64_t>(load<WideRecord>(records + 16 * i).index));
  }
}

// Searches that run together: a single one waits for memory at each step.
constexpr int64_t kTogether = 8;

template <class U, KeyKind kKind>
void search_kind(const KeyRule& rule, const KeySearch& given) {
  const NarrowRule<U> narrow(rule);
  for (int64_t done = 0; done < given.count; done += kTogether) {
    const int64_t left = given.count - done;
    const int64_t count = left < kTogether ? left : kTogether;
    U keys[kTogether] = {};
    int64_t places[kTogether] = {};
    for (int64_t i = 0; i < count; ++i) {
      keys[i] = load<U>(given.keys + (done + i) * static_cast<int64_t>(sizeof(U)));
    }
    for (int64_t length = given.sorted_count; length > 0;) {
      const int64_t half = length - length / 2;
      for (int64_t i = 0; i < kTogether; ++i) {
        const Byte* const at = given.sorted + alone(places[i] + half - 1) * given.step;
        const U key = narrow.template key<kKind>(load<U>(at));
        const bool is_before = given.behind_equal ? key <= keys[i] : key < keys[i];
        places[i] += is_before ? half : 0;
      }
      length /= 2;
    }
    for (int64_t i = 0; i < count; ++i) given.places[done + i] = places[i];
  }
}

template <class U>
void search_keys(const KeyRule& rule, const KeySearch& given) {
  switch (kind_of(rule)) {
    case KeyKind::kFloat:
      if constexpr (sizeof(U) > 1) return search_kind<U, KeyKind::kFloat>(rule, given);
      break;
    case KeyKind::kTruth:
      if constexpr (sizeof(U) == 1) return search_kind<U, KeyKind::kTruth>(rule, given);
      break;
    default: search_kind<U, KeyKind::kInteger>(rule, given);
  }
}

}  // namespace

extern const Ordering kOrdering = {
    .load = {{load_records<uint8_t, Carry::kNothing>, load_records<uint8_t, Carry::kIndex32>,
              load_records<uint8_t, Carry::kIndex64>},
             {load_records<uint16_t, Carry::kNothing>, load_records<uint16_t, Carry::kIndex32>,
              load_records<uint16_t, Carry::kIndex64>},
             {load_records<uint32_t, Carry::kNothing>, load_records<uint32_t, Carry::kIndex32>,
              load_records<uint32_t, Carry::kIndex64>},
             {load_records<uint64_t, Carry::kNothing>, nullptr,
              load_records<uint64_t, Carry::kIndex64>}},
    .store = {{store_keys<uint8_t, Carry::kNothing>, store_keys<uint8_t, Carry::kIndex32>,
               store_keys<uint8_t, Carry::kIndex64>},
              {store_keys<uint16_t, Carry::kNothing>, store_keys<uint16_t, Carry::kIndex32>,
               store_keys<uint16_t, Carry::kIndex64>},
              {store_keys<uint32_t, Carry::kNothing>, store_keys<uint32_t, Carry::kIndex32>,
               store_keys<uint32_t, Carry::kIndex64>},
              {store_keys<uint64_t, Carry::kNothing>, nullptr,
               store_keys<uint64_t, Carry::kIndex64>}},
    .store_indices = {nullptr, store_indices_32, store_indices_64},
    .records = {TENURE_RECORD_KERNELS(uint8_t), TENURE_RECORD_KERNELS(uint16_t),
                TENURE_RECORD_KERNELS(uint32_t), TENURE_RECORD_KERNELS(uint64_t),
                TENURE_RECORD_KERNELS(WideRecord)},
    .search = {search_keys<uint8_t>, search_keys<uint16_t>, search_keys<uint32_t>,
               search_keys<uint64_t>},
};

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
