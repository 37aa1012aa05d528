// Gradients of maxima and of means, added to elements of their windows, and of filters of channels
// by themselves.
#pragma once

#include "cpu/kernels/lanes.hpp"
#include "cpu/kernels/matmul/multiply_add.hpp"
#include "cpu/kernels/partial_vectors.hpp"
#include "cpu/kernels/vectors.hpp"
#include "cpu/window.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// Lanes whose greatest elements, or gradients, are kept at a time.
constexpr int64_t kGradientLanes = 64;

// The places of greatest elements are numbers of the same width, unless a window has more of them.
template <class T, class Place>
inline void find_greatest(const WindowGradients& w, int64_t lane, int64_t count, Place* places) {
  for (int64_t i = 0; i < count; ++i) {
    const Byte* const a = w.a + (lane + i) * w.a_lane_step;
    T greatest = load<T>(a);
    Place place = 0;
    Place next = 0;
    for (int64_t row = 0; row < w.rows; ++row) {
      const Byte* from = a + row * w.a_steps[0];
      for (int64_t column = 0; column < w.columns; ++column, from += w.a_steps[1], ++next) {
        const T element = load<T>(from);
        const bool is_greater = element > greatest || (element != element && greatest == greatest);
        greatest = is_greater ? element : greatest;
        place = is_greater ? next : place;
      }
    }
    places[i] = place;
  }
}

// The same for adjacent lanes, a vector of them at a time.
template <class T, class Place>
inline void find_greatest_of_vectors(const WindowGradients& w, int64_t lane, int64_t count,
                                     Place* places) {
  static_assert(sizeof(Place) == sizeof(T));
  for (int64_t i = 0; i < count; i += kPerVector<T>) {
    const FirstLanes<T> part(smaller(count - i, kPerVector<T>));
    const Byte* const a = w.a + (lane + i) * w.a_lane_step;
    Vector<T> greatest = part.load(a);
    Vector<Place> place = {};
    Place next = 0;
    for (int64_t row = 0; row < w.rows; ++row) {
      const Byte* from = a + row * w.a_steps[0];
      for (int64_t column = 0; column < w.columns; ++column, from += w.a_steps[1], ++next) {
        const Vector<T> element = part.load(from);
        const auto is_greater =
            (element > greatest) | ((element != element) & (greatest == greatest));
        greatest = is_greater ? element : greatest;
        place = is_greater ? broadcast<Place>(next) : place;
      }
    }
    __builtin_memcpy(places + i, &place, kVectorBytes);
  }
}

template <class T, class Place>
void add_to_greatest_by(const WindowGradients& w) {
  for (int64_t lane = 0; lane < w.lanes; lane += kGradientLanes) {
    const int64_t count = smaller(w.lanes - lane, kGradientLanes);
    alignas(64) Place places[kGradientLanes];
    if constexpr (sizeof(Place) == sizeof(T)) {
      if (w.a_lane_step == static_cast<int64_t>(sizeof(T)) && count > 1) {
        find_greatest_of_vectors<T>(w, lane, count, places);
      } else {
        find_greatest<T>(w, lane, count, places);
      }
    } else {
      find_greatest<T>(w, lane, count, places);
    }
    const auto columns = static_cast<Place>(w.columns);
    for (int64_t i = 0; i < count; ++i) {
      Byte* const to = w.out + (lane + i) * w.out_lane_step +
                       static_cast<int64_t>(places[i] / columns) * w.out_steps[0] +
                       static_cast<int64_t>(places[i] % columns) * w.out_steps[1];
      store<T>(to, load<T>(to) + load<T>(w.g + (lane + i) * w.g_lane_step));
    }
  }
}

template <class T>
void add_to_greatest(const WindowGradients& w) {
  using Place = typename IntegersOf<sizeof(T)>::Unsigned;
  int64_t places = 0;
  const bool overflows = __builtin_mul_overflow(w.rows, w.columns, &places);
  if (sizeof(T) == 4 && (overflows || places > int64_t{0xffffffff})) {
    return add_to_greatest_by<T, uint64_t>(w);
  }
  add_to_greatest_by<T, Place>(w);
}

// The last column of the windows comes first: where lanes are adjacent windows, an element then
// takes their gradients in the order of the windows.
template <class T>
void spread(const WindowGradients& w) {
  constexpr int64_t kBytes = sizeof(T);
  const auto divisor = static_cast<T>(w.divisor);
  for (int64_t lane = 0; lane < w.lanes; lane += kGradientLanes) {
    const int64_t count = smaller(w.lanes - lane, kGradientLanes);
    alignas(64) T shares[kGradientLanes];
    for (int64_t i = 0; i < count; ++i) {
      shares[i] = load<T>(w.g + (lane + i) * w.g_lane_step) / divisor;
    }
    const Byte* const from = reinterpret_cast<const Byte*>(shares);
    for (int64_t column = w.columns; column-- > 0;) {
      Byte* to = w.out + lane * w.out_lane_step + column * w.out_steps[1];
      for (int64_t row = 0; row < w.rows; ++row, to += w.out_steps[0]) {
        if (w.out_lane_step == kBytes && count >= kPerVector<T>) {
          for (int64_t i = 0; i < count; i += kPerVector<T>) {
            const FirstLanes<T> part(smaller(count - i, kPerVector<T>));
            part.store(to + i * kBytes, part.load(to + i * kBytes) + part.load(from + i * kBytes));
          }
        } else {
          for (int64_t i = 0; i < count; ++i) {
            Byte* const element = to + i * w.out_lane_step;
            store<T>(element, load<T>(element) + shares[i]);
          }
        }
      }
    }
  }
}

// Vectors of sums that stay in registers: the latency of one's addition is the others' time.
constexpr int kProductVectors = 4;

template <class T, int kVectors, class Load, class Store>
inline void add_products_of(const PixelProducts& p, int64_t offset, Load&& load, Store&& store) {
  Vector<T> sums[kVectors];
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) sums[v] = load(p.sums + offset + v * kVectorBytes);
  const Byte* a = p.a + offset;
  const Byte* g = p.g + offset;
  for (int64_t i = 0; i < p.pixels; ++i, a += p.a_step, g += p.g_step) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      sums[v] = Fused<T>::add(load(a + v * kVectorBytes), load(g + v * kVectorBytes), sums[v]);
    }
  }
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) store(p.sums + offset + v * kVectorBytes, sums[v]);
}

template <class T>
void add_products(const PixelProducts& p) {
  const auto load_whole = [](const Byte* from) { return load<Vector<T>>(from); };
  const auto store_whole = [](Byte* to, const Vector<T>& sums) { store(to, sums); };
  int64_t lane = 0;
  for (; lane + kProductVectors * kPerVector<T> <= p.lanes;
       lane += kProductVectors * kPerVector<T>) {
    add_products_of<T, kProductVectors>(p, lane * int64_t{sizeof(T)}, load_whole, store_whole);
  }
  for (; lane + kPerVector<T> <= p.lanes; lane += kPerVector<T>) {
    add_products_of<T, 1>(p, lane * int64_t{sizeof(T)}, load_whole, store_whole);
  }
  if (lane == p.lanes) return;
  const FirstLanes<T> part(p.lanes - lane);
  add_products_of<T, 1>(
      p, lane * int64_t{sizeof(T)}, [&](const Byte* from) { return part.load(from); },
      [&](Byte* to, const Vector<T>& sums) { part.store(to, sums); });
}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
