#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "common/base/date.hpp"
#include "common/base/paths.hpp"
#include "common/wire/json.hpp"
#include "coordinator/cli/commands.hpp"
#include "coordinator/cli/live_view.hpp"
#include "coordinator/cli/opening.hpp"
#include "coordinator/cli/output.hpp"
#include "coordinator/cli/run_output.hpp"
#include "coordinator/cli/store_journal.hpp"
#include "coordinator/cli/worker_laboratory.hpp"
#include "coordinator/report/export.hpp"
#include "coordinator/task/load.hpp"

namespace kernelpro {

namespace {

OpenOrder open_order_of(const Run& run) {
  OpenOrder order;
  order.task = run.task;
  order.sandbox = run.settings.sandbox;
  order.threads = run.settings.threads;
  order.call_timeout_ms = static_cast<std::int64_t>(run.settings.call_timeout_seconds * 1000);
  order.timing_seconds = run.settings.timing_seconds;
  return order;
}

Result<Playbook> load_playbook(const Run& run, const WorkerDescription& machine) {
  const Result<std::filesystem::path> share = share_directory();
  if (!share) {
    return share.error();
  }
  PlaybookSettings settings;
  settings.moves = *share / "knowledge" / "moves" / run.settings.backend;
  settings.tiers = run.settings.tiers;
  settings.only = run.settings.moves;
  settings.fast_math = run.settings.fast_math;
  for (const CompilerDescription& compiler : machine.compilers) {
    settings.compilers.push_back(compiler.name);
  }
  settings.parse.jail = program_directory() / "kernelpro-jail";
  settings.parse.abi_include = *share / "include";
  settings.parse.landlock = run.settings.sandbox;
  return Playbook::load(settings);
}

Result<WorkerClient> open_worker(Run& run, WorkerDescription& machine, std::stop_token stop) {
  Result<WorkerClient> worker = WorkerClient::start();
  if (!worker) {
    return worker;
  }
  Result<WorkerDescription> described = worker->describe(stop);
  if (!described) {
    return described.error();
  }
  machine = std::move(*described);
  run.machine = machine.machine.processor;
  const Result<Opened> opened = worker->open(open_order_of(run), stop);
  if (!opened) {
    return opened.error();
  }
  KP_TRY(refuse_unfit(*opened, run.task));
  return worker;
}

// A run that this process may write to.
struct OpenRun {
  Store store;
  Run run;
  RunLock lock;
  LoopHistory history;
};

// Works on a run until it ends or is stopped; what there is to tell is in the store by then.
Status work_on(OpenRun& open, LiveView& view, std::stop_token stop) {
  Run& run = open.run;
  view.say(fmt::format("run {} in {}", run.id, open.store.directory().string()));
  WorkerDescription machine;
  Result<WorkerClient> worker = open_worker(run, machine, stop);
  if (!worker) {
    return worker.error();
  }
  const Result<Playbook> playbook = load_playbook(run, machine);
  if (!playbook) {
    return playbook.error();
  }
  Result<std::unique_ptr<Search>> search =
      make_search(run.settings.search, run.settings.preset, run.settings.seed);
  if (!search) {
    return search.error();
  }
  WorkerLaboratory laboratory(std::move(*worker), open_order_of(run), run.settings.allow_precision);
  StoreJournal journal(open.store, run.id);
  ClosedLoop loop(run, **search, *playbook, laboratory, journal,
                  [&view](const LoopProgress& progress) { view.show(progress); });
  const Status worked = loop.work(open.history, stop);
  view.clear();
  return worked;
}

// The table of the run, also of one that was cut short.
int finish(const Options& options, OpenRun& open, const Status& worked, std::stop_token stop) {
  const Result<NodeId> best = print_run(options, open.store, open.run);
  if (!worked && !stop.stop_requested()) {
    return report_error(options, worked.error());
  }
  if (!best) {
    return report_error(options, best.error());
  }
  if (stop.stop_requested()) {
    print_note(options, fmt::format("interrupted; `kernelpro resume {}` goes on", open.run.id));
    return exit_interrupted;
  }
  if (*best == root_node) {
    return exit_not_passed;
  }
  if (!options.export_directory.empty()) {
    Options wanted = options;
    wanted.run = open.run.id;
    return export_run(wanted);
  }
  return exit_done;
}

int work_and_finish(const Options& options, OpenRun open, std::stop_token stop) {
  for (const std::string& notice : open.store.notices()) {
    print_note(options, notice);
  }
  LiveView view(open.run.task.name, !options.quiet);
  Status worked = work_on(open, view, stop);
  if (!worked) {
    open.run.state = RunState::interrupted;
    open.run.ended_because = worked.error().text();
  }
  if (const Status saved = open.store.save_run(open.run); !saved && worked) {
    worked = saved;
  }
  return finish(options, open, worked, stop);
}

Result<OpenRun> new_run(const Options& options) {
  Result<std::filesystem::path> path = find_task(options.task);
  Result<Task> task = path ? load_task(*path) : Result<Task>(path.error());
  if (!task) {
    return task.error();
  }
  const RunSettings& settings = options.run_settings;
  if (const auto search = make_search(settings.search, settings.preset, settings.seed); !search) {
    return search.error();
  }
  Result<Store> store = Store::open(store_directory(options.store), StoreMode::write);
  if (!store) {
    return store.error();
  }
  Run run;
  run.created = utc_now();
  run.program_version = KERNELPRO_VERSION;
  run.task_hash = task_hash(*task);
  run.task = std::move(*task);
  run.task_path = path->string();
  run.settings = settings;
  run.settings.sandbox = options.sandbox;
  run.settings.threads = options.threads;
  run.settings.call_timeout_seconds = options.timeout_seconds;
  run.settings.timing_seconds = options.timing_seconds;
  Result<RunLock> lock = store->create_run(run);
  if (!lock) {
    return lock.error();
  }
  return OpenRun{std::move(*store), std::move(run), std::move(*lock), {}};
}

// A run is bound to its task: results of two tasks must not lie in one tree.
Status check_unchanged(const Run& run) {
  const std::filesystem::path path = run.task_path;
  if (path.empty() || !std::filesystem::exists(path)) {
    return {};
  }
  const Result<Task> now = load_task(path);
  if (!now) {
    return now.error();
  }
  if (task_hash(*now) != run.task_hash) {
    return make_error(ErrorKind::bad_input,
                      fmt::format("the task has changed since run {} began; put it back, or start "
                                  "again with `kernelpro optimize {}`",
                                  run.id, run.task_path),
                      run.task_path);
  }
  return {};
}

Result<OpenRun> old_run(const Options& options) {
  Result<Store> store = Store::open(store_directory(options.store), StoreMode::write);
  if (!store) {
    return store.error();
  }
  Result<RunLock> lock = store->lock_run(options.run);
  if (!lock) {
    return lock.error();
  }
  Result<Run> run = store->load_run(options.run);
  if (!run) {
    return run.error();
  }
  KP_TRY(check_unchanged(*run));
  if (options.more_evaluations) {
    run->settings.evaluations = options.run_settings.evaluations;
  }
  if (options.more_seconds) {
    run->settings.seconds = options.run_settings.seconds;
  }
  Result<std::vector<Node>> nodes = store->load_nodes(options.run);
  Result<std::vector<Closure>> closures = store->load_closures(options.run);
  if (!nodes || !closures) {
    return nodes ? closures.error() : nodes.error();
  }
  return OpenRun{std::move(*store),
                 std::move(*run),
                 std::move(*lock),
                 {std::move(*nodes), std::move(*closures)}};
}

}  // namespace

int optimize(const Options& options, std::stop_token stop) {
  Result<OpenRun> open = new_run(options);
  return open ? work_and_finish(options, std::move(*open), stop)
              : report_error(options, open.error());
}

int resume(const Options& options, std::stop_token stop) {
  Result<OpenRun> open = old_run(options);
  return open ? work_and_finish(options, std::move(*open), stop)
              : report_error(options, open.error());
}

}  // namespace kernelpro
