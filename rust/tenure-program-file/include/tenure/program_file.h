/* Files of programs: a graph with its constants, loaded from a file that is mapped, and saved.
 *
 * The functions are in libtenure_program_file.a, whose README says what to link. They may be called
 * from any thread. */
#ifndef TENURE_PROGRAM_FILE_H
#define TENURE_PROGRAM_FILE_H

#include "tenure/tenure.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The graph of a file. Its constants are neither read nor copied: the graph, and every program that
 * is made of it, keeps the file mapped. Nobody may write the file or make it shorter meanwhile;
 * replace it by renaming another one, as tnr_program_file_save does.
 *
 * `operations` are pointers to operation_count operations of the caller's own, which the graph and
 * its subgraphs call by their names. All of them are taken, whatever the result: `release` of those
 * that the graph does not call, and on failure of each, is called before this returns.
 *
 * Returns NULL on failure: a file that is not there, cut, changed, newer or hostile; an operation
 * that is not given; what the core refuses. tnr_program_file_error says which. Release the graph
 * with tnr_graph_release. */
TNR_RETURNS_OWNED(tnr_graph_release)
tnr_graph* tnr_program_file_load(const char* path, const tnr_custom_operation* const* operations,
                                 uint32_t operation_count);

/* Writes a graph with its constants to a file next to `path`, and renames it to `path`: a process
 * that has the old one mapped keeps it. `operation_names` are those of the operation_count
 * operations that tnr_graph_add_custom gave the graph, in their order. Operations of its subgraphs
 * have their own names.
 *
 * INVALID_ARGUMENT: another number of names, a path that is NULL or refused by the system.
 * STALE_HANDLE, OUT_OF_MEMORY. Nobody may add to the graph meanwhile. */
tnr_status tnr_program_file_save(const tnr_graph* graph, const char* path,
                                 const char* const* operation_names, uint32_t operation_count);

/* A program of a file, with an array for each input and output: zeros at first, in row-major order.
 * Extents with names have their maxima. An output that updates an input writes the array of that
 * input. One thread at a time uses a program and its arrays. */
typedef struct tnr_program_file tnr_program_file;

/* Opens a program. `flags` are those of tnr_bound_create on the CPU: 0, or TNR_BOUND_PREALLOCATED for
 * runs that allocate nothing, take no lock and use only the calling thread. The program keeps the
 * file mapped, as the graph of tnr_program_file_load does.
 *
 * Returns NULL on failure: the errors of tnr_program_file_load, also of a file with operations of
 * the caller's own, and those of tnr_bound_create. tnr_program_file_error says which. */
void tnr_program_file_release(tnr_program_file* program);
TNR_RETURNS_OWNED(tnr_program_file_release)
tnr_program_file* tnr_program_file_open(const char* path, uint32_t flags);

/* The elements of the input, or output, of this name, which are `count` of `dtype`. Valid until the
 * program is released. The name is that of the Rust program: one that was given, or its place in
 * tuples, arrays and Vecs, such as "0" or "2.1".
 *
 * Returns NULL for another name, dtype or count. tnr_program_file_error has those of the program. */
void* tnr_program_file_input(tnr_program_file* program, const char* name, tnr_dtype dtype,
                             uint64_t count);
const void* tnr_program_file_output(const tnr_program_file* program, const char* name,
                                    tnr_dtype dtype, uint64_t count);

/* The name of the input `index`, from 0, and a view of its elements, both valid until the program is
 * released. Each may be NULL. INVALID_ARGUMENT: no such input. */
tnr_status tnr_program_file_describe_input(tnr_program_file* program, uint32_t index,
                                           const char** name, tnr_view_mut* view);

/* Runs the program on its arrays, with the threads of `context`, which may be NULL. The errors are
 * those of tnr_bound_run, and tnr_last_error has the message. */
tnr_status tnr_program_file_run(tnr_context* context, tnr_program_file* program);

/* Why the calling thread's last call of the functions above failed, except tnr_program_file_run; ""
 * if it did not. Valid until the thread calls one of them again, or ends. */
const char* tnr_program_file_error(void);

#ifdef __cplusplus
}
#endif

#endif
