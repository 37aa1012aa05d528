// Runs of bytes that begin and end within lines, and the lines that two of them share.
#pragma once

#include "cpu/kernels/lanes.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// One piece at the start and one at the end, which overlap, so that a length needs no loop.
template <class T>
inline void copy_ends(Byte* out, const Byte* in, int64_t bytes) {
  T first;
  T last;
  const int64_t rest = bytes - static_cast<int64_t>(sizeof(T));
  __builtin_memcpy(&first, in, sizeof(T));
  __builtin_memcpy(&last, in + rest, sizeof(T));
  __builtin_memcpy(out, &first, sizeof(T));
  __builtin_memcpy(out + rest, &last, sizeof(T));
}

// A call of memcpy costs more than most runs that are moved here.
inline void copy_bytes(Byte* out, const Byte* in, int64_t bytes) {
  if (bytes >= kLaneBytes * Widest::kLanes) {
    constexpr int64_t size = kLaneBytes * Widest::kLanes;
    for (int64_t i = 0; i < bytes - size; i += size) Widest::store(out + i, Widest::load(in + i));
    Widest::store(out + bytes - size, Widest::load(in + bytes - size));
  } else if (bytes >= kLaneBytes) {
    for (int64_t i = 0; i < bytes - kLaneBytes; i += kLaneBytes) {
      OneLane::store(out + i, OneLane::load(in + i));
    }
    OneLane::store(out + bytes - kLaneBytes, OneLane::load(in + bytes - kLaneBytes));
  } else if (bytes >= 8) {
    copy_ends<uint64_t>(out, in, bytes);
  } else if (bytes >= 4) {
    copy_ends<uint32_t>(out, in, bytes);
  } else if (bytes >= 2) {
    copy_ends<uint16_t>(out, in, bytes);
  } else if (bytes == 1) {
    *out = *in;
  }
}

inline void copy_line(Byte* out, const Byte* in) {
  for (int64_t part = 0; part < kLineBytes; part += kLaneBytes * Widest::kLanes) {
    Widest::store(out + part, Widest::load(in + part));
  }
}

// The set that an output line belongs to. Lines are visited in arithmetic progressions of any step,
// so their numbers are mixed twice, by odd multipliers (D. E. Knuth, "The Art of Computer
// Programming", volume 3, section 6.4).
inline EdgeSet& set_of(const Edges& edges, const Byte* line) {
  uint64_t hash = reinterpret_cast<uintptr_t>(line) / kLineBytes * 0x9E3779B97F4A7C15u;
  hash = (hash ^ hash >> 32) * 0xD6E8FEB86659FD93u;
  return edges.sets[hash >> edges.shift];
}

// Bytes set, then as many that are not: from kRamp + 64 - n on, a line whose first n are.
#define TENURE_8(byte) byte, byte, byte, byte, byte, byte, byte, byte
#define TENURE_64(byte)                                                                           \
  TENURE_8(byte), TENURE_8(byte), TENURE_8(byte), TENURE_8(byte), TENURE_8(byte), TENURE_8(byte), \
      TENURE_8(byte), TENURE_8(byte)
alignas(64) inline constexpr Byte kRamp[2 * kLineBytes] = {TENURE_64(0xff), TENURE_64(0)};
#undef TENURE_64
#undef TENURE_8

// Writes a line past the caches: the first `count` bytes of `low`, and the other bytes of `high`.
// Not through memory, where a load of two stores would wait until both have left for the cache.
inline void stream_joined(Byte* line, const Byte* low, const Byte* high, int64_t count) {
  for (int64_t part = 0; part < kLineBytes; part += kLaneBytes * Widest::kLanes) {
    const auto mask = Widest::load(kRamp + kLineBytes - count + part);
    Widest::stream(line + part,
                   (Widest::load(low + part) & mask) | (Widest::load(high + part) & ~mask));
  }
}

// Writes bytes [first, last) of a line, which `from` has at the same offsets: as a whole line past
// the caches, if the rest of it is waiting; otherwise they wait. An entry that they evict is
// written through the caches, which costs as much as several lines.
__attribute__((noinline)) inline void put_edge(const Edges& edges, Byte* line, int64_t first,
                                               int64_t last, const Byte* from) {
  if (edges.sets == nullptr) return copy_bytes(line + first, from + first, last - first);
  EdgeSet& set = set_of(edges, line);
  unsigned place = kEdgeWays;
  for (unsigned way = 0; way < kEdgeWays; ++way) {
    if (set.last[way] == 0) {
      place = way;
    } else if (set.lines[way] != line) {
      continue;
    } else if (first == 0 && set.first[way] == last && set.last[way] == kLineBytes) {
      set.last[way] = 0;
      return stream_joined(line, from, set.from[way], last);
    } else if (last == kLineBytes && set.first[way] == 0 && set.last[way] == first) {
      set.last[way] = 0;
      return stream_joined(line, set.from[way], from, first);
    }
  }
  if (place == kEdgeWays) {
    place = set.next++ % kEdgeWays;
    const int64_t begin = set.first[place];
    copy_bytes(set.lines[place] + begin, set.from[place] + begin, set.last[place] - begin);
  }
  set.lines[place] = line;
  set.first[place] = static_cast<uint8_t>(first);
  set.last[place] = static_cast<uint8_t>(last);
  copy_line(set.from[place], from);
}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
