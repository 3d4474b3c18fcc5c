#include "coordinator/app/pages.hpp"

#include "common/base/file.hpp"
#include "coordinator/app/runs.hpp"
#include "coordinator/html/diagnosis_page.hpp"
#include "coordinator/html/run_page.hpp"

namespace kernelpro {

namespace {

// Nodes that have one, from the baseline to the best.
Result<std::vector<html::PathStep>> load_path(const Store& store, const RunReport& report) {
  std::vector<html::PathStep> path;
  for (const Node* node : lineage_of(report.nodes, report.best)) {
    KP_LET(std::optional<Certificate> known, store.load_certificate(report.run.id, node->id));
    if (known) {
      path.push_back({*node, std::move(*known)});
    }
  }
  return path;
}

Result<std::optional<std::string>> load_source_of(const Store& store, const RunReport& report,
                                                  NodeId id) {
  const Node* node = find_node(report.nodes, id);
  if (node == nullptr || node->source_hash.empty()) {
    return std::optional<std::string>();
  }
  KP_LET(std::string source, store.load_source(node->source_hash));
  return std::optional(std::move(source));
}

Result<html::RunPage> load_run_page(const Store& store, const std::string& run) {
  html::RunPage page;
  KP_LET(page.report, load_report(store, run));
  KP_LET(page.path, load_path(store, page.report));
  KP_LET(page.baseline_source, load_source_of(store, page.report, root_node));
  KP_LET(page.best_source, load_source_of(store, page.report, page.report.best));
  if (page.report.run.settings.llm) {
    KP_LET(page.calls, store.load_llm_calls(run));
  }
  return page;
}

}  // namespace

Status write_run_page(const std::filesystem::path& store, const std::string& run,
                      const std::filesystem::path& file) {
  KP_LET(const Store open, Store::open(store, StoreMode::read));
  KP_LET(const html::RunPage page, load_run_page(open, run));
  return write_file_atomic(file, html::run_page(page));
}

Status write_diagnosis_page(const Diagnosed& diagnosed, const std::filesystem::path& file) {
  return write_file_atomic(file, html::diagnosis_page(diagnosed));
}

}  // namespace kernelpro
