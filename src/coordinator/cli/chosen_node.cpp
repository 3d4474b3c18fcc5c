#include "coordinator/cli/chosen_node.hpp"

#include <fmt/format.h>

#include "coordinator/cli/output.hpp"
#include "coordinator/cli/run_output.hpp"

namespace kernelpro {

Result<Store> open_store(const Options& options) {
  Result<Store> store = Store::open(store_directory(options.store), StoreMode::read);
  if (store) {
    for (const std::string& notice : store->notices()) {
      print_note(options, notice);
    }
  }
  return store;
}

Result<ChosenNode> choose_node(const Options& options, const Store& store) {
  Result<RunReport> report = load_report(store, options.run);
  if (!report) {
    return report.error();
  }
  const NodeId wanted = options.node.value_or(report->best);
  const Node* found = find_node(report->nodes, wanted);
  if (found == nullptr) {
    return make_error(ErrorKind::bad_input,
                      fmt::format("it has no node {}; its nodes are 0 to {}", wanted,
                                  std::ssize(report->nodes) - 1),
                      "run " + options.run);
  }
  Node node = *found;
  return ChosenNode{std::move(*report), std::move(node)};
}

}  // namespace kernelpro
