#include "memory_model.hpp"

#include <algorithm>

namespace tenure::explore {

void Knowledge::add(const Knowledge& other) {
  for (unsigned i = 0; i < kMaxLocations; ++i) seen[i] = std::max(seen[i], other.seen[i]);
  for (unsigned i = 0; i < kMaxThreads; ++i) clock[i] = std::max(clock[i], other.clock[i]);
}

void Memory::reset() {
  for (unsigned i = 0; i < object_count_; ++i) {
    // Every bucket in the row of a search is that of some object.
    unsigned bucket = (reinterpret_cast<std::uintptr_t>(objects_[i].address) >> 2) % kBuckets;
    while (buckets_[bucket] != 0) {
      buckets_[bucket] = 0;
      bucket = (bucket + 1) % kBuckets;
    }
  }
  object_count_ = location_count_ = ordered_count_ = 0;
  is_consistent_ = true;
  known_[0] = {};
  last_location_.fill(kNone);
  last_object_.fill(nullptr);
}

void Memory::start_thread(unsigned thread, unsigned starter) {
  begin(starter);
  known_[thread] = known_[starter];
  end(starter, kNone, std::memory_order_relaxed, -1, -1);
}

void Memory::join_thread(unsigned thread, unsigned joined) {
  begin(joined);  // for its last uses of plain memory
  begin(thread);
  known_[thread].add(known_[joined]);
  end(thread, kNone, std::memory_order_relaxed, -1, -1);
}

// ---- objects ----

Memory::Object& Memory::object_at(const void* address) {
  unsigned bucket = (reinterpret_cast<std::uintptr_t>(address) >> 2) % kBuckets;
  for (; buckets_[bucket] != 0; bucket = (bucket + 1) % kBuckets) {
    Object& object = objects_[buckets_[bucket] - 1u];
    if (object.address == address) return object;
  }
  if (object_count_ == kMaxObjects) fail_execution("too many objects for the explorer");
  Object& object = objects_[object_count_++];
  buckets_[bucket] = static_cast<std::uint16_t>(object_count_);
  object.address = address;
  object.location = kNone;
  object.writer = 0;
  object.written = 0;
  object.read.fill(0);
  object.knowledge = {};
  return object;
}

// A use that is ordered neither before nor after the last write, or the construction, is a race.
void Memory::require_known(unsigned thread, const Object& object) const {
  if (object.writer != thread && known_[thread].clock[object.writer] < object.written) {
    fail_execution("race: the object is used without knowledge of the last write to it");
  }
}

void Memory::construct(unsigned thread, const void* address) {
  Object& object = object_at(address);
  object.location = kNone;
  object.read.fill(0);
  object.writer = thread;
  object.written = known_[thread].clock[thread] + 1;
}

void Memory::read_plain(unsigned thread, const void* address) {
  Object& object = object_at(address);
  require_known(thread, object);
  object.read[thread] = known_[thread].clock[thread] + 1;
}

void Memory::write_plain(unsigned thread, const void* address) {
  Object& object = object_at(address);
  require_known(thread, object);
  for (unsigned other = 0; other < kMaxThreads; ++other) {
    if (other != thread && known_[thread].clock[other] < object.read[other]) {
      fail_execution("race: the object is written without knowledge of a read of it");
    }
  }
  object.writer = thread;
  object.written = known_[thread].clock[thread] + 1;
  object.read.fill(0);
}

unsigned Memory::location_of(unsigned thread, const void* address, std::uint64_t initial) {
  Object& object = object_at(address);
  require_known(thread, object);
  if (object.location != kNone) return object.location;
  if (location_count_ == kMaxLocations) fail_execution("too many atomics for the explorer");
  object.location = location_count_++;
  Location& location = locations_[object.location];
  location.message_count = 1;
  location.by_time[0] = 0;
  Message& first = location.messages[0];
  first.time = 0;
  first.value = initial;
  first.is_updated = first.has_knowledge = false;
  return object.location;
}

// ---- steps of operations ----

// Operations of a thread count from 1, and its uses of plain memory count as its next operation:
// only a thread that knows of that operation knows of them.
void Memory::begin(unsigned thread) {
  if (++known_[thread].clock[thread] == kMaxEvents) fail_execution("a thread runs without end");
}

void Memory::end(unsigned thread, unsigned location, std::memory_order order, double read_time,
                 double write_time) {
  const std::uint32_t number = known_[thread].clock[thread];
  events_[thread][number] = {location, known_[thread].clock};
  if (order != std::memory_order_seq_cst) return;
  if (ordered_count_ == kMaxOrdered) fail_execution("too many sequentially consistent operations");
  ordered_[ordered_count_++] = {thread, number, location, read_time, write_time};
  is_consistent_ = can_be_ordered();
}

unsigned Memory::first_place(unsigned thread, unsigned location) {
  unsigned place = 0;
  while (message(location, place).time < known_[thread].seen[location]) ++place;
  return place;
}

void Memory::read(unsigned thread, unsigned location, const Message& message,
                  std::memory_order order) {
  Knowledge& known = known_[thread];
  known.seen[location] = std::max(known.seen[location], message.time);
  if (is_acquire(order) && message.has_knowledge) known.add(message.knowledge);
}

Memory::Message& Memory::insert(unsigned location_number, unsigned after_place) {
  Location& location = locations_[location_number];
  if (location.message_count == kMaxMessages) fail_execution("too many stores to one atomic");
  const double after = message(location_number, after_place).time;
  const unsigned place = after_place + 1;
  const bool is_last = place == location.message_count;
  const double time = is_last ? after + 1 : (after + message(location_number, place).time) / 2;
  for (unsigned i = location.message_count; i > place; --i) {
    location.by_time[i] = location.by_time[i - 1];
  }
  location.by_time[place] = static_cast<std::uint8_t>(location.message_count);
  Message& added = location.messages[location.message_count++];
  added.time = time;
  added.is_updated = false;
  return added;
}

double Memory::write(unsigned thread, unsigned location, unsigned after_place, std::uint64_t value,
                     std::memory_order order, const Message* updated) {
  Message& added = insert(location, after_place);
  added.value = value;
  Knowledge& known = known_[thread];
  known.seen[location] = std::max(known.seen[location], added.time);
  const bool passes_on = updated != nullptr && updated->has_knowledge;
  added.has_knowledge = is_release(order) || passes_on;
  if (is_release(order)) {
    added.knowledge = known;
    if (passes_on) added.knowledge.add(updated->knowledge);
  } else if (passes_on) {
    added.knowledge = updated->knowledge;
  }
  return added.time;
}

// ---- operations ----

std::uint64_t Memory::load(unsigned thread, const void* object, std::uint64_t initial,
                           std::memory_order order) {
  const unsigned location = location_of(thread, object, initial);
  begin(thread);
  const unsigned last = locations_[location].message_count - 1;
  const unsigned first = std::min(first_place(thread, location), last);
  const Message& found = message(location, last - choose(last - first + 1));
  read(thread, location, found, order);
  last_location_[thread] = location;
  last_time_[thread] = found.time;
  last_object_[thread] = object;
  end(thread, location, order, found.time, -1);
  return found.value;
}

void Memory::store(unsigned thread, const void* object, std::uint64_t initial, std::uint64_t value,
                   std::memory_order order) {
  const unsigned location = location_of(thread, object, initial);
  begin(thread);
  const unsigned count = locations_[location].message_count;
  std::array<unsigned, kMaxMessages> places;
  unsigned place_count = 0;
  for (unsigned place = count; place-- > 0;) {
    const bool is_behind =
        place + 1 == count || message(location, place + 1).time > known_[thread].seen[location];
    if (is_behind && !message(location, place).is_updated) places[place_count++] = place;
  }
  const double time = write(thread, location, places[choose(place_count)], value, order, nullptr);
  end(thread, location, order, -1, time);
}

std::uint64_t Memory::update(unsigned thread, const void* object, std::uint64_t initial,
                             Change change, std::uint64_t operand, std::memory_order order) {
  const unsigned location = location_of(thread, object, initial);
  begin(thread);
  std::array<unsigned, kMaxMessages> places;
  unsigned place_count = 0;
  const unsigned first = first_place(thread, location);
  for (unsigned place = locations_[location].message_count; place-- > first;) {
    if (!message(location, place).is_updated) places[place_count++] = place;
  }
  const unsigned place = places[choose(place_count)];
  Message& found = message(location, place);
  found.is_updated = true;
  read(thread, location, found, order);
  const double time = write(thread, location, place, change(found.value, operand), order, &found);
  last_location_[thread] = location;
  last_time_[thread] = time;
  last_object_[thread] = object;
  end(thread, location, order, found.time, time);
  return found.value;
}

bool Memory::compare_exchange(unsigned thread, const void* object, std::uint64_t initial,
                              std::uint64_t& expected, std::uint64_t desired,
                              std::memory_order success, std::memory_order failure,
                              unsigned& max_spurious) {
  const unsigned location = location_of(thread, object, initial);
  begin(thread);
  struct Way {
    unsigned place;
    bool exchanges;
  };
  std::array<Way, 2 * kMaxMessages> ways;
  unsigned way_count = 0;
  const unsigned first = first_place(thread, location);
  for (unsigned place = locations_[location].message_count; place-- > first;) {
    const Message& candidate = message(location, place);
    const bool is_expected = candidate.value == expected;
    if (is_expected && !candidate.is_updated) ways[way_count++] = {place, true};
    if (!is_expected || max_spurious != 0) ways[way_count++] = {place, false};
  }
  // Without a spurious failure nothing may be left to find: the thread would try for ever.
  if (way_count == 0) fail_execution("an exchange can neither succeed nor fail");
  const Way way = ways[choose(way_count)];
  Message& found = message(location, way.place);
  const std::uint64_t value = found.value;
  double write_time = -1;
  const std::memory_order order = way.exchanges ? success : failure;
  read(thread, location, found, order);
  if (way.exchanges) {
    found.is_updated = true;
    write_time = write(thread, location, way.place, desired, order, &found);
  } else if (value == expected) {
    --max_spurious;
  }
  last_location_[thread] = location;
  last_time_[thread] = way.exchanges ? write_time : found.time;
  last_object_[thread] = object;
  end(thread, location, order, found.time, write_time);
  expected = value;
  return way.exchanges;
}

void Memory::lock(unsigned thread, const void* mutex) {
  begin(thread);
  known_[thread].add(object_at(mutex).knowledge);
  end(thread, kNone, std::memory_order_relaxed, -1, -1);
}

void Memory::unlock(unsigned thread, const void* mutex) {
  begin(thread);
  object_at(mutex).knowledge = known_[thread];
  end(thread, kNone, std::memory_order_relaxed, -1, -1);
}

// ---- waiting ----

const void* Memory::last_read(unsigned thread) const { return last_object_[thread]; }

bool Memory::has_newer(unsigned thread) const {
  const unsigned location_number = last_location_[thread];
  if (location_number == kNone) return true;
  const Location& location = locations_[location_number];
  const unsigned last = location.by_time[location.message_count - 1];
  return location.messages[last].time > last_time_[thread];
}

void Memory::pass_last_read(unsigned thread) {
  const unsigned location = last_location_[thread];
  if (location == kNone) return;
  unsigned place = 0;
  while (message(location, place).time <= last_time_[thread]) ++place;
  double& seen = known_[thread].seen[location];
  seen = std::max(seen, message(location, place).time);
}

// ---- the total order ----

// Whether a must come before b: scb of RC11.
bool Memory::precedes(const Ordered& a, const Ordered& b) const {
  if (a.thread == b.thread) return a.number < b.number;
  const bool is_same = a.location == b.location;
  if (is_same && a.write_time >= 0 && b.write_time >= 0 && a.write_time < b.write_time) return true;
  if (is_same && a.read_time >= 0 && b.write_time >= 0 && a.read_time < b.write_time) return true;
  const std::uint32_t known = events_[b.thread][b.number].clock[a.thread];
  if (is_same && known >= a.number) return true;
  // By something behind a, and something before b that knows of it, both elsewhere.
  std::uint32_t behind = a.number + 1;
  while (behind <= known && events_[a.thread][behind].location == a.location) ++behind;
  std::uint32_t before = b.number - 1;
  while (before > 0 && events_[b.thread][before].location == b.location) --before;
  return before > 0 && events_[b.thread][before].clock[a.thread] >= behind;
}

bool Memory::can_be_ordered() const {
  std::array<bool, kMaxOrdered> is_placed = {};
  for (unsigned round = 0; round < ordered_count_; ++round) {
    const auto has_no_other_before = [&](unsigned i) {
      for (unsigned other = 0; other < ordered_count_; ++other) {
        if (other != i && !is_placed[other] && precedes(ordered_[other], ordered_[i])) return false;
      }
      return true;
    };
    unsigned next = 0;
    while (next < ordered_count_ && (is_placed[next] || !has_no_other_before(next))) ++next;
    if (next == ordered_count_) return false;
    is_placed[next] = true;
  }
  return true;
}

}  // namespace tenure::explore
