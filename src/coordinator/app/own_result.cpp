// From a run back to the user's file.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "common/base/file.hpp"
#include "common/model/adapter.hpp"
#include "coordinator/app/evaluate.hpp"
#include "coordinator/app/own_patch.hpp"
#include "coordinator/app/own_source.hpp"
#include "coordinator/app/own_task.hpp"
#include "coordinator/task/callers.hpp"

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

// A source that may be worth a patch.
struct Variant {
  std::string source;
  bool is_nodes = false;  // the node's own code; else the user's with other flags
};

// For a build with `options`, the most promising first.
std::vector<Variant> variants(const std::string& original, const std::string& best,
                              const Node& node, const EntrySpec& entry,
                              const std::vector<std::string>& options, bool fast_math) {
  std::vector<Variant> out;
  const auto add = [&](const std::string& text, bool is_nodes) {
    if (text != original && std::ranges::find(out, text, &Variant::source) == out.end()) {
      out.push_back({text, is_nodes});
    }
  };
  if (entry.backend != Backend::cpu) {
    add(best, true);
    return out;
  }
  const std::string plain = has(options, "openmp") ? best : without_openmp(best);
  std::vector<std::string> wanted = node.options;
  wanted.insert(wanted.end(), {"-O3"});
  if (fast_math) {
    wanted.emplace_back("-ffast-math");
  }
  const std::vector<std::string> carried = carried_flags(wanted, options);
  if (!carried.empty()) {
    add(with_flags(plain, entry.function, carried), plain != original);
    add(with_flags(original, entry.function, carried), false);
  }
  add(plain, true);
  return out;
}

struct Judged {
  Variant variant;
  double speedup = 0;
  bool faster = false;
};

// The variants that passed, built with the baseline's own flags; the fastest first.
Result<std::vector<Judged>> judge_variants(const std::vector<Variant>& sources, const Run& run,
                                           const ImplementationSpec& baseline,
                                           const Watcher& watcher, std::stop_token stop) {
  if (sources.empty()) {
    return std::vector<Judged>();
  }
  KP_LET(const ScratchDir scratch, ScratchDir::create("patch"));
  EvaluationRequest request;
  request.task = run.task_path;
  request.judging = run.settings.judging;
  request.build = {baseline.compiler, baseline.options};
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const fs::path file =
        scratch.path() / fmt::format("patched_{}{}", i + 1, traits_of(baseline.backend).extension);
    KP_TRY(write_file_atomic(file, sources[i].source));
    request.sources.push_back(file.string());
  }
  KP_LET(const EvaluationResult result, evaluate(request, watcher, std::move(stop)));
  std::vector<Judged> passed;
  for (std::size_t i = 0; i < result.evaluations.size(); ++i) {
    const Verdict& verdict = result.evaluations[i].certificate.verdict;
    if (verdict.outcome == Outcome::passed) {
      passed.push_back({sources[i], verdict.timing.speedup,
                        !verdict.suspect && verdict.timing.comparison == Comparison::faster});
    }
  }
  std::ranges::sort(passed, std::ranges::greater(), &Judged::speedup);
  return passed;
}

// The nodes whose patch may be the result: the best, other confirmed ones, the user's function.
std::vector<const Node*> nodes_to_try(const RunReport& report) {
  constexpr std::size_t most = 4;
  std::vector<const Node*> nodes;
  for (const Node& node : report.nodes) {
    if (node.id != report.best && node.id != root_node && is_confirmed(report.run, node)) {
      nodes.push_back(&node);
    }
  }
  std::ranges::sort(nodes, [](const Node* a, const Node* b) {
    return std::pair(-a->speedup, a->id) < std::pair(-b->speedup, b->id);
  });
  nodes.insert(nodes.begin(), find_node(report.nodes, report.best));
  nodes.resize(std::min(nodes.size(), most));
  if (report.best != root_node) {
    nodes.push_back(find_node(report.nodes, root_node));
  }
  return nodes;
}

// Looks for the patch of a run, node by node.
class PatchSearch {
 public:
  PatchSearch(const RunReport& report, const ImplementationSpec& baseline, const Store& store,
              const Watcher& watcher, std::stop_token stop)
      : report_(report),
        run_(report.run),
        baseline_(baseline),
        store_(store),
        watcher_(watcher),
        stop_(std::move(stop)) {}

  [[nodiscard]] Result<OwnResult> search() {
    KP_LET(origin_, read_origin(run_.task_path));
    KP_LET(original_, own_lines(store_, *find_node(report_.nodes, root_node)));
    out_.own_flags = flags_text(baseline_.compiler, baseline_.options);
    for (const Node* node : nodes_to_try(report_)) {
      KP_LET(const bool found, try_node(*node));
      // Only what was refused is to be replaced.
      if (found || out_.refused.empty()) {
        break;
      }
    }
    return out_;
  }

 private:
  // Whether the patch is this node's.
  Result<bool> try_node(const Node& node) {
    const Result<std::string> lines = own_lines(store_, node);
    if (!lines.ok()) {
      return node.id == report_.best ? Result<bool>(lines.error()) : Result<bool>(false);
    }
    const std::string& changed = *lines;
    const auto sources = variants(original_, changed, node, *run_.task.entry, baseline_.options,
                                  run_.settings.fast_math);
    KP_LET(const auto judged, judge_variants(sources, run_, baseline_, watcher_, stop_));
    const std::size_t before = out_.refused.size();
    KP_LET(const bool found, try_variants(node, judged));
    if (found || out_.refused.size() > before) {
      return found;
    }
    out_.speedup = out_.refused.empty() && !judged.empty() ? judged[0].speedup : 0;
    // What is faster with its own flags alone is worth a patch too, and says so.
    const bool is_other = node.id != root_node && changed != original_;
    if (is_other) {
      KP_LET(const bool kept, keeps_callers(node, {changed, true}, {node.compiler, node.options}));
      if (!kept) {
        out_.speedup = 0;
        return false;
      }
    }
    say_best(node);
    return is_other ? write(changed, node.speedup, out_.best_flags) : Result<bool>(false);
  }

  // The fastest of them that keeps to what callers have.
  Result<bool> try_variants(const Node& node, const std::vector<Judged>& judged) {
    const std::size_t before = out_.refused.size();
    const OwnBuild own{baseline_.compiler, baseline_.options};
    for (const Judged& one : judged) {
      // The user's own code with other flags comes last, as the root's.
      const bool waits = out_.refused.size() > before && !one.variant.is_nodes;
      if (!one.faster || waits) {
        continue;
      }
      KP_LET(const bool kept, keeps_callers(node, one.variant, own));
      if (kept) {
        say_best(node);
        out_.faster = true;
        out_.speedup = one.speedup;
        return write(one.variant.source, one.speedup, out_.own_flags);
      }
    }
    return false;
  }

  void say_best(const Node& node) {
    if (node.id != root_node) {
      out_.best_speedup = node.speedup;
      out_.best_flags = flags_text(node.compiler, node.options);
    }
  }

  // Code for other devices has callers that cannot be played here.
  Result<bool> keeps_callers(const Node& node, const Variant& variant, const OwnBuild& build) {
    if (baseline_.backend != Backend::cpu) {
      return true;
    }
    tell(watcher_, Activity{run_.task.name + ": calling the patched function as its callers may"});
    if (!callers_ || callers_build_ != build) {
      KP_LET(callers_, Callers::prepare(original_, origin_.function, run_.task, build, stop_));
      callers_build_ = build;
    }
    KP_LET(const std::string objection, callers_->objection(variant.source, stop_));
    if (!objection.empty()) {
      out_.refused.push_back(variant.is_nodes
                                 ? fmt::format("the patch of node {} {}", node.id, objection)
                                 : "your function with other flags " + objection);
    }
    return objection.empty();
  }

  Result<bool> write(const std::string& source, double speedup, const std::string& flags) {
    const std::string about = fmt::format(
        "{}: {:.2f} times as fast, built with {}\nFrom run {}; apply with `patch -p1` or `git "
        "apply`.\n",
        origin_.function, speedup, flags, run_.id);
    KP_LET(out_.patch, make_patch(origin_, source, about));
    return true;
  }

  const RunReport& report_;
  const Run& run_;
  const ImplementationSpec& baseline_;
  const Store& store_;
  const Watcher& watcher_;
  std::stop_token stop_;
  SourceOrigin origin_;
  std::string original_;
  std::optional<Callers> callers_;
  OwnBuild callers_build_;
  OwnResult out_;
};

}  // namespace

Result<OwnResult> finish_own_run(const RunReport& report, const fs::path& store_folder,
                                 const fs::path& patch_file, const Watcher& watcher,
                                 std::stop_token stop) {
  const Run& run = report.run;
  const auto baseline = std::ranges::find(run.task.baselines, run.settings.judging.backend,
                                          &ImplementationSpec::backend);
  if (find_node(report.nodes, report.best) == nullptr ||
      find_node(report.nodes, root_node) == nullptr || baseline == run.task.baselines.end() ||
      !run.task.entry) {
    return OwnResult();
  }
  KP_LET(const Store store, Store::open(store_folder, StoreMode::read));
  KP_LET(OwnResult out, PatchSearch(report, *baseline, store, watcher, std::move(stop)).search());
  if (!out.patch.empty()) {
    KP_TRY(make_directories(fs::absolute(patch_file).parent_path()));
    KP_TRY(write_file_atomic(patch_file, out.patch));
    out.patch_file = patch_file;
  }
  return out;
}

}  // namespace kernelpro
