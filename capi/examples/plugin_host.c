/* A program that loads a plug-in while it runs: plugin_host LIBRARY OPERATION
 *
 * The plug-in stays loaded until the graph and its program are gone, which hold its operations. */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenure/tenure.h>

enum { kCount = 4 };

static int failed(const char* what, const char* why) {
  fprintf(stderr, "%s: %s\n", what, why);
  return EXIT_FAILURE;
}

/* What the library exports by this name. ISO C converts no object pointer to one of a function. */
static tnr_plugin_fn entry_of(void* library) {
  tnr_plugin_fn entry = NULL;
  void* const symbol = dlsym(library, "tnr_plugin_entry");
  memcpy(&entry, &symbol, sizeof entry);
  return entry;
}

/* NULL where the plug-in has none of this name. */
static const tnr_custom_operation* find(const tnr_plugin* plugin, const char* name) {
  uint32_t i;
  for (i = 0; i < plugin->operation_count; ++i) {
    if (strcmp(plugin->operations[i]->name, name) == 0) return plugin->operations[i];
  }
  return NULL;
}

/* A program of one input of floats, and one output: the operation's result. */
static tnr_program* program_of(const tnr_custom_operation* operation) {
  const int64_t shape = kCount;
  uint32_t index, x;
  tnr_program* program = NULL;
  tnr_graph* const graph = tnr_graph_create();
  if (graph == NULL) return NULL;
  if (tnr_graph_add_custom(graph, operation, &index) == TNR_STATUS_OK &&
      tnr_graph_add_input(graph, TNR_DTYPE_F32, 1, &shape, &x) == TNR_STATUS_OK) {
    tnr_graph_node node = {.struct_size = sizeof node};
    uint32_t y;
    node.code = TNR_NODE_CUSTOM + index;
    node.operands = &x;
    node.operand_count = 1;
    if (tnr_graph_add_node(graph, &node, &y) == TNR_STATUS_OK &&
        tnr_graph_add_output(graph, y, TNR_OPERAND_NONE) == TNR_STATUS_OK) {
      program = tnr_program_create(NULL, graph, NULL);
    }
  }
  tnr_graph_release(graph);
  return program;
}

int main(int argc, char** argv) {
  const float x[kCount] = {1, -3, 0, 0.25f};
  float y[kCount];
  const int64_t shape = kCount;
  tnr_view input;
  tnr_view_mut output;
  const tnr_view* const inputs = &input;
  const tnr_view_mut* const outputs = &output;
  void* library;
  const tnr_plugin* plugin;
  const tnr_custom_operation* operation;
  tnr_program* program;
  int i;

  if (argc != 3) return failed("usage", "plugin_host LIBRARY OPERATION");
  library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return failed("dlopen", dlerror());
  /* Before anything else of it is used: it may be of another ABI. */
  plugin = tnr_plugin_check(entry_of(library));
  if (plugin == NULL) return failed(argv[1], tnr_last_error()->message);
  operation = find(plugin, argv[2]);
  if (operation == NULL) return failed(argv[2], "the plug-in has no such operation");

  program = program_of(operation);
  if (program == NULL) return failed("a program", tnr_last_error()->message);
  if (tnr_view_lend(x, sizeof x, 0, TNR_DTYPE_F32, 1, &shape, NULL, &input) ||
      tnr_view_lend_mut(y, sizeof y, 0, TNR_DTYPE_F32, 1, &shape, NULL, &output) ||
      tnr_program_run(NULL, program, &inputs, 1, NULL, &outputs, 1)) {
    return failed("a run", tnr_last_error()->message);
  }
  for (i = 0; i < kCount; ++i) {
    if (y[i] != x[i] / (1 + fabsf(x[i]))) return failed(argv[2], "another result");
  }
  tnr_program_release(program);
  if (dlclose(library) != 0) return failed("dlclose", dlerror());
  printf("%s of %s: %g %g %g %g\n", argv[2], argv[1], y[0], y[1], y[2], y[3]);
  return EXIT_SUCCESS;
}
