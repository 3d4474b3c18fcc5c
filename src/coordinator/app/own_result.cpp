// From a run back to the user's file.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "common/base/file.hpp"
#include "common/model/adapter.hpp"
#include "coordinator/app/own_patch.hpp"
#include "coordinator/app/own_source.hpp"
#include "coordinator/app/own_task.hpp"
#include "coordinator/app/own_variants.hpp"
#include "coordinator/task/callers.hpp"

namespace kernelpro {

namespace {

namespace fs = std::filesystem;

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

// Of two nodes the faster, else the earlier.
bool comes_first(const Node* a, const Node* b) {
  return std::pair(-a->speedup, a->id) < std::pair(-b->speedup, b->id);
}

// The best and other confirmed nodes.
std::vector<const Node*> confirmed_nodes(const RunReport& report) {
  constexpr std::size_t most = 4;
  std::vector<const Node*> nodes;
  for (const Node& node : report.nodes) {
    if (node.id != report.best && node.id != root_node && is_confirmed(report.run, node)) {
      nodes.push_back(&node);
    }
  }
  std::ranges::sort(nodes, comes_first);
  nodes.insert(nodes.begin(), find_node(report.nodes, report.best));
  nodes.resize(std::min(nodes.size(), most));
  return nodes;
}

// Looks for the patch of a run: first for what helps in the user's own build, then for what needs
// other flags.
class PatchSearch {
 public:
  PatchSearch(const RunReport& report, const ImplementationSpec& baseline, const Store& store,
              const Watcher& watcher, std::stop_token stop)
      : report_(report),
        run_(report.run),
        baseline_(baseline),
        root_(*find_node(report.nodes, root_node)),
        best_(*find_node(report.nodes, report.best)),
        store_(store),
        watcher_(watcher),
        stop_(std::move(stop)) {}

  [[nodiscard]] Result<OwnResult> search() {
    KP_LET(origin_, read_origin(run_.task_path));
    KP_LET(original_, own_lines(store_, root_));
    KP_LET(const std::string best, home_lines(best_));
    out_.own_flags = flags_text(baseline_.compiler, baseline_.options);
    KP_LET(const auto judged, judge_fresh(variants_of(best_, best)));
    KP_LET(bool found, try_variants(judged));
    if (!found) {
      KP_LET(const auto others, judge_fresh(other_variants()));
      KP_LET(found, try_variants(others));
    }
    if (!found) {
      KP_LET(found, try_other_flags());
    }
    return out_;
  }

 private:
  // A node's code as it may stand in the user's file.
  [[nodiscard]] Result<std::string> home_lines(const Node& node) const {
    const Result<std::string> lines = own_lines(store_, node);
    return lines && *lines != original_ ? brought_home(*lines, original_, in_c()) : lines;
  }

  [[nodiscard]] bool in_c() const { return origin_.file.extension() == ".c"; }

  [[nodiscard]] std::vector<PatchVariant> variants_of(const Node& node,
                                                      const std::string& code) const {
    return variants(original_, code, node, root_, run_.task.entry->backend, origin_.function,
                    baseline_.options, run_.settings.fast_math);
  }

  // Judges what was not judged before.
  Result<std::vector<JudgedVariant>> judge_fresh(std::vector<PatchVariant> sources) {
    std::erase_if(sources,
                  [this](const PatchVariant& one) { return !tried_.insert(one.source).second; });
    KP_LET(auto judged, judge_variants(sources, run_, baseline_, watcher_, stop_));
    for (const JudgedVariant& one : judged) {
      own_speedups_[one.variant.source] = one.speedup;
    }
    // The user's own code with other flags comes behind what waited for it.
    judged.insert(judged.end(), postponed_.begin(), postponed_.end());
    postponed_.clear();
    return judged;
  }

  // Of the nodes behind the best: confirmed ones where a patch was refused, and the fastest whose
  // code needs no threads, which a build without OpenMP has something of.
  [[nodiscard]] std::vector<PatchVariant> other_variants() const {
    std::vector<const Node*> nodes = serial_nodes();
    if (!refused_.empty()) {
      const auto confirmed = confirmed_nodes(report_);
      nodes.insert(nodes.end(), confirmed.begin() + 1, confirmed.end());
    }
    nodes.push_back(&root_);
    std::vector<PatchVariant> out;
    for (const Node* node : nodes) {
      const Result<std::string> code = home_lines(*node);
      const auto some = code.ok() ? variants_of(*node, *code) : std::vector<PatchVariant>();
      std::ranges::copy_if(some, std::back_inserter(out), [&](const PatchVariant& one) {
        return std::ranges::find(out, one.source, &PatchVariant::source) == out.end();
      });
    }
    return out;
  }

  [[nodiscard]] std::vector<const Node*> serial_nodes() const {
    constexpr std::size_t most = 2;
    std::vector<const Node*> passed;
    for (const Node& node : report_.nodes) {
      if (node.id != root_node && node.id != best_.id && node.outcome == Outcome::passed &&
          node.verified && baseline_.backend == Backend::cpu) {
        passed.push_back(&node);
      }
    }
    std::ranges::sort(passed, comes_first);
    std::vector<const Node*> nodes;
    std::vector<std::string> codes;
    for (const Node* node : passed) {
      const Result<std::string> code = home_lines(*node);
      if (nodes.size() < most && code.ok() && *code != original_ &&
          code->find("#pragma omp parallel") == std::string::npos &&
          std::ranges::find(codes, *code) == codes.end()) {
        nodes.push_back(node);
        codes.push_back(*code);
      }
    }
    return nodes;
  }

  // The fastest of them that keeps to what callers have.
  Result<bool> try_variants(const std::vector<JudgedVariant>& judged) {
    const OwnBuild own{baseline_.compiler, baseline_.options};
    const bool first = refused_.empty();
    for (const JudgedVariant& one : judged) {
      if (!one.faster) {
        continue;
      }
      if (first && !refused_.empty() && is_root(one.variant)) {
        postponed_.push_back(one);
        continue;
      }
      KP_LET(const bool kept, keeps_callers(one.variant, own));
      if (kept) {
        out_.faster = true;
        out_.speedup = one.speedup;
        say_best(*one.variant.node);
        return write(one.variant.source, one.speedup, out_.own_flags);
      }
    }
    return false;
  }

  // What is faster with its own flags alone is worth a patch too, and says so.
  Result<bool> try_other_flags() {
    for (const Node* node : confirmed_nodes(report_)) {
      const Result<std::string> code = home_lines(*node);
      if (!code.ok() || *code == original_ || refused_.contains(node->id)) {
        continue;
      }
      KP_LET(const bool kept, keeps_callers({*code, node}, {node->compiler, node->options}));
      if (kept) {
        out_.speedup = own_speedup(*code);
        say_best(*node);
        return write(*code, node->speedup, out_.best_flags);
      }
    }
    say_best(root_);
    return false;
  }

  // Of a node's code in the user's own build; 0: it did not pass there.
  [[nodiscard]] double own_speedup(const std::string& code) const {
    const std::string plain = plain_code(code, baseline_.options);
    const auto known = own_speedups_.find(plain);
    const double judged = known == own_speedups_.end() ? 0 : known->second;
    return plain == original_ ? 1 : judged;
  }

  [[nodiscard]] static bool is_root(const PatchVariant& variant) {
    return variant.node->id == root_node;
  }

  // What the best is worth with its own flags; `patched` is the node of the patch.
  void say_best(const Node& patched) {
    const Node& best = refused_.contains(best_.id) ? patched : best_;
    if (best.id == root_node) {
      return;
    }
    out_.best_speedup = best.speedup;
    out_.best_flags = flags_text(best.compiler, best.options);
    out_.missing_flags = missing_flags(best);
    if (best.id != patched.id && own_code(best) != original_) {
      out_.best_node = best.id;
    }
  }

  [[nodiscard]] std::string own_code(const Node& node) const {
    const Result<std::string> code = home_lines(node);
    return code.ok() ? *code : std::string();
  }

  // What the user's build would need for the node.
  [[nodiscard]] std::string missing_flags(const Node& node) const {
    std::vector<std::string> options;
    std::ranges::copy_if(node.options, std::back_inserter(options),
                         [this](const auto& option) { return !has(baseline_.options, option); });
    const std::string compiler = node.compiler.empty() ? "g++" : node.compiler;
    const bool same = compiler == (baseline_.compiler.empty() ? "g++" : baseline_.compiler);
    return same ? options_text(options) : flags_text(compiler, options);
  }

  // Code for other devices has callers that cannot be played here.
  Result<bool> keeps_callers(const PatchVariant& variant, const OwnBuild& build) {
    if (baseline_.backend != Backend::cpu) {
      return true;
    }
    tell(watcher_, Activity{run_.task.name + ": calling the patched function as its callers may"});
    if (!callers_ || callers_build_ != build) {
      KP_LET(callers_, Callers::prepare(original_, origin_.function, run_.task, build, stop_));
      callers_build_ = build;
    }
    KP_LET(std::string objection, callers_->objection(variant.source, stop_));
    if (objection.empty()) {
      KP_LET(objection, c_objection(variant.source, build));
    }
    if (!objection.empty()) {
      refused_.insert(variant.node->id);
      out_.refused.push_back(
          is_root(variant) ? "your function with other flags " + objection
                           : fmt::format("the patch of node {} {}", variant.node->id, objection));
    }
    return objection.empty();
  }

  // A file of C stays one, where it was one to that compiler.
  Result<std::string> c_objection(const std::string& source, const OwnBuild& build) {
    if (!in_c()) {
      return std::string();
    }
    const CallerBuild own = own_caller_build(build.compiler, build.options, {});
    KP_LET(const bool before, is_c(original_, own, stop_));
    KP_LET(const bool after, is_c(source, own, stop_));
    return before && !after ? "is no longer C" : std::string();
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
  const Node& root_;
  const Node& best_;
  const Store& store_;
  const Watcher& watcher_;
  std::stop_token stop_;
  SourceOrigin origin_;
  std::string original_;
  std::optional<Callers> callers_;
  OwnBuild callers_build_;
  std::set<std::string> tried_;                 // sources that were judged in the user's own build
  std::map<std::string, double> own_speedups_;  // of those that passed
  std::set<NodeId> refused_;
  std::vector<JudgedVariant> postponed_;
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
