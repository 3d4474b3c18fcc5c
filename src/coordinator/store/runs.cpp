// Runs: their rows, their locks and the list of them.
#include <fmt/format.h>

#include <cctype>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/base/paths.hpp"
#include "common/wire/json.hpp"
#include "common/wire/run_json.hpp"
#include "coordinator/store/certificate_parts.hpp"
#include "coordinator/store/inner.hpp"
#include "coordinator/store/place.hpp"
#include "coordinator/store/rankings.hpp"
#include "coordinator/store/run_lock.hpp"

namespace kernelpro {

using store::Rows;
using store::Transaction;

namespace {

// Enough to recognize the one that was meant.
constexpr int runs_named = 20;

Error damaged(const store::Database& database, const std::string& run, const std::string& what) {
  return make_error(
      ErrorKind::io,
      fmt::format("the {} of the run {} cannot be read; put a copy of the store back", what, run),
      database.file().string());
}

// The task's name as a part of a file's name.
std::string plain_name(std::string name) {
  for (char& letter : name) {
    const bool plain =
        std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_' || letter == '-';
    letter = plain ? letter : '_';
  }
  return name.empty() ? "run" : name;
}

// The first "<name>-<n>" after those there were.
Result<std::string> free_id(store::Database& database, const std::string& name) {
  KP_LET(const std::int64_t highest,
         database.select_integer(
             "SELECT coalesce(max(CAST(substr(id, length(?1) + 2) AS INTEGER)), 0) FROM runs "
             "WHERE substr(id, 1, length(?1) + 1) = ?1 || '-'",
             {name}));
  return fmt::format("{}-{}", name, highest + 1);
}

Result<RunSettings> read_settings(const std::string& text) {
  const Result<nlohmann::json> json = parse_json(text);
  return json ? run_settings_from_json(*json) : json.error();
}

// "batch:DIR" and "replay:FILE" with another path; other models as they are.
template <typename Change>
void change_model(std::string& model, const Change& change) {
  for (const std::string scheme : {"batch:", "replay:"}) {
    if (model.starts_with(scheme)) {
      model = scheme + change(model.substr(scheme.size()));
    }
  }
}

// The settings with every path in them changed.
template <typename Change>
RunSettings with_paths(RunSettings settings, const Change& change) {
  const auto change_file = [&change](std::string& path) {
    path = path.empty() ? path : change(path);
  };
  std::string file = settings.workers.file.string();
  change_file(file);
  settings.workers.file = file;
  if (const std::string& memory = settings.memory;
      memory != "on" && memory != "off" && !memory.starts_with("run:")) {
    change_file(settings.memory);
  }
  if (settings.llm) {
    change_model(settings.llm->llm, change);
    for (auto& [role, own] : settings.llm->roles) {
      change_model(own.llm, change);
    }
    change_file(settings.llm->key_file);
    change_file(settings.llm->prompts);
  }
  return settings;
}

// A store and what it names can be moved together: it keeps paths as seen from the folder it lies
// in.
std::string kept_settings(const RunSettings& settings, const std::filesystem::path& folder) {
  return to_json(with_paths(settings,
                            [&folder](const std::string& path) { return kept_path(path, folder); }))
      .dump();
}

Result<Task> read_task(const std::string& text) {
  const Result<nlohmann::json> json = parse_json(text);
  return json ? task_from_json(*json) : json.error();
}

// A file that an older program made may lack the column where it may only be read.
Result<std::int64_t> final_phases(store::Database& database, std::int64_t key) {
  const Result<bool> there = database.has_column("runs", "final_phases");
  if (!there || !*there) {
    return there ? Result<std::int64_t>(0) : there.error();
  }
  return database.select_integer("SELECT final_phases FROM runs WHERE key = ?1", {key});
}

// A finished run has said itself which is the best.
Status fill_said_best(store::Database& database, std::int64_t key, NodeId best,
                      RunSummary& summary) {
  KP_LET(Rows rows,
         database.select("SELECT speedup FROM nodes WHERE run = ?1 AND id = ?2", {key, best}));
  const Result<bool> found = rows.next();
  if (!found || !*found) {
    return found ? Status() : found.error();
  }
  summary.best = best;
  summary.best_speedup = rows.number(0);
  return {};
}

Status fill_fastest(store::Database& database, std::int64_t key, const RunSettings& settings,
                    RunSummary& summary) {
  KP_LET(Rows rows,
         database.select(
             "SELECT id, speedup, suspect, precision FROM nodes "
             "WHERE run = ?1 AND state = 'judged' AND outcome = 'passed' ORDER BY speedup DESC",
             {key}));
  while (true) {
    const Result<bool> more = rows.next();
    if (!more || !*more) {
      return more ? Status() : more.error();
    }
    if (may_be_best(settings, rows.truth(2), rows.text(3))) {
      summary.best = rows.integer(0);
      summary.best_speedup = rows.number(1);
      return {};
    }
  }
}

// Whether the best's speed-up is the least that it can be.
Status fill_at_least(store::Database& database, std::int64_t key, RunSummary& summary) {
  const Result<bool> there = database.has_column("nodes", "at_least");
  if (!there || !*there || summary.best == no_node) {
    return there ? Status() : there.error();
  }
  KP_LET(const std::int64_t at_least,
         database.select_integer("SELECT at_least FROM nodes WHERE run = ?1 AND id = ?2",
                                 {key, summary.best}));
  summary.best_at_least = at_least != 0;
  return {};
}

// A run that nobody works on does not run: who did so was killed.
RunState state_now(RunState kept, bool locked) {
  return kept == RunState::running && !locked ? RunState::interrupted : kept;
}

// The present row of list_runs.
Result<RunSummary> read_summary(store::Database& database, const Rows& row) {
  const std::int64_t key = row.integer(0);
  RunSummary summary;
  summary.id = row.text(1);
  summary.task = row.text(2);
  summary.created = row.text(3);
  const std::optional<RunState> state = parse_run_state(row.text(4));
  const Result<RunSettings> settings = read_settings(row.text(5));
  if (!state || !settings) {
    return damaged(database, summary.id, state ? "settings" : "state");
  }
  summary.state = *state;
  summary.search = settings->search;
  summary.budget = settings->evaluations;
  KP_LET(const std::int64_t judged,
         database.select_integer(
             "SELECT count(*) FROM nodes WHERE run = ?1 AND state = 'judged' AND id > 0 "
             "AND outcome <> 'not_judged'",
             {key}));
  summary.evaluations = judged;
  KP_TRY(summary.state == RunState::finished
             ? fill_said_best(database, key, row.integer(6), summary)
             : fill_fastest(database, key, *settings, summary));
  KP_TRY(fill_at_least(database, key, summary));
  return summary;
}

}  // namespace

Error Store::Inner::unknown_run(const std::string& run) {
  // Without the index, which may be what does not know it.
  KP_LET(const std::int64_t there,
         database.select_integer("SELECT count(*) FROM runs NOT INDEXED WHERE id = ?1", {run}));
  if (there > 0) {
    return make_error(ErrorKind::io,
                      fmt::format("damaged (an index has lost the run {}): put a copy of it back, "
                                  "or make the index anew with: sqlite3 {} REINDEX",
                                  run, database.file().string()),
                      database.file().string());
  }
  Result<Rows> rows =
      database.select("SELECT id FROM runs ORDER BY key DESC LIMIT ?1", {std::int64_t{runs_named}});
  std::string names;
  while (rows) {
    const Result<bool> more = rows->next();
    if (!more || !*more) {
      break;
    }
    names += (names.empty() ? "" : ", ") + rows->text(0);
  }
  return make_error(ErrorKind::bad_input,
                    names.empty()
                        ? fmt::format("there is no run '{}', and no other yet", run)
                        : fmt::format("there is no run '{}'; the latest are {}", run, names),
                    directory.string());
}

Result<std::int64_t> Store::Inner::run_key(const std::string& run) {
  KP_LET(Rows rows, database.select("SELECT key FROM runs WHERE id = ?1", {run}));
  KP_LET(const bool found, rows.next());
  return found ? Result<std::int64_t>(rows.integer(0)) : unknown_run(run);
}

Result<RunLock> Store::create_run(Run& run) {
  store::Database& database = inner_->database;
  KP_LET(Transaction transaction, Transaction::begin(database));
  KP_LET(const std::string id, free_id(database, plain_name(run.task.name)));
  KP_LET(UniqueFd lock, store::take_lock(store::lock_file(inner_->directory, id), id));
  const store::HashedText task = store::hashed(to_json(run.task).dump());
  KP_TRY(inner_->keep_document(task.hash, task.text));
  KP_TRY(database.execute(
      "INSERT INTO runs (id, task_name, created, program_version, task, task_hash, task_path, "
      "settings, state, best, ended_because, wall_ns, work_ns, machine) "
      "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
      {id, run.task.name, run.created, run.program_version, task.hash, run.task_hash,
       run.task_path.empty() ? "" : kept_path(run.task_path, inner_->folder()),
       kept_settings(run.settings, inner_->folder()), name_of(run.state), run.best,
       run.ended_because, run.wall_ns, run.work_ns, run.machine}));
  KP_TRY(transaction.commit());
  run.id = id;
  return RunLock(lock.release());
}

Result<RunLock> Store::lock_run(const std::string& id) {
  KP_TRY(inner_->run_key(id));
  KP_LET(UniqueFd lock, store::take_lock(store::lock_file(inner_->directory, id), id));
  return RunLock(lock.release());
}

Result<Run> Store::load_run(const std::string& id) const {
  KP_LET(Rows rows,
         inner_->database.select(
             "SELECT created, program_version, json, task_hash, task_path, settings, state, "
             "ended_because, wall_ns, work_ns, machine, best, key "
             "FROM runs JOIN documents ON documents.hash = runs.task WHERE id = ?1",
             {id}));
  KP_LET(const bool found, rows.next());
  if (!found) {
    return inner_->unknown_run(id);
  }
  Run run;
  run.id = id;
  run.created = rows.text(0);
  run.program_version = rows.text(1);
  Result<Task> task = read_task(rows.text(2));
  if (!task) {
    return damaged(inner_->database, id, "task");
  }
  run.task = std::move(*task);
  run.task_hash = rows.text(3);
  const auto find = [folder = inner_->folder()](const std::string& path) {
    return found_path(path, folder).string();
  };
  run.task_path = rows.text(4).empty() ? "" : find(rows.text(4));
  Result<RunSettings> settings = read_settings(rows.text(5));
  const std::optional<RunState> state = parse_run_state(rows.text(6));
  if (!settings || !state) {
    return damaged(inner_->database, id, settings ? "state" : "settings");
  }
  run.settings = with_paths(*std::move(settings), find);
  run.state = state_now(*state, store::is_locked(store::lock_file(inner_->directory, id)));
  run.ended_because = rows.text(7);
  run.wall_ns = rows.integer(8);
  run.work_ns = rows.integer(9);
  run.machine = rows.text(10);
  run.best = rows.integer(11);
  KP_LET(run.final_phases, final_phases(inner_->database, rows.integer(12)));
  Result<std::vector<Finalist>> ranking = store::find_ranking(inner_->database, rows.integer(12));
  if (!ranking) {
    return damaged(inner_->database, id, "ranking");
  }
  run.ranking = std::move(*ranking);
  return run;
}

Status Store::save_run(const Run& run) {
  KP_TRY(inner_->database.execute(
      "UPDATE runs SET settings = ?2, state = ?3, ended_because = ?4, wall_ns = ?5, work_ns = ?6, "
      "best = ?7, final_phases = ?8 WHERE id = ?1",
      {run.id, kept_settings(run.settings, inner_->folder()), name_of(run.state), run.ended_because,
       run.wall_ns, run.work_ns, run.best, run.final_phases}));
  if (inner_->database.changed_rows() == 0) {
    return inner_->unknown_run(run.id);
  }
  const Result<std::int64_t> key = inner_->run_key(run.id);
  return key ? store::keep_ranking(inner_->database, *key, run.ranking) : Status(key.error());
}

Result<std::vector<RunSummary>> Store::list_runs() const {
  KP_LET(Rows rows,
         inner_->database.select(
             "SELECT key, id, task_name, created, state, settings, best FROM runs ORDER BY key"));
  std::vector<RunSummary> summaries;
  while (true) {
    KP_LET(const bool more, rows.next());
    if (!more) {
      return summaries;
    }
    KP_LET(RunSummary summary, read_summary(inner_->database, rows));
    summary.locked = store::is_locked(store::lock_file(inner_->directory, summary.id));
    summary.state = state_now(summary.state, summary.locked);
    summaries.push_back(std::move(summary));
  }
}

}  // namespace kernelpro
