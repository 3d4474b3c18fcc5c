#include "coordinator/app/run_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <system_error>

#include "common/base/hash.hpp"
#include "coordinator/app/runs.hpp"
#include "coordinator/memory/memory.hpp"
#include "coordinator/memory/traits.hpp"
#include "coordinator/propose/agents/memory.hpp"

namespace kernelpro {

namespace {

namespace fs = std::filesystem;
using memory::Circumstances;
using memory::Memory;
using memory::Observation;
using memory::RunLessons;
using memory::Situation;

constexpr std::size_t key_length = 32;

std::string key_of(const Run& run) {
  return sha256(run.id + "\n" + run.created + "\n" + run.task_hash).substr(0, key_length);
}

Circumstances circumstances_of(const Run& run, const Certificate& baseline) {
  const Backend backend = run.settings.judging.backend;
  return {backend, memory::architecture_of(baseline.machine, backend),
          memory::task_traits(run.task, backend, baseline.machine),
          memory::device_traits(baseline.machine, baseline.ceilings, backend)};
}

bool was_judged(const Node& node) {
  return node.id != root_node && node.state == NodeState::judged &&
         node.outcome != Outcome::not_judged;
}

// Made before on the way from the root, which is another thing than the first time.
bool is_repeated(const std::vector<Node>& nodes, const Node& node) {
  for (NodeId id = node.parent; id > root_node; id = node_at(nodes, id).parent) {
    if (node_at(nodes, id).move == node.move) {
      return !is_size(node.site);
    }
  }
  return false;
}

bool teaches(const std::vector<Node>& nodes, const Node& node) {
  if (!was_judged(node) || node.move.empty()) {
    return false;
  }
  const Node& parent = node_at(nodes, node.parent);
  return parent.outcome == Outcome::passed && parent.speedup > 0 && !is_repeated(nodes, node);
}

Result<Candidate> candidate_of(const Store& store, const Run& run, const Node& node) {
  Candidate candidate;
  candidate.backend = run.settings.judging.backend;
  KP_LET(candidate.source, store.load_source(node.source_hash));
  candidate.compiler = node.compiler;
  candidate.options = node.options;
  return candidate;
}

Observation observation_of(const Node& node, const Node& parent, const Situation& situation) {
  Observation out;
  out.situation = situation;
  out.finding = memory::finding_for(parent.diagnosis, node.move);
  out.move = node.move;
  out.site = node.site;
  out.outcome = node.outcome;
  if (node.outcome == Outcome::passed && node.speedup > 0) {
    out.log_gain = std::log(expected_speedup(node) / expected_speedup(parent));
  }
  return out;
}

Status add_observations(const OpenRun& open, const std::vector<Node>& nodes, std::int64_t after,
                        RunLessons& out) {
  std::map<NodeId, Situation> situations;
  for (const Node& node : nodes) {
    out.learned = std::max(out.learned, node.ended);
    if (node.ended <= after || !teaches(nodes, node)) {
      continue;
    }
    const Node& parent = node_at(nodes, node.parent);
    auto known = situations.find(parent.id);
    if (known == situations.end()) {
      KP_LET(const Candidate candidate, candidate_of(open.store, open.run, parent));
      known =
          situations.emplace(parent.id, memory::situation_of(candidate, parent.diagnosis)).first;
    }
    out.observations.push_back(observation_of(node, parent, known->second));
  }
  return {};
}

// What models found not to be there.
Result<std::vector<std::string>> facts_of(const OpenRun& open, const std::vector<Node>& nodes,
                                          std::int64_t after) {
  std::vector<Tried> failures;
  for (const Node& node : nodes) {
    if (node.by_models && node.ended > after && has_failed(node)) {
      KP_LET(std::optional<Certificate> certificate,
             open.store.load_certificate(open.run.id, node.id));
      if (certificate) {
        failures.push_back({node, std::move(certificate->verdict)});
      }
    }
  }
  std::vector<std::string> facts;
  for (const agents::MemoryLine& line : agents::absences(failures)) {
    facts.push_back(line.text);
  }
  return facts;
}

}  // namespace

fs::path memory_place(const std::string& setting, const fs::path& store) {
  if (setting == memory_on) {
    return memory::memory_file(store);
  }
  return setting == memory_off || setting.starts_with(memory_of_run) ? fs::path()
                                                                     : fs::path(setting);
}

std::string memory_setting(const RunSettings& settings) {
  const std::string& wanted = settings.memory;
  if (wanted == memory_on) {
    const bool replay = settings.workers.scheme == WorkerScheme::replay ||
                        (settings.llm && settings.llm->llm.starts_with("replay:"));
    return replay ? memory_off : memory_on;
  }
  if (wanted == memory_off || wanted.starts_with(memory_of_run)) {
    return wanted;
  }
  std::error_code failed;
  return fs::absolute(wanted, failed).string();
}

void RunMemory::complain(const Error& error, const char* what) const {
  tell(watcher_, Remark{Remark::On::program, fmt::format("{}: {}", error.text(), what)});
}

Recollection RunMemory::recall(const Certificate& baseline) {
  Result<Recollection> found = find_lessons(baseline);
  if (!found) {
    complain(found.error(), "the run goes on without lessons of other runs");
    return {};
  }
  return std::move(*found);
}

Result<Recollection> RunMemory::find_lessons(const Certificate& baseline) const {
  const std::string& setting = open_.run.settings.memory;
  if (setting.starts_with(memory_of_run)) {
    KP_LET(std::optional<Recollection> told,
           open_.store.load_recollection(setting.substr(std::string(memory_of_run).size())));
    return told.value_or(Recollection());
  }
  const fs::path file = memory_place(setting, open_.store.directory());
  std::error_code failed;
  Recollection recollection;
  if (file.empty()) {
    return recollection;
  }
  if (fs::exists(file, failed)) {
    KP_LET(Memory memory, Memory::open(file, StoreMode::read));
    KP_LET(recollection, memory.recall(circumstances_of(open_.run, baseline)));
  }
  KP_LET(recollection.tools, recent_tool_records(open_.store, open_.run.id));
  return recollection;
}

void RunMemory::teach() const {
  if (const Status added = add_lessons(); !added) {
    complain(added.error(), "what this run has measured is not kept as lessons");
  }
}

Status RunMemory::add_lessons() const {
  const fs::path file = memory_place(open_.run.settings.memory, open_.store.directory());
  if (file.empty()) {
    return {};
  }
  KP_LET(const std::vector<Node> nodes, open_.store.load_nodes(open_.run.id));
  if (std::ranges::none_of(nodes, was_judged)) {
    return {};
  }
  KP_LET(const std::optional<Certificate> baseline,
         open_.store.load_certificate(open_.run.id, root_node));
  if (!baseline) {
    return {};
  }
  KP_LET(Memory memory, Memory::open(file, StoreMode::write));
  RunLessons lessons;
  lessons.key = key_of(open_.run);
  KP_LET(const std::int64_t after, memory.learned_up_to(lessons.key));
  lessons.circumstances = circumstances_of(open_.run, *baseline);
  KP_TRY(add_observations(open_, nodes, after, lessons));
  KP_LET(lessons.facts, facts_of(open_, nodes, after));
  KP_LET(std::optional<Recollection> told, open_.store.load_recollection(open_.run.id));
  lessons.told = told.value_or(Recollection());
  return memory.learn(lessons);
}

}  // namespace kernelpro
