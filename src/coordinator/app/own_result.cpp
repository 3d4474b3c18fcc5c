// From a run back to the user's file.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/base/file.hpp"
#include "common/model/adapter.hpp"
#include "coordinator/app/evaluate.hpp"
#include "coordinator/app/own_patch.hpp"
#include "coordinator/app/own_source.hpp"
#include "coordinator/app/own_task.hpp"

namespace kernelpro {

namespace {

namespace fs = std::filesystem;

std::string flags_text(const std::string& compiler, const std::vector<std::string>& options) {
  return fmt::format("{} {}", compiler.empty() ? "g++" : compiler, fmt::join(options, " "));
}

bool has(const std::vector<std::string>& options, const std::string& option) {
  return std::ranges::find(options, option) != options.end();
}

// The author's lines of a node; nothing of one that is not called through the adapter any more.
Result<std::string> own_lines(const Store& store, const Node& node) {
  KP_LET(const std::string source, store.load_source(node.source_hash));
  auto parts = take_adapter_off(source);
  if (!parts) {
    return make_error(ErrorKind::bad_input, "the candidate is not called through your function");
  }
  return std::move(parts->own);
}

// What may be worth a patch for a build with `options`, the most promising first.
std::vector<std::string> variants(const std::string& original, const std::string& best,
                                  const Node& node, const EntrySpec& entry,
                                  const std::vector<std::string>& options, bool fast_math) {
  std::vector<std::string> out;
  const auto add = [&](const std::string& text) {
    if (text != original && std::ranges::find(out, text) == out.end()) {
      out.push_back(text);
    }
  };
  const std::string plain = has(options, "openmp") ? best : without_openmp(best);
  std::vector<std::string> wanted = node.options;
  wanted.insert(wanted.end(), {"-O3"});
  if (fast_math) {
    wanted.emplace_back("-ffast-math");
  }
  const std::vector<std::string> carried = carried_flags(wanted, options);
  if (!carried.empty()) {
    add(with_flags(plain, entry.function, carried));
    add(with_flags(original, entry.function, carried));
  }
  add(plain);
  return out;
}

struct Judged {
  std::string source;
  double speedup = 0;
  bool faster = false;
};

// The fastest of the variants that passed, built with the baseline's own flags.
Result<std::optional<Judged>> judge_variants(const std::vector<std::string>& sources,
                                             const Run& run, const ImplementationSpec& baseline,
                                             const Watcher& watcher, std::stop_token stop) {
  KP_LET(const ScratchDir scratch, ScratchDir::create("patch"));
  EvaluationRequest request;
  request.task = run.task_path;
  request.judging = run.settings.judging;
  request.build = {baseline.compiler, baseline.options};
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const fs::path file = scratch.path() / fmt::format("patched_{}.cpp", i + 1);
    KP_TRY(write_file_atomic(file, sources[i]));
    request.sources.push_back(file.string());
  }
  KP_LET(const EvaluationResult result, evaluate(request, watcher, std::move(stop)));
  std::optional<Judged> best;
  for (std::size_t i = 0; i < result.evaluations.size(); ++i) {
    const Verdict& verdict = result.evaluations[i].certificate.verdict;
    const double speedup = verdict.timing.speedup;
    if (verdict.outcome == Outcome::passed && (!best || speedup > best->speedup)) {
      best = Judged{sources[i], speedup,
                    !verdict.suspect && verdict.timing.comparison == Comparison::faster};
    }
  }
  return best;
}

}  // namespace

Result<OwnResult> finish_own_run(const RunReport& report, const fs::path& store_folder,
                                 const fs::path& patch_file, const Watcher& watcher,
                                 std::stop_token stop) {
  OwnResult out;
  const Run& run = report.run;
  const Node* best = find_node(report.nodes, report.best);
  const Node* root = find_node(report.nodes, root_node);
  const auto baseline = std::ranges::find(run.task.baselines, run.settings.judging.backend,
                                          &ImplementationSpec::backend);
  if (best == nullptr || root == nullptr || baseline == run.task.baselines.end() ||
      !run.task.entry) {
    return out;
  }
  KP_LET(const SourceOrigin origin, read_origin(run.task_path));
  KP_LET(const Store store, Store::open(store_folder, StoreMode::read));
  KP_LET(const std::string original, own_lines(store, *root));
  KP_LET(const std::string changed, own_lines(store, *best));
  out.own_flags = flags_text(baseline->compiler, baseline->options);
  if (best->id != root_node) {
    out.best_speedup = best->speedup;
    out.best_flags = flags_text(best->compiler, best->options);
  }
  const auto sources = variants(original, changed, *best, *run.task.entry, baseline->options,
                                run.settings.fast_math);
  std::optional<Judged> judged;
  if (!sources.empty()) {
    KP_LET(judged, judge_variants(sources, run, *baseline, watcher, std::move(stop)));
  }
  out.faster = judged && judged->faster;
  out.speedup = judged ? judged->speedup : 0;
  // What is faster with its own flags alone is worth a patch too, and says so.
  if (!out.faster && (changed == original || best->id == root_node)) {
    return out;
  }
  const std::string& source = out.faster ? judged->source : changed;
  const std::string about = fmt::format(
      "{}: {:.2f} times as fast, built with {}\nFrom run {}; apply with `patch -p1` or `git "
      "apply`.\n",
      origin.function, out.faster ? judged->speedup : best->speedup,
      out.faster ? out.own_flags : out.best_flags, run.id);
  KP_LET(out.patch, make_patch(origin, source, about));
  if (!out.patch.empty()) {
    KP_TRY(make_directories(fs::absolute(patch_file).parent_path()));
    KP_TRY(write_file_atomic(patch_file, out.patch));
    out.patch_file = patch_file;
  }
  return out;
}

}  // namespace kernelpro
