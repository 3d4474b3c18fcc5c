#include "coordinator/app/run_work.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/paths.hpp"
#include "coordinator/app/agent_author.hpp"
#include "coordinator/app/bundle_laboratory.hpp"
#include "coordinator/app/header_folders.hpp"
#include "coordinator/app/run_memory.hpp"
#include "coordinator/app/store_journal.hpp"
#include "coordinator/app/worker_laboratory.hpp"
#include "coordinator/loop/loop.hpp"

namespace kernelpro {

namespace {

Result<OpenOrder> open_order_of(const Run& run) {
  OpenOrder order;
  order.task = run.task;
  order.judging = run.settings.judging;
  order.energy = needs_energy(run.settings.objective);
  return with_headers(std::move(order));
}

Status run_loop(OpenRun& open, Laboratory& laboratory, const WorkerDescription& machine,
                const Watcher& watcher, LoopPart part, std::stop_token stop,
                Author* instead = nullptr) {
  Run& run = open.run;
  KP_LET(const Playbook playbook, load_playbook(run, machine.compilers));
  KP_LET(std::unique_ptr<Search> search,
         make_search(run.settings.search, run.settings.preset, run.settings.seed));
  StoreJournal journal(open.store, run.id);
  Result<std::unique_ptr<AgentAuthor>> author = std::unique_ptr<AgentAuthor>();
  if (run.settings.llm && instead == nullptr && part == LoopPart::all) {
    author = AgentAuthor::open(open.store, run);
  }
  if (!author) {
    return author.error();
  }
  Author* const writing = instead != nullptr ? instead : author->get();
  RunMemory memory(open, watcher);
  ClosedLoop loop(
      run, *search, playbook, laboratory, journal,
      [&watcher](const LoopProgress& progress) { tell(watcher, progress); }, writing,
      run.settings.memory == memory_off ? nullptr : &memory);
  Status worked =
      part == LoopPart::all ? loop.work(open.history, stop) : loop.confirm(open.history, stop);
  if (part == LoopPart::all) {
    memory.teach();
  }
  if (!*author) {
    return worked;
  }
  if (const std::int64_t differing = (*author)->caller().differing(); differing > 0) {
    tell(watcher,
         Remark{Remark::On::results,
                fmt::format("{} request{} would now be worded otherwise than when {} answered",
                            differing, differing == 1 ? "" : "s",
                            differing == 1 ? "it was" : "they were")});
  }
  const Status handed_out = (*author)->hand_out();
  for (const std::string& remark : (*author)->caller().remarks()) {
    tell(watcher, Remark{Remark::On::models, run.id + ": " + remark});
  }
  return worked ? handed_out : worked;
}

// What the baseline was judged on, which all speed-ups are over; nothing before that.
Result<std::optional<MachineRecord>> machine_before(OpenRun& open) {
  if (open.history.nodes.empty()) {
    return std::optional<MachineRecord>();
  }
  KP_LET(const std::optional<Certificate> root,
         open.store.load_certificate(open.run.id, root_node));
  return root ? std::optional(root->machine) : std::nullopt;
}

Status work_here(OpenRun& open, const Watcher& watcher, LoopPart part, std::stop_token stop,
                 Author* instead) {
  const RunSettings& settings = open.run.settings;
  KP_LET(OpenOrder order, open_order_of(open.run));
  KP_LET(const std::optional<MachineRecord> begun_on, machine_before(open));
  KP_LET(const std::unique_ptr<WorkerLaboratory> laboratory,
         WorkerLaboratory::open(settings.workers.places, std::move(order), settings.allow_precision,
                                begun_on, stop));
  open.run.machine = laboratory->machine().machine.processor;
  Status worked = run_loop(open, *laboratory, laboratory->machine(), watcher, part, stop, instead);
  for (const std::string& remark : laboratory->remarks()) {
    tell(watcher, Remark{Remark::On::results, remark});
  }
  return worked;
}

// Whether the loop would have to propose something before it asks for a result.
bool would_propose(const LoopHistory& history) {
  const auto any = [&history](NodeState state) {
    return std::any_of(history.nodes.begin(), history.nodes.end(),
                       [state](const Node& node) { return node.state == state; });
  };
  return !history.nodes.empty() && (any(NodeState::proposing) || !any(NodeState::in_flight));
}

Status work_by_bundle(OpenRun& open, Result<Bundle> bundle, const Watcher& watcher, LoopPart part,
                      std::stop_token stop) {
  if (!bundle) {
    return bundle.error();
  }
  Run& run = open.run;
  KP_LET(OpenOrder order, open_order_of(run));
  BundleLaboratory laboratory(std::move(*bundle), std::move(order), run.settings.allow_precision);
  KP_LET(const std::optional<WorkerDescription> worker, laboratory.worker());
  for (const std::string& remark : laboratory.remarks()) {
    if (!open.history.nodes.empty()) {
      tell(watcher, Remark{Remark::On::results, remark});
    }
  }
  if (!worker && part == LoopPart::all && would_propose(open.history)) {
    // Both files are gone: which compilers the worker has must be asked again first.
    run.state = RunState::waiting;
    run.awaited.results = 1;
    run.ended_because = "waiting for the description of the worker";
    return laboratory.hand_out();
  }
  if (worker) {
    run.machine = worker->machine.processor;
  }
  KP_TRY(run_loop(open, laboratory, worker.value_or(WorkerDescription()), watcher, part, stop));
  return run.state == RunState::waiting ? laboratory.hand_out() : Status();
}

}  // namespace

Result<Playbook> load_playbook(const Run& run, const std::vector<CompilerDescription>& compilers) {
  KP_LET(const std::filesystem::path share, share_directory());
  PlaybookSettings settings;
  settings.moves = share / "knowledge" / "moves" / name_of(run.settings.judging.backend);
  settings.tiers = run.settings.tiers;
  settings.only = run.settings.moves;
  if (run.settings.llm && settings.tiers.empty() && settings.only.empty()) {
    // Models write; what they left tunable is swept without them.
    settings.tiers = {"tune"};
  }
  settings.fast_math = run.settings.fast_math;
  settings.sweep = run.settings.sweep;
  for (const CompilerDescription& compiler : compilers) {
    settings.compilers.push_back(compiler.name);
  }
  settings.parse.jail = program_directory() / "kernelpro-jail";
  settings.parse.abi_include = share / "include";
  settings.parse.landlock = run.settings.judging.sandbox;
  return Playbook::load(settings);
}

Status work_on(OpenRun& open, const Watcher& watcher, LoopPart part, std::stop_token stop,
               Author* instead) {
  tell(watcher, RunBegun{open.run.id, open.run.task.name, open.store.directory()});
  const Workers& workers = open.run.settings.workers;
  switch (workers.scheme) {
    case WorkerScheme::bundle:
      return work_by_bundle(open,
                            Bundle::open(workers.file, open.run.id + " of " + open.run.created),
                            watcher, part, stop);
    case WorkerScheme::replay:
      return work_by_bundle(open, Bundle::recorded(workers.file), watcher, part, stop);
    case WorkerScheme::live:
      break;
  }
  return work_here(open, watcher, part, stop, instead);
}

Status work_and_save(OpenRun& open, LoopPart part, const Watcher& watcher, std::stop_token stop) {
  Status worked = work_on(open, watcher, part, stop);
  if (!worked && part == LoopPart::all) {
    open.run.state = RunState::interrupted;
    open.run.ended_because = worked.error().text();
  }
  const Status saved = open.store.save_run(open.run);
  return worked ? saved : worked;
}

}  // namespace kernelpro
