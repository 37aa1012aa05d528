# Pairs of steps whose order a protocol rests on, exchanged: each must make a scenario fail.
# swap_steps.cmake says how to read them.

# ---- the table of slots ------------------------------------------------------------------------

swap(slot_table.cpp "the word is opened before the content is stored"
[==[  slot->release = content.release;]==]
[==[  if (swapped) {
        slot->word.store(SlotWord{generation} << kGenerationShift | kOneRef,
                         std::memory_order_release);
      }
      @]==]
[==[  slot->word.store(SlotWord{generation} << kGenerationShift | kOneRef, std::memory_order_release);]==]
[==[  if (!swapped) @]==])

swap(slot_table.cpp "a slot is put back before its generation ends"
[==[  if (token_generation(token) == kLastGeneration) return;]==]
[==[  @ if (swapped) put_back(token_index(token), slot);]==]
[==[  put_back(token_index(token), slot);
}]==]
[==[  if (swapped) return; @]==])

swap(slot_table.cpp "a slot is the first free one before it has a next one"
[==[    last.next_free.store(first_of(head), std::memory_order_relaxed);]==]
[==[    if (!swapped) @]==]
[==[  } while (!free_.compare_exchange_weak(head, wanted, std::memory_order_release,
                                        std::memory_order_relaxed));]==]
[==[  @ if (swapped) last.next_free.store(first_of(head), std::memory_order_relaxed);]==])

swap(slot_table.cpp "the slots of a chunk are free before its address is stored"
[==[  chunks_[chunk_count_].store(chunk, std::memory_order_release);]==]
[==[  if (swapped) put_back(first_index, chunk[slot_count - 1]); @]==]
[==[  put_back(first_index, chunk[slot_count - 1]);
}]==]
[==[  if (swapped) return; @]==])

# ---- the word of a slot ------------------------------------------------------------------------

swap(blob.cpp "a slot is retired before its memory ends"
[==[  switch (slot.tenure.load(std::memory_order_relaxed)) {]==]
[==[  if (swapped) slot_table.retire_or_reuse(token, slot); @]==]
[==[    default: break;  // borrowed: the memory is the caller's
  }]==]
[==[@ if (swapped) return;]==])

swap(blob.cpp "end_borrow looks for holders and users before it closes"
[==[  const SlotWord word = change(slot, [&slot, token](SlotWord old) {]==]
[==[  const SlotWord before = swapped ? slot.word.load(std::memory_order_acquire) : 0;
      const SlotWord after = change(slot, [&slot, token](SlotWord old) {]==]
[==[    return old | kClosed;
  });]==]
[==[@ const SlotWord word = swapped ? before : after;]==])

swap(blob.cpp "describe looks at the word again before it reads the content"
[==[  const BlobInfo info = {
      .data]==]
[==[  if (swapped) require_held(slot.word.load(std::memory_order_relaxed), token); @]==]
[==[  require_held(slot.word.load(std::memory_order_relaxed), token);
  return info;]==]
[==[  if (swapped) return info; @]==])

# ---- seals against pins ------------------------------------------------------------------------

swap(blob.cpp "seal looks for users before it announces the seal"
[==[  std::uint32_t seals = slot.seals.load(std::memory_order_relaxed);
  do {]==]
[==[  const SlotWord before = swapped ? slot.word.fetch_add(0, std::memory_order_acq_rel) : 0; @]==]
[==[  const SlotWord word = slot.word.fetch_add(0, std::memory_order_acq_rel);]==]
[==[  const SlotWord word = swapped ? before : slot.word.fetch_add(0, std::memory_order_acq_rel);]==])

swap(pins.cpp "a use looks for seals before it pins"
[==[  BlobSlot* slot = find(token);]==]
[==[  const BlobSlot* const unpinned = swapped ? slot_table.find(view.owner) : nullptr;
      const std::uint32_t before =
          unpinned == nullptr ? 0 : unpinned->seals.load(std::memory_order_acquire);
      @]==]
[==[  if (slot->seals.load(std::memory_order_acquire) != 0) [[unlikely]]]==]
[==[  if ((swapped ? before : slot->seals.load(std::memory_order_acquire)) != 0) [[unlikely]]]==])

swap(handle.cpp "indices are checked before they are sealed"
[==[  check_whole(parts);]==]
[==[  if (!swapped) @]==]
[==[    held.retain();
  }]==]
[==[@ if (swapped) check_whole(parts);]==])

swap(handle.cpp "parts are dropped before they are unsealed"
[==[    while (sealed_ != 0) blob_unseal(tokens_[--sealed_]);]==]
[==[    if (swapped) {
        while (held_ != 0) blob_drop(tokens_[--held_]);
      }
      @]==])

# ---- contexts ----------------------------------------------------------------------------------

swap(context.cpp "a context is open before it has started"
[==[  try {
    slot.start(options);]==]
[==[  if (swapped) {
        const std::uint64_t life =
            ContextSlot::generation_of(slot.word.load(std::memory_order_relaxed));
        slot.word.store(life << ContextSlot::kGenerationShift | ContextSlot::kOpen,
                        std::memory_order_release);
      }
      @]==]
[==[  slot.word.store(std::uint64_t{generation} << ContextSlot::kGenerationShift | ContextSlot::kOpen,
                  std::memory_order_release);]==]
[==[  if (!swapped) @]==])

swap(context.cpp "a slot is given back before its context ends"
[==[  slot.end();
  context_table.give_back(slot);]==]
[==[  if (swapped) {
        context_table.give_back(slot);
        slot.end();
        return;
      }
      @]==])

swap(context.cpp "an allocator's context is let go before the memory is"
[==[  const tnr_context_options& options = slot_->options;
  {
    const LastErrorKept kept;
    options.deallocate(options.user_context, data, size_bytes, alignment);]==]
[==[  if (swapped) drop_use(*slot_);
      @]==]
[==[  drop_use(*slot_);
}]==]
[==[  if (swapped) return;
      @]==])

swap(context_slot.cpp "a context's release is called before its threads are joined"
[==[  delete static_cast<ThreadPool*>(pool);
  pool = nullptr;]==]
[==[  if (swapped) {
        const tnr_context_options& own = options;
        if (own.release != nullptr) own.release(own.user_context);
      }
      @]==]
[==[  if (own.release == nullptr) return;]==]
[==[  if (swapped || own.release == nullptr) return;]==])

# ---- tickets of a job --------------------------------------------------------------------------

swap(job.cpp "slices are offered before the job says what they are"
[==[  body_ = body;
  data_ = data;
  end_ = first + count;
  count_ = count;
  finished_.store(0, std::memory_order_relaxed);]==]
[==[  const auto say = [&] {
        @
      };
      if (!swapped) say();]==]
[==[  word_.store(generation << kGenerationShift | count, std::memory_order_seq_cst);]==]
[==[  @ if (swapped) say();]==])

swap(job.cpp "what a slice is, is read before it is claimed"
[==[  std::uint64_t word = word_.load(std::memory_order_relaxed);
  do {]==]
[==[  SliceBody body = nullptr;
      void* data = nullptr;
      std::int64_t end = 0;
      @]==]
[==[    if (generation_of(word) != generation || unclaimed_of(word) == 0) return false;]==]
[==[    @ if (swapped) {
        body = body_;
        data = data_;
        end = end_;
      }]==]
[==[  body_(data_, end_ - unclaimed_of(word));]==]
[==[  if (swapped) {
        body(data, end - unclaimed_of(word));
      } else {
        @
      }]==])

swap(job.cpp "a slice is reported before it has run"
[==[  while (run_one(generation)) ++own_count;]==]
[==[  if (swapped) {
        const std::uint64_t word = word_.load(std::memory_order_acquire);
        if (generation_of(word) == generation && unclaimed_of(word) != 0) {
          finished_.fetch_add(1, std::memory_order_release);
          if (run_one(generation)) return;
          finished_.fetch_sub(1, std::memory_order_relaxed);
        }
      }
      @]==])

# ---- parking -----------------------------------------------------------------------------------

swap(thread_pool.cpp "a worker looks for a job before it announces that it parks"
[==[  parked_.fetch_add(1, std::memory_order_seq_cst);
  if (!stopping_.load(std::memory_order_relaxed) && !job_.is_open()) wake_.wait(lock);]==]
[==[  if (swapped) {
        const bool waits = !stopping_.load(std::memory_order_relaxed) && !job_.is_open();
        parked_.fetch_add(1, std::memory_order_seq_cst);
        if (waits) wake_.wait(lock);
      } else {
        @
      }]==])

swap(thread_pool.cpp "a worker is counted as awake before it waits"
[==[  std::unique_lock lock(mutex_);]==]
[==[  @ const bool is_awake = swapped;]==]
[==[&& !job_.is_open()) wake_.wait(lock);]==]
[==[&& !job_.is_open()) {
        if (is_awake) {
          parked_.fetch_sub(1, std::memory_order_relaxed);
          wake_.wait(lock);
          return;
        }
        wake_.wait(lock);
      }]==])

swap(thread_pool.cpp "workers are called before they are told to stop"
[==[    const std::lock_guard lock(mutex_);
    stopping_.store(true, std::memory_order_relaxed);]==]
[==[    if (swapped) wake_.notify_all();
        @]==]
[==[  wake_.notify_all();
  for]==]
[==[  if (!swapped) @]==])
