// The table of slots: taking and putting back, growing, looking up; and the context's.
#include <cstring>
#include <mutex>

#include "lent_word.hpp"
#include "memory/slot_table.hpp"
#include "tenure/context.hpp"
#include "threads/context_slot.hpp"

namespace tenure::explore {

namespace {

// Opens a blob over `lent`, uses it as its only holder, and ends it.
void live_and_end(LentWord& lent) {
  const BlobToken blob = lent.adopt();
  require_ok(lent.read(blob));
  require_ok(status_of([&] { blob_release(blob); }));
  require(lent.end_count == 1, "the callback has not run");
}

void open_against_open() {
  LentWord one;
  LentWord other;
  one.share();  // so that there is a chunk, with one free slot
  Thread opener([&] {
    LentWord own;
    live_and_end(own);
  });
  live_and_end(other);
  opener.join();
}

// Between a look at the first free slot and the exchange that takes it, it is taken and put back
// with another below it.
void take_against_take_and_put_back() {
  LentWord lent[6];
  const BlobToken first = lent[0].adopt();
  const BlobToken second = lent[1].adopt();
  blob_release(second);
  blob_release(first);  // on top
  BlobToken theirs = 0;
  Thread opener([&] { theirs = lent[2].adopt(); });
  const BlobToken a = lent[3].adopt();
  const BlobToken b = lent[4].adopt();
  blob_release(a);
  opener.join();
  const BlobToken c = lent[5].adopt();
  require(token_index(theirs) != token_index(b) && token_index(theirs) != token_index(c) &&
              token_index(b) != token_index(c),
          "a slot has two blobs");
  require_ok(lent[2].read(theirs));
  require_ok(lent[4].read(b));
  require_ok(lent[5].read(c));
}

// The head that a slot is put back in front of is taken meanwhile.
void put_back_against_take() {
  LentWord lent[4];
  const BlobToken first = lent[0].adopt();
  BlobToken theirs = 0;
  Thread opener([&] { theirs = lent[1].adopt(); });
  blob_release(first);
  opener.join();
  const BlobToken a = lent[2].adopt();
  const BlobToken b = lent[3].adopt();
  require(token_index(theirs) != token_index(a) && token_index(theirs) != token_index(b) &&
              token_index(a) != token_index(b),
          "a slot has two blobs");
}

// Both find the table empty, and one of them makes the first chunk.
void growth_against_growth() {
  Thread opener([] {
    LentWord own;
    own.adopt();
  });
  LentWord lent;
  const BlobToken blob = lent.adopt();
  require_ok(lent.read(blob));
  opener.join();
}

// A token that was never given, while its slot is made, or opened.
void growth_against_garbage() {
  Thread guesser([] {
    for (const std::uint32_t index : {0u, 1u}) {
      const BlobToken garbage = make_token(kBlobKind, 1, index);
      require(status_of([&] { blob_describe(garbage); }) == TNR_STATUS_STALE_HANDLE &&
                  status_of([&] { blob_retain(garbage); }) == TNR_STATUS_STALE_HANDLE,
              "garbage names a blob");
    }
  });
  LentWord lent;
  const BlobToken blob = lent.adopt();
  require_ok(lent.read(blob));
  guesser.join();
}

// The guess is right, at whatever moment.
void open_against_guess() {
  LentWord lent;
  const BlobToken guess = make_token(kBlobKind, 0, 0);
  Thread guesser([&] {
    const tnr_status status = status_of([&] {
      const BlobInfo info = blob_describe(guess);
      require(info.data == &lent.word && info.size_bytes == sizeof(Word) &&
                  info.tenure == TNR_TENURE_SHARED,
              "a blob is described before it is whole");
    });
    require_either(status, TNR_STATUS_OK, TNR_STATUS_STALE_HANDLE);
    const tnr_status use = lent.read(guess);
    require_either(use, TNR_STATUS_OK, TNR_STATUS_STALE_VIEW);
  });
  const BlobToken blob = lent.share();
  require(blob == guess, "the first blob has another token");
  guesser.join();
  blob_release(blob);
}

// A borrow lived in the slot before; the guess is of a blob that is no borrow.
void open_against_guessed_end() {
  LentWord lent;
  const BlobToken borrow = lent.borrow_mut();
  require_ok(status_of([&] { blob_end_borrow(borrow); }));
  blob_release(borrow);
  const BlobToken guess = make_token(kBlobKind, 1, token_index(borrow));
  Thread guesser([&] {
    require_either(status_of([&] { blob_end_borrow(guess); }), TNR_STATUS_INVALID_ARGUMENT,
                   TNR_STATUS_STALE_HANDLE);
  });
  const BlobToken blob = lent.share();
  require(blob == guess, "the blob has another token");
  guesser.join();
  require_ok(lent.read(blob));
  blob_release(blob);
}

// ---- contexts ----

// State behind a user's hooks.
struct Hooks {
  Word state{kFresh};
  int end_count = 0;

  static void release(void* user_context) {
    Hooks& self = *static_cast<Hooks*>(user_context);
    require(self.end_count++ == 0, "a context ends twice");
    self.state = kFreed;
  }
  // Every hook calls this: `state` represents the data of the executor or the allocator.
  void use() const { require(state == kFresh, "a hook is called after its context's end"); }
  static void* allocate(void* user_context, std::size_t, std::size_t) {
    static_cast<Hooks*>(user_context)->use();
    return new (std::align_val_t{64}) Word(kFresh);
  }
  static void deallocate(void* user_context, void* data, std::size_t, std::size_t) {
    static_cast<Hooks*>(user_context)->use();
    *static_cast<Word*>(data) = kFreed;
  }
  tnr_context_options options() {
    tnr_context_options options = {};
    options.struct_size = sizeof options;
    options.thread_count = 1;
    options.user_context = this;
    options.release = release;
    options.allocate = allocate;
    options.deallocate = deallocate;
    return options;
  }
};

void context_release_against_use() {
  Hooks hooks;
  const ContextToken token = context_create(hooks.options());
  Thread user([&] {
    const tnr_status status = status_of([&] {
      const ContextUse use(token);
      hooks.use();
    });
    require_either(status, TNR_STATUS_OK, TNR_STATUS_STALE_HANDLE);
  });
  context_release(token);
  user.join();
  require(hooks.end_count == 1, "the context has not ended");
  require(status_of([&] { ContextUse{token}; }) == TNR_STATUS_STALE_HANDLE,
          "a context is used after its end");
}

// The blob keeps its context, and gives the memory back on whatever thread ends it.
void context_release_against_blob() {
  Hooks hooks;
  const ContextToken token = context_create(hooks.options());
  BlobToken blob = 0;
  {
    const ContextUse use(token);
    blob = blob_allocate(use, sizeof(Word));
  }
  Thread holder([&] {
    *static_cast<Word*>(blob_memory_mut(blob).data) = kWritten;
    blob_release(blob);
  });
  context_release(token);
  holder.join();
  require(hooks.end_count == 1, "the context has not ended");
}

// A call's use, and the blob that it makes, outlive the handle.
void context_release_against_allocation() {
  Hooks hooks;
  const ContextToken token = context_create(hooks.options());
  Thread user([&] {
    BlobToken blob = 0;
    const tnr_status status = status_of([&] {
      const ContextUse use(token);
      blob = blob_allocate(use, sizeof(Word));
    });
    require_either(status, TNR_STATUS_OK, TNR_STATUS_STALE_HANDLE);
    if (status == TNR_STATUS_OK) blob_release(blob);
  });
  context_release(token);
  user.join();
  require(hooks.end_count == 1, "the context has not ended");
}

void context_reuse_against_use() {
  Hooks hooks;
  Hooks next;
  const ContextToken token = context_create(hooks.options());
  Thread user([&] {
    const tnr_status status = status_of([&] {
      const ContextUse use(token);
      hooks.use();
    });
    require_either(status, TNR_STATUS_OK, TNR_STATUS_STALE_HANDLE);
  });
  context_release(token);
  const ContextToken reused = context_create(next.options());
  user.join();
  {
    const ContextUse use(reused);
    next.use();
  }
  context_release(reused);
  require(hooks.end_count == 1 && next.end_count == 1, "a context has not ended");
}

// A thread guesses the token, at any moment: if it gets a use, it finds the context whole.
void context_create_against_guess() {
  Hooks hooks;
  Thread guesser([] {
    const tnr_status status = status_of([] {
      const ContextUse use(make_token(kContextKind, 0, 0));
      const Context& context = use;
      context.deallocate(context.allocate(sizeof(Word), 64), sizeof(Word), 64);
    });
    require_either(status, TNR_STATUS_OK, TNR_STATUS_STALE_HANDLE);
  });
  const ContextToken token = context_create(hooks.options());
  guesser.join();
  context_release(token);
  require(hooks.end_count == 1, "the context has not ended");
}

// Two lives of slots begin and end at once.
void context_create_against_create() {
  const auto live_and_end_context = [] {
    Hooks hooks;
    const ContextToken token = context_create(hooks.options());
    {
      const ContextUse use(token);
      hooks.use();
    }
    context_release(token);
    require(hooks.end_count == 1, "the context has not ended");
  };
  Thread other(live_and_end_context);
  live_and_end_context();
  other.join();
}

void context_release_against_two_uses() {
  Hooks hooks;
  const ContextToken token = context_create(hooks.options());
  const auto use_it = [&] {
    const tnr_status status = status_of([&] {
      const ContextUse use(token);
      hooks.use();
    });
    require_either(status, TNR_STATUS_OK, TNR_STATUS_STALE_HANDLE);
  };
  Thread one(use_it);
  Thread other(use_it);
  context_release(token);
  one.join();
  other.join();
  require(hooks.end_count == 1, "the context has not ended");
}

}  // namespace

std::vector<Scenario> table_scenarios() {
  return {
      {"open_against_open", 2, open_against_open, kNothingSpurious},
      {"take_against_take_and_put_back", 2, take_against_take_and_put_back, kNothingSpurious},
      {"put_back_against_take", 2, put_back_against_take},
      {"growth_against_growth", 2, growth_against_growth},
      {"growth_against_garbage", 2, growth_against_garbage},
      {"open_against_guess", 2, open_against_guess},
      {"open_against_guessed_end", 2, open_against_guessed_end},
  };
}

std::vector<Scenario> context_scenarios() {
  return {
      {"context_release_against_use", 2, context_release_against_use},
      {"context_release_against_blob", 2, context_release_against_blob},
      {"context_release_against_allocation", 2, context_release_against_allocation},
      {"context_reuse_against_use", 2, context_reuse_against_use},
      {"context_create_against_guess", 2, context_create_against_guess},
      {"context_create_against_create", 2, context_create_against_create},
      {"context_release_against_two_uses", 3, context_release_against_two_uses, kThreePreemptions},
  };
}

}  // namespace tenure::explore
