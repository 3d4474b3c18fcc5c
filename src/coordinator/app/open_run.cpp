#include "coordinator/app/open_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "common/base/date.hpp"
#include "common/wire/json.hpp"
#include "coordinator/app/agent_author.hpp"
#include "coordinator/app/candidate_file.hpp"
#include "coordinator/app/header_folders.hpp"
#include "coordinator/app/run_memory.hpp"
#include "coordinator/app/run_work.hpp"
#include "coordinator/app/worker_laboratory.hpp"
#include "coordinator/dispatch/bundle.hpp"
#include "coordinator/dispatch/worker_client.hpp"
#include "coordinator/llm/batch_folder.hpp"
#include "coordinator/llm/provider.hpp"
#include "coordinator/llm/role_llm.hpp"
#include "coordinator/search/search.hpp"
#include "coordinator/task/load.hpp"

namespace kernelpro {

namespace {

// An error when this machine has no energy counter for what the run looks for: said before anything
// is spent.
Status refuse_without_meter(const RunSettings& settings, std::stop_token stop) {
  const WorkerPlace& place = settings.workers.places.front();
  const int device = place.device.value_or(settings.judging.device);
  KP_LET(WorkerClient worker, WorkerClient::start(place, stop));
  KP_LET(const WorkerDescription machine, worker.describe(stop));
  std::string missing = fmt::format("there is no GPU {}", device);
  for (const MeterDescription& one : machine.meters) {
    const bool same_device = !traits_of(settings.judging.backend).gpu || one.device == device;
    if (one.backend == settings.judging.backend && same_device) {
      missing = one.missing;
    }
  }
  return missing.empty()
             ? Status()
             : make_error(ErrorKind::environment, "energy cannot be measured here: " + missing,
                          fmt::format("--objective {}", name_of(settings.objective)));
}

// What is to be shown of a model that is not asked: its name and the prompts.
Status check_shown(const LlmSettings& settings) {
  for (const LlmRole role : llm_roles()) {
    if (const std::string& spec = llm_of(settings, role); provider_of(spec) == nullptr) {
      return make_error(ErrorKind::bad_input,
                        fmt::format("expected {}, found \"{}\"", llm_forms(), spec), "--llm");
    }
  }
  const Result<Agents> agents = load_agents(settings);
  return agents ? Status() : Status(agents.error());
}

// A prompt or a key that is not there is said now, before anything is judged.
Status check_models(const LlmSettings& settings, bool asks_nobody = false) {
  if (settings.llm.empty()) {
    return make_error(
        ErrorKind::bad_input,
        "which model is to be asked? Options about models need --llm, such as --llm " +
            llm_forms());
  }
  return asks_nobody ? check_shown(settings) : check_llm(settings);
}

Status change_models(const RunChanges& changes, RunSettings& settings) {
  if (!changes.llm) {
    return {};
  }
  LlmSettings wanted = settings.llm.value_or(LlmSettings());
  changes.llm(wanted);
  KP_TRY(check_models(wanted));
  settings.llm = std::move(wanted);
  return {};
}

// Whether its models are asked by files or by a client, as many at once as the run is set to.
bool asks_by_files(const RunSettings& settings) {
  return settings.llm && (!batch_directories(*settings.llm).empty() ||
                          settings.llm->llm.starts_with(replay_scheme) ||
                          settings.llm->llm.starts_with(client_scheme));
}

// No worker waits for a proposal or a build: enough nodes are under way, and for each that ends
// another is proposed. On one processor builds and timings take turns anyway.
void keep_workers_busy(RunSettings& settings) {
  const std::size_t workers = settings.workers.places.size();
  if (settings.workers.scheme == WorkerScheme::live && !asks_by_files(settings) &&
      (workers > 1 || traits_of(settings.judging.backend).gpu)) {
    settings.in_flight = std::max(settings.in_flight, 2 * static_cast<int>(workers));
    settings.step = 1;
  }
}

// How many candidates go out together; none: as many as are in flight anyway.
Result<std::optional<int>> batch_size(const OptimizeRequest& request) {
  const RunSettings& settings = request.settings;
  constexpr int default_size = 16;
  if (settings.workers.scheme != WorkerScheme::live) {
    return std::optional(request.batch.value_or(default_size));
  }
  if (request.batch && !asks_by_files(settings)) {
    return make_error(ErrorKind::bad_input,
                      "--batch says how many candidates go out together: it needs --workers "
                      "bundle:FILE or --llm batch:DIR. Here it is --in-flight");
  }
  return request.batch;
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
  KP_LET(const Task now, load_task(path));
  if (task_hash(now) != run.task_hash) {
    return make_error(ErrorKind::bad_input,
                      fmt::format("the task has changed since run {} began; put it back, or start "
                                  "again with `kernelpro optimize {}`",
                                  run.id, run.task_path),
                      run.task_path);
  }
  return {};
}

// No move rewrites a PyTorch module: somebody has to write the first candidate.
Status check_beginning(const Run& run) {
  const bool module = std::ranges::any_of(run.task.baselines, [&](const ImplementationSpec& one) {
    return one.backend == run.settings.judging.backend && one.compiler == torch_compiler;
  });
  if (!module || run.settings.llm || !run.settings.starts.empty()) {
    return {};
  }
  return make_error(ErrorKind::bad_input,
                    "the baseline is a PyTorch module: give candidates to search from (--from "
                    "FILE), or a model that writes them (--llm)",
                    run.task.name);
}

}  // namespace

Status check_settings(const OptimizeRequest& request, std::stop_token stop) {
  const RunSettings& settings = request.settings;
  if (settings.llm) {
    KP_TRY(check_models(*settings.llm, request.asks_nobody));
  }
  KP_TRY(make_search(settings.search, settings.preset, settings.seed));
  Run moves;
  moves.settings = settings;
  KP_TRY(load_playbook(moves, {}));
  if (settings.workers.scheme == WorkerScheme::live) {
    KP_TRY(check_places(settings.workers.places, settings.judging));
  }
  if (settings.workers.scheme == WorkerScheme::bundle) {
    KP_TRY(Bundle::check_free(settings.workers.file));
  } else if (needs_energy(settings.objective)) {
    KP_TRY(refuse_without_meter(settings, stop));
  }
  const Result<std::optional<int>> batch = batch_size(request);
  return batch ? Status() : Status(batch.error());
}

Result<Run> planned_run(const OptimizeRequest& request, std::stop_token stop) {
  KP_LET(std::filesystem::path path, find_task(request.task));
  KP_LET(Task task, load_task(path));
  KP_TRY(check_settings(request, stop));
  KP_LET(const std::optional<int> batch, batch_size(request));
  Run run;
  run.settings = request.settings;
  run.settings.memory = memory_setting(request.settings);
  KP_LET(run.settings.judging.includes, pinned(header_folders(request.settings.judging, task)));
  for (const std::string& file : request.starts) {
    Result<Candidate> start = load_candidate(file, task, run.settings.judging.backend);
    if (!start) {
      return make_error(ErrorKind::bad_input, start.error().text(), "--from");
    }
    run.settings.starts.push_back(std::move(*start));
  }
  run.created = utc_now();
  run.program_version = KERNELPRO_VERSION;
  run.task_hash = task_hash(task);
  run.task = std::move(task);
  run.task_path = path.string();
  run.settings.in_flight = batch.value_or(run.settings.in_flight);
  keep_workers_busy(run.settings);
  KP_TRY(check_beginning(run));
  return run;
}

Result<OpenRun> new_run(const OptimizeRequest& request, std::stop_token stop) {
  KP_LET(Run run, planned_run(request, stop));
  KP_LET(Store store, Store::open(request.store, StoreMode::write));
  if (run.settings.memory.starts_with(memory_of_run)) {
    KP_TRY(store.load_recollection(run.settings.memory.substr(std::string(memory_of_run).size())));
  }
  KP_LET(RunLock lock, store.create_run(run));
  return OpenRun{std::move(store), std::move(run), std::move(lock), {}, false};
}

Result<OpenRun> old_run(const ResumeRequest& request) {
  KP_LET(Store store, Store::open(request.store, StoreMode::write));
  KP_LET(RunLock lock, store.lock_run(request.run));
  KP_LET(Run run, store.load_run(request.run));
  KP_TRY(check_unchanged(run));
  const std::int64_t before = run.settings.evaluations;
  const RunChanges& changes = request.changes;
  run.settings.evaluations = changes.evaluations.value_or(before);
  run.settings.seconds = changes.seconds.value_or(run.settings.seconds);
  run.settings.accept_suspect = run.settings.accept_suspect || changes.accept_suspect;
  const std::set<std::filesystem::path> folders =
      run.settings.llm ? batch_directories(*run.settings.llm) : std::set<std::filesystem::path>();
  KP_TRY(change_models(changes, run.settings));
  // Kept before they take effect: a kill must not leave what they led to without them, and what
  // goes on is not finished.
  Run kept = run;
  if (changes.evaluations || changes.seconds) {
    kept.state = RunState::running;
  }
  KP_TRY(store.save_run(kept));
  leave_folders(run, folders);
  Result<std::vector<Node>> nodes = store.load_nodes(request.run);
  Result<std::vector<Closure>> closures = store.load_closures(request.run);
  if (!nodes || !closures) {
    return nodes ? closures.error() : nodes.error();
  }
  KP_LET(std::optional<Recollection> told, store.load_recollection(request.run));
  const bool larger = run.settings.evaluations > before;
  return OpenRun{std::move(store),
                 std::move(run),
                 std::move(lock),
                 {std::move(*nodes), std::move(*closures), std::move(told)},
                 larger};
}

}  // namespace kernelpro
