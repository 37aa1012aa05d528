// Defaults for every test program under a sanitizer: an allocation that is too large returns NULL,
// as it does without one, since what the library answers then is what some tests are about.
extern "C" {
// Visible, so that the sanitizer's shared library finds them.
[[gnu::visibility("default")]] const char* __asan_default_options();
[[gnu::visibility("default")]] const char* __tsan_default_options();
}

const char* __asan_default_options() { return "allocator_may_return_null=1"; }
const char* __tsan_default_options() { return "allocator_may_return_null=1"; }
