/*
 * Compiler annotations for the ownership tags of tenure.h.
 *
 * The tags in the comments of tenure.h are for people and generators. The macros of the
 * declarations express the tags for gcc and clang, which then report misuse in the caller's code. A
 * compiler that knows none of the attributes sees plain C99 declarations. tests/misuse shows each
 * warning.
 */
#ifndef TENURE_ANNOTATIONS_H
#define TENURE_ANNOTATIONS_H

/* gcc 11 is the first with both `malloc (function)` and `access (none)`. clang calls itself gcc 4
 * and takes neither. */
#if defined(__GNUC__) && !defined(__clang__)
#if __GNUC__ >= 11
#define TNR_GCC_OWNERSHIP 1
#endif
#endif

/*
 * A function of the library's ABI. The library is compiled with everything else hidden, so the
 * linker script can export only functions with this macro. On Windows the list of exports suffices.
 */
#if defined(__GNUC__) && !defined(_WIN32)
#define TNR_API __attribute__((visibility("default")))
#else
#define TNR_API
#endif

/*
 * The result must be looked at: a status, or a handle that would be lost. gcc and clang warn with
 * -Wunused-result, which is on by default. `tnr_blob_release` is without it: a release that fails
 * took nothing, and there is often nothing left to do.
 */
#if defined(__GNUC__)
#define TNR_NODISCARD __attribute__((warn_unused_result))
#else
#define TNR_NODISCARD
#endif

/*
 * No exception leaves the function. In C++ a definition without `noexcept` then fails to compile,
 * and callers need no landing pads. Nothing in C.
 */
#if defined(__cplusplus)
#define TNR_NOEXCEPT noexcept
#else
#define TNR_NOEXCEPT
#endif

/*
 * (transfer full) on a result: a handle to be given to `release` once. gcc reports a second release
 * and a use after it (-Wuse-after-free), another way to free it (-Wmismatched-dealloc), and with
 * -fanalyzer a handle that is never released (-Wanalyzer-malloc-leak). This is why constructors
 * return their handle instead of writing it through a pointer: there the attribute does not work.
 */
#if defined(TNR_GCC_OWNERSHIP)
#define TNR_RETURNS_OWNED(release) __attribute__((malloc(release, 1)))
#else
#define TNR_RETURNS_OWNED(release)
#endif

/*
 * (counted-by) on a const pointer: parameter number `pointer` is read, and parameter number `count`
 * is the number of its elements, or of its bytes for void. gcc reports a shorter object
 * (-Wstringop-overread), NULL with a count above 0 (-Wnonnull) and memory that has not been written
 * (-Wmaybe-uninitialized).
 */
#if defined(TNR_GCC_OWNERSHIP)
#define TNR_READS(pointer, count) __attribute__((access(read_only, pointer, count)))
#else
#define TNR_READS(pointer, count)
#endif

/*
 * (counted-by) with (out): like TNR_READS, but written and never read (-Wstringop-overflow).
 */
#if defined(TNR_GCC_OWNERSHIP)
#define TNR_WRITES(pointer, count) __attribute__((access(write_only, pointer, count)))
#else
#define TNR_WRITES(pointer, count)
#endif

/*
 * (counted-by) on memory that is handed over to be written later. Like TNR_READS, but the memory
 * need not be initialised, as fresh memory is not. It is not TNR_WRITES either, because then the
 * compiler might drop the caller's own stores to it as dead.
 */
#if defined(TNR_GCC_OWNERSHIP)
#define TNR_SPANS(pointer, count) __attribute__((access(none, pointer, count)))
#else
#define TNR_SPANS(pointer, count)
#endif

/*
 * (lifetimebound) on a parameter: the result is good only while this memory is. clang reports a
 * borrow of a local that leaves the function (-Wreturn-stack-address) and of a temporary
 * (-Wdangling). In C clang has the attribute but ignores it with a warning, hence C++ only.
 */
#if defined(__cplusplus) && defined(__has_attribute)
#if __has_attribute(lifetimebound)
#define TNR_LIFETIMEBOUND __attribute__((lifetimebound))
#endif
#endif
#if !defined(TNR_LIFETIMEBOUND)
#define TNR_LIFETIMEBOUND
#endif

/*
 * (lifetimebound) on a member function of tenure.hpp: the result is good only while the object is.
 */
#if defined(__cplusplus) && defined(__has_cpp_attribute)
#if __has_cpp_attribute(clang::lifetimebound)
#define TNR_LIFETIMEBOUND_THIS [[clang::lifetimebound]]
#endif
#endif
#if !defined(TNR_LIFETIMEBOUND_THIS)
#define TNR_LIFETIMEBOUND_THIS
#endif

/*
 * (transfer full) and (transfer none) on a handle or on memory that is passed in: whether the
 * library takes it over. No compiler checks this; clang keeps it in the syntax tree, where a
 * binding generator or a static analyser can read it.
 */
#if defined(__clang__)
#define TNR_OWNED __attribute__((annotate("tnr:transfer full")))
#define TNR_BORROWED __attribute__((annotate("tnr:transfer none")))
#else
#define TNR_OWNED
#define TNR_BORROWED
#endif

#endif /* TENURE_ANNOTATIONS_H */
