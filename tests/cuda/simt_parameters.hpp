// Kernels of several parameters, as users write them, registered for simt.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <utility>

#include "simt.hpp"

namespace simt {

template <class Function>
struct Parameters;

template <class... Types>
struct Parameters<void (*)(Types...)> {
  static constexpr std::array<Parameter, sizeof...(Types)> places() {
    std::array<Parameter, sizeof...(Types)> result = {};
    std::size_t end = 0;
    std::size_t i = 0;
    [[maybe_unused]] const auto add = [&](std::size_t bytes, std::size_t alignment) {
      end = (end + alignment - 1) / alignment * alignment;
      result[i++] = {end, bytes};
      end += bytes;
    };
    (add(sizeof(Types), alignof(Types)), ...);
    return result;
  }
  static constexpr std::array<Parameter, sizeof...(Types)> kPlaces = places();

  template <class Type>
  static Type read(const void* argument, std::size_t offset) {
    Type value;
    std::memcpy(&value, static_cast<const char*>(argument) + offset, sizeof value);
    return value;
  }
  template <void (*kFunction)(Types...)>
  static void run(const void* argument) {
    [argument]<std::size_t... kAt>(std::index_sequence<kAt...>) {
      kFunction(read<Types>(argument, kPlaces[kAt].offset)...);
    }(std::index_sequence_for<Types...>());
  }
};

// A kernel by the name that its users have for it.
#define TENURE_SIMT_KERNEL(identifier, name, ...)                     \
  static const simt::Registration identifier##_registration(          \
      name, simt::Parameters<decltype(&__VA_ARGS__)>::kPlaces.data(), \
      simt::Parameters<decltype(&__VA_ARGS__)>::kPlaces.size(),       \
      &simt::Parameters<decltype(&__VA_ARGS__)>::run<&__VA_ARGS__>);

}  // namespace simt
