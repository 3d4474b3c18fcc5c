// A task of a formula: what the loop's tests work with.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/base/file.hpp"
#include "common/base/hash.hpp"
#include "coordinator/loop/loop.hpp"

namespace kernelpro {

// Each option multiplies the speed; "-fno-plt" breaks the result, and "-fgcse" changes no code.
inline double speed_of(const Candidate& candidate) {
  double speed = 1;
  for (const std::string& option : candidate.options) {
    speed *= option == "-O3" ? 2.0 : option == "-ftracer" ? 1.5 : option == "-fweb" ? 0.4 : 1.0;
  }
  const std::size_t size = candidate.source.find("int N = ");
  return size == std::string::npos ? speed : speed * (1 + 0.1 * (candidate.source[size + 8] - '0'));
}

inline bool has(const Candidate& candidate, const std::string& option) {
  return std::find(candidate.options.begin(), candidate.options.end(), option) !=
         candidate.options.end();
}

class FormulaLaboratory : public Laboratory {
 public:
  Result<std::vector<BuildSummary>> build(const std::vector<Candidate>& candidates,
                                          std::stop_token) override {
    std::vector<BuildSummary> built;
    for (const Candidate& candidate : candidates) {
      std::string text = candidate.source;
      for (const std::string& option : candidate.options) {
        text += option == "-fgcse" ? "" : option;
      }
      built.push_back({true, sha256(text)});
    }
    return built;
  }

  Result<std::optional<Evaluated>> judge(const Job& job, std::stop_token) override {
    ++judged;
    if (stop_after > 0 && judged >= stop_after) {
      stop.request_stop();
    }
    energy_jobs += job.energy ? 1 : 0;
    (job.phase == 0 ? brief_searched : brief_finalists) += job.brief ? 1 : 0;
    diagnose_jobs += job.diagnose ? 1 : 0;
    if (job.diagnose) {
      diagnose_bounds.push_back(job.diagnose_above);
    }
    return std::optional(verdict_on(job));
  }

  Evaluated verdict_on(const Job& job) {
    Evaluated out = verdict_on(job.candidate, job.incumbent);
    if (job.phase > 0) {
      ++final_jobs;
      Verdict& verdict = out.certificate.verdict;
      verdict.suspect = verdict.suspect ? !quiet_at_the_end : noisy_at_the_end;
      if (nothing_at_the_end) {
        verdict = {};
      } else if (at_the_end) {
        at_the_end(job, verdict);
      }
    }
    if (job.diagnose) {
      out.diagnosis = diagnosis;
    }
    if (job.energy && measures_energy && out.certificate.verdict.outcome == Outcome::passed) {
      // Less at "N = 3", though it is not the fastest.
      const bool frugal = job.candidate.source.find("int N = 3") != std::string::npos;
      Energy& energy = out.certificate.verdict.energy.emplace();
      energy.ratio = frugal ? 0.5 : 0.8;
      energy.ratio_interval = {0.99 * energy.ratio, 1.01 * energy.ratio};
    }
    return out;
  }

  Evaluated verdict_on(const Candidate& candidate, const std::optional<Candidate>& incumbent) {
    Evaluated out;
    out.certificate.incumbent.name = incumbent ? incumbent->name : "plain";
    Verdict& verdict = out.certificate.verdict;
    out.certificate.build.binary_hash = build({candidate}, {})->front().binary_hash;
    if (lose_every > 0 && judged % lose_every == 0) {
      verdict.outcome = Outcome::not_judged;
      return out;
    }
    if (has(candidate, "-fno-plt")) {
      verdict.outcome = Outcome::incorrect;
      verdict.summary = "wrong";
      return out;
    }
    const double speedup = speed_of(candidate) / (incumbent ? speed_of(*incumbent) : 1.0);
    verdict.outcome = Outcome::passed;
    verdict.suspect = has(candidate, suspect_option) || all_suspect;
    verdict.timing.speedup = !incumbent && fails_to_confirm(candidate) ? 0.9 : speedup;
    verdict.timing.at_least = at_least;
    if (others_take > 0) {
      verdict.timing.likely = verdict.timing.speedup;
      verdict.timing.speedup *= 1 - others_take;
    }
    verdict.timing.speedup_interval = {0.99 * verdict.timing.speedup,
                                       1.01 * verdict.timing.speedup};
    verdict.timing.comparison =
        verdict.timing.speedup > 1.02 ? Comparison::faster : Comparison::same;
    if (bound > 0) {
      ShapeTiming& shape = verdict.timing.shapes.emplace_back();
      shape.share_of_bound = speed_of(candidate) / bound;
      shape.candidate_ns = 1e6;
    }
    return out;
  }

  [[nodiscard]] bool fails_to_confirm(const Candidate& candidate) const {
    return !unconfirmed_option.empty() && has(candidate, unconfirmed_option);
  }

  int judged = 0;
  int final_jobs = 0;
  double bound = 0;                                      // speed that nothing exceeds; 0: unknown
  bool at_least = false;                                 // of every timing
  double others_take = 0;                                // of a candidate's speed
  bool quiet_at_the_end = false;                         // suspects turn out clean as finalists
  bool noisy_at_the_end = false;                         // every finalist is suspect
  bool nothing_at_the_end = false;                       // no finalist can be judged
  std::function<void(const Job&, Verdict&)> at_the_end;  // changes the verdict on a finalist
  int energy_jobs = 0;
  int diagnose_jobs = 0;
  int brief_searched = 0;                    // jobs of the search that were to be timed briefly
  int brief_finalists = 0;                   // and those of finalists
  std::vector<double> diagnose_bounds;       // what the speed-up must exceed, of each
  std::optional<DiagnosisReport> diagnosis;  // of everything that is to be diagnosed
  bool measures_energy = true;
  int lose_every = 0;
  int stop_after = 0;
  std::string suspect_option = "none";
  bool all_suspect = false;
  std::string unconfirmed_option;
  std::stop_source stop;
};

// Answers nothing at once; `deliver` brings the first answers, as they were asked for.
class SlowLaboratory : public Laboratory {
 public:
  explicit SlowLaboratory(FormulaLaboratory& formula) : formula_(formula) {}

  Result<std::vector<BuildSummary>> build(const std::vector<Candidate>& candidates,
                                          std::stop_token) override {
    return std::vector<BuildSummary>(candidates.size());
  }

  Result<std::optional<Evaluated>> judge(const Job& job, std::stop_token) override {
    const std::pair name(job.node, job.phase > 0);
    if (const auto answer = answers_.find(name); answer != answers_.end()) {
      return std::optional(answer->second);
    }
    asked_.try_emplace(name, job);
    return std::optional<Evaluated>();
  }

  void deliver(std::size_t most) {
    for (; most > 0 && !asked_.empty(); --most) {
      const auto& [name, job] = *asked_.begin();
      answers_[name] = formula_.verdict_on(job);
      asked_.erase(asked_.begin());
    }
  }

  [[nodiscard]] std::size_t asked() const { return asked_.size(); }

 private:
  FormulaLaboratory& formula_;
  std::map<std::pair<NodeId, bool>, Job> asked_;
  std::map<std::pair<NodeId, bool>, Evaluated> answers_;
};

class MemoryJournal : public Journal {
 public:
  Status proposed(const Node& node, const std::string& source) override {
    nodes.push_back(node);
    sources[node.source_hash] = source;
    return {};
  }
  Status chosen(const Node& node) override {
    nodes.push_back(node);
    return {};
  }
  Status written(const Node& node, const std::string& source) override {
    nodes[static_cast<std::size_t>(node.id)] = node;
    sources[node.source_hash] = source;
    return {};
  }
  Status answered(const Node& node, const Certificate& certificate) override {
    return ended(node, &certificate);
  }
  Status ended(const Node& node, const Certificate* certificate) override {
    nodes[static_cast<std::size_t>(node.id)] = node;
    if (certificate != nullptr) {
      certificates[node.id] = *certificate;
    }
    return {};
  }
  Status closed(const Closure& closure) override {
    closures.push_back(closure);
    return {};
  }
  Result<std::string> source(const std::string& hash) override { return sources.at(hash); }
  Result<std::optional<Certificate>> certificate(NodeId node) override {
    const auto found = certificates.find(node);
    return found == certificates.end() ? std::optional<Certificate>() : found->second;
  }

  Status recalled(const Recollection& recollection) override {
    told = recollection;
    return {};
  }

  void clear() {
    nodes.clear();
    closures.clear();
    certificates.clear();
  }

  std::vector<Node> nodes;
  std::vector<Closure> closures;
  std::map<std::string, std::string> sources;
  std::map<NodeId, Certificate> certificates;
  std::optional<Recollection> told;
};

class LoopTest : public ::testing::Test {
 protected:
  LoopTest() {
    run_.task.name = "small";
    run_.task.files["base.cpp"] = "// kp:tune N = 1 2 3 4\nconstexpr int N = 1;\n";
    ImplementationSpec baseline;
    baseline.name = "plain";
    baseline.backend = Backend::cpu;
    baseline.file = "base.cpp";
    baseline.options = {"-O2"};
    run_.task.baselines = {baseline};
    run_.settings.evaluations = 12;
    run_.settings.sweep = false;  // steps show how a tree grows; sweeps have tests of their own
    for (const auto& [id, options] :
         {std::pair("o3", "-O3"), std::pair("tracer", "-ftracer"), std::pair("web", "-fweb"),
          std::pair("wrong", "-fno-plt"), std::pair("same", "-fgcse")}) {
      add_move(id, "tier: build\noptions: " + std::string(options) + "\n");
    }
    add_move("tune", "tier: tune\ntune: neighbors\n");
  }

  void add_move(const std::string& id, const std::string& keys) {
    const std::string text = "---\nid: " + id + "\ntitle: Try " + id + "\n" + keys + "---\nDo.\n";
    EXPECT_TRUE(write_file_unsynced(folder_->path() / (id + ".md"), text));
  }

  // Works until the run ends, or is stopped by the laboratory.
  void work(const LoopHistory& history = {}) { work_with(laboratory_, history); }

  // Measures the finalists of what was done so far, and nothing else.
  void confirm() { work_with(laboratory_, {journal_.nodes, journal_.closures}, nullptr, true); }

  void work_with(Laboratory& laboratory, const LoopHistory& history, Author* author = nullptr,
                 bool finalists_only = false, std::optional<std::stop_token> stop = {}) {
    PlaybookSettings settings;
    settings.moves = folder_->path();
    settings.tiers = run_.settings.tiers;
    settings.sweep = run_.settings.sweep;
    const Result<Playbook> playbook = Playbook::load(settings);
    ASSERT_TRUE(playbook) << playbook.error().text();
    const Result<std::unique_ptr<Search>> search =
        make_search(run_.settings.search, run_.settings.preset, run_.settings.seed);
    ASSERT_TRUE(search) << search.error().text();
    ClosedLoop loop(run_, **search, *playbook, laboratory, journal_, {}, author);
    const std::stop_token token = stop.value_or(laboratory_.stop.get_token());
    worked_ = finalists_only ? loop.confirm(history, token) : loop.work(history, token);
    ASSERT_TRUE(worked_ || author != nullptr) << worked_.error().text();
    best_ = loop.best();
  }

  [[nodiscard]] const Node& best() const { return journal_.nodes[static_cast<std::size_t>(best_)]; }

  [[nodiscard]] std::int64_t charged() const {
    return std::count_if(journal_.nodes.begin(), journal_.nodes.end(), [](const Node& node) {
      return node.id != root_node && node.state == NodeState::judged &&
             node.outcome != Outcome::not_judged;
    });
  }

  Result<ScratchDir> folder_ = ScratchDir::create("loop-test");
  kernelpro::Run run_;
  FormulaLaboratory laboratory_;
  MemoryJournal journal_;
  NodeId best_ = no_node;
  Status worked_;
};

}  // namespace kernelpro
