#include "coordinator/cli/open_run.hpp"

#include <fmt/format.h>

#include <set>

#include "common/base/date.hpp"
#include "common/wire/json.hpp"
#include "coordinator/cli/agent_author.hpp"
#include "coordinator/cli/candidate_file.hpp"
#include "coordinator/dispatch/bundle.hpp"
#include "coordinator/dispatch/worker_client.hpp"
#include "coordinator/llm/batch_folder.hpp"
#include "coordinator/llm/role_llm.hpp"
#include "coordinator/search/search.hpp"
#include "coordinator/task/load.hpp"

namespace kernelpro {

namespace {

// An error when this machine has no energy counter for what the run looks for: said before anything
// is spent.
Status refuse_without_meter(const RunSettings& settings, std::stop_token stop) {
  Result<WorkerClient> worker = WorkerClient::start();
  const Result<WorkerDescription> machine =
      worker ? worker->describe(stop) : Result<WorkerDescription>(worker.error());
  if (!machine) {
    return machine.error();
  }
  std::string missing = fmt::format("there is no GPU {}", settings.device);
  for (const MeterDescription& one : machine->meters) {
    const bool same_device = settings.backend == "cpu" || one.device == settings.device;
    if (one.backend == settings.backend && same_device) {
      missing = one.missing;
    }
  }
  return missing.empty()
             ? Status()
             : make_error(ErrorKind::environment, "energy cannot be measured here: " + missing,
                          fmt::format("--objective {}", name_of(settings.objective)));
}

// What the user wants of models, on top of what there is. A prompt or a key that is not there is
// said now, before anything is judged.
Status apply_llm_changes(const LlmChanges& changes, RunSettings& settings) {
  if (changes.empty()) {
    return {};
  }
  LlmSettings wanted = settings.llm.value_or(LlmSettings());
  for (const auto& change : changes) {
    change(wanted);
  }
  if (wanted.llm.empty()) {
    return make_error(ErrorKind::bad_input,
                      "which model is to be asked? Options about models need --llm, such as "
                      "--llm anthropic:MODEL, openai:MODEL, batch:DIR or replay:FILE");
  }
  settings.llm = std::move(wanted);
  return check_llm(*settings.llm);
}

// How many candidates go out together; none: as many as are in flight anyway.
Result<std::optional<int>> batch_size(const Options& options, const RunSettings& settings) {
  constexpr int default_size = 16;
  if (bundle_file(settings.workers) || recorded_file(settings.workers)) {
    return std::optional(options.batch.value_or(default_size));
  }
  const bool by_files = settings.llm && (!batch_directories(*settings.llm).empty() ||
                                         settings.llm->llm.starts_with(replay_scheme));
  if (options.batch && !by_files) {
    return make_error(ErrorKind::bad_input,
                      "--batch says how many candidates go out together: it needs --workers "
                      "bundle:FILE or --llm batch:DIR. Here it is --in-flight");
  }
  return options.batch;
}

// Nobody needs to answer what a run asks elsewhere now. What cannot be done there is no error: the
// folder may be gone.
void leave_folders(const Run& run, const std::set<std::filesystem::path>& before) {
  for (const std::filesystem::path& folder : before) {
    const BatchFolder left(folder);
    if (!batch_directories(*run.settings.llm).contains(folder) &&
        std::filesystem::exists(left.requests_file())) {
      (void)left.replace(run.id, {});
    }
  }
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

}  // namespace

Result<OpenRun> new_run(const Options& options, std::stop_token stop) {
  Result<std::filesystem::path> path = find_task(options.task);
  Result<Task> task = path ? load_task(*path) : Result<Task>(path.error());
  if (!task) {
    return task.error();
  }
  RunSettings settings = options.run_settings;
  KP_TRY(apply_llm_changes(options.llm, settings));
  if (const auto search = make_search(settings.search, settings.preset, settings.seed); !search) {
    return search.error();
  }
  std::vector<Candidate> starts;
  for (const std::string& file : options.starts) {
    Result<Candidate> start = load_candidate(file, options, *task);
    if (!start) {
      return make_error(ErrorKind::bad_input, start.error().text(), "--from");
    }
    starts.push_back(std::move(*start));
  }
  const std::optional<std::filesystem::path> bundle = bundle_file(settings.workers);
  if (bundle) {
    KP_TRY(Bundle::check_free(*bundle));
  } else if (needs_energy(settings.objective)) {
    KP_TRY(refuse_without_meter(settings, stop));
  }
  const Result<std::optional<int>> batch = batch_size(options, settings);
  if (!batch) {
    return batch.error();
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
  run.settings.starts = std::move(starts);
  run.settings.in_flight = batch->value_or(run.settings.in_flight);
  run.settings.sandbox = options.sandbox;
  run.settings.threads = options.threads;
  run.settings.call_timeout_seconds = options.timeout_seconds;
  run.settings.timing_seconds = options.timing_seconds;
  run.settings.trace = options.trace;
  run.settings.warm = options.warm;
  Result<RunLock> lock = store->create_run(run);
  if (!lock) {
    return lock.error();
  }
  return OpenRun{std::move(*store), std::move(run), std::move(*lock), {}, false};
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
  const std::int64_t before = run->settings.evaluations;
  if (options.more_evaluations) {
    run->settings.evaluations = options.run_settings.evaluations;
  }
  if (options.more_seconds) {
    run->settings.seconds = options.run_settings.seconds;
  }
  run->settings.accept_suspect = run->settings.accept_suspect || options.accept_suspect;
  const std::set<std::filesystem::path> folders =
      run->settings.llm ? batch_directories(*run->settings.llm) : std::set<std::filesystem::path>();
  KP_TRY(apply_llm_changes(options.llm, run->settings));
  // Kept before they take effect: a kill must not leave what they led to without them, and what
  // goes on is not finished.
  Run kept = *run;
  if (options.more_evaluations || options.more_seconds) {
    kept.state = RunState::running;
  }
  KP_TRY(store->save_run(kept));
  leave_folders(*run, folders);
  Result<std::vector<Node>> nodes = store->load_nodes(options.run);
  Result<std::vector<Closure>> closures = store->load_closures(options.run);
  if (!nodes || !closures) {
    return nodes ? closures.error() : nodes.error();
  }
  return OpenRun{std::move(*store),
                 std::move(*run),
                 std::move(*lock),
                 {std::move(*nodes), std::move(*closures)},
                 run->settings.evaluations > before};
}

}  // namespace kernelpro
