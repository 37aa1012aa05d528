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

/* Writes a graph with its constants to a file beside `path`, and renames it to `path`: who has the
 * old one mapped keeps it. `operation_names` are those of the operation_count operations that
 * tnr_graph_add_custom gave the graph, in their order. Those of its subgraphs have their own names.
 *
 * INVALID_ARGUMENT: another number of names, a path that is NULL or refused by the system.
 * STALE_HANDLE, OUT_OF_MEMORY. Nobody may add to the graph meanwhile. */
tnr_status tnr_program_file_save(const tnr_graph* graph, const char* path,
                                 const char* const* operation_names, uint32_t operation_count);

/* Why the calling thread's last call of the functions above failed; "" if it did not. Valid until
 * the thread calls one of them again, or ends. */
const char* tnr_program_file_error(void);

#ifdef __cplusplus
}
#endif

#endif
