// Where runs are kept: one SQLite file for all of them, sources by hash beside it.
//
// Every change is on disk when the call returns, so a kill at any moment loses at most the
// evaluation under way. One process at a time writes to a run; any number may read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/certificate.hpp"
#include "common/model/lesson.hpp"
#include "common/model/llm.hpp"
#include "common/model/run.hpp"

namespace kernelpro {

// The store of the current project: `given`, else KERNELPRO_STORE, else .kernelpro in the nearest
// folder upwards that has one, else ./.kernelpro.
[[nodiscard]] std::filesystem::path store_directory(const std::filesystem::path& given);

// A run as `runs` lists it, without its task and nodes.
struct RunSummary {
  std::string id;
  std::string task;
  std::string created;
  RunState state = RunState::running;
  bool locked = false;  // a process is working on it now
  std::string search;
  std::int64_t evaluations = 0;  // judged so far, the root aside
  std::int64_t budget = 0;
  double best_speedup = 0;
  bool best_at_least = false;  // the truth is at least that
  NodeId best = no_node;
};

// Held by the one process that writes to a run; given back when it ends, however it ends.
class RunLock {
 public:
  RunLock(RunLock&&) noexcept;
  RunLock& operator=(RunLock&&) noexcept;
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;
  ~RunLock();

 private:
  friend class Store;
  explicit RunLock(int fd) : fd_(fd) {}
  int fd_ = -1;
};

enum class StoreMode { read, write };

class Store {
 public:
  // Write mode makes the folder and the file where they are missing. Errors say what is wrong with
  // the place: read-only, full, made by a newer version, not a store, network file system locks.
  [[nodiscard]] static Result<Store> open(const std::filesystem::path& directory, StoreMode mode);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  // What people should know about this place: "on a network file system (nfs): no write-ahead log".
  [[nodiscard]] const std::vector<std::string>& notices() const;
  [[nodiscard]] const std::filesystem::path& directory() const;

  // Sets run.id to a free "<task>-<n>" and writes it. The lock is taken with it.
  [[nodiscard]] Result<RunLock> create_run(Run& run);
  // An error of kind bad_input names the runs there are; of kind environment, who holds the lock.
  [[nodiscard]] Result<RunLock> lock_run(const std::string& id);
  [[nodiscard]] Result<Run> load_run(const std::string& id) const;
  [[nodiscard]] Status save_run(const Run& run);  // what changes as it goes on
  [[nodiscard]] Result<std::vector<RunSummary>> list_runs() const;
  // Removes a run and all that only it has. Sources of it stay while somebody works on another run.
  // Errors are those of lock_run. The lock's file stays: whoever waits for it must meet the same
  // one.
  [[nodiscard]] Status remove_run(const std::string& id);

  // Writes the source (by hash) and the node, in flight.
  [[nodiscard]] Status add_node(const std::string& run, const Node& node,
                                const std::string& source);
  // Writes the node, whose candidate is not there yet.
  [[nodiscard]] Status choose_node(const std::string& run, const Node& node);
  // The candidate of a node that was chosen.
  [[nodiscard]] Status write_node(const std::string& run, const Node& node,
                                  const std::string& source);
  // The verdict, or that it is a duplicate. With a certificate, that is kept too.
  [[nodiscard]] Status finish_node(const std::string& run, const Node& node,
                                   const Certificate* certificate);
  [[nodiscard]] Status add_closure(const std::string& run, const Closure& closure);

  [[nodiscard]] Result<std::vector<Node>> load_nodes(const std::string& run) const;
  [[nodiscard]] Result<Node> load_node(const std::string& run, NodeId node) const;
  [[nodiscard]] Result<std::vector<Closure>> load_closures(const std::string& run) const;
  [[nodiscard]] Result<std::string> load_source(const std::string& hash) const;
  // Absent for nodes without one (duplicates, in flight).
  [[nodiscard]] Result<std::optional<Certificate>> load_certificate(const std::string& run,
                                                                    NodeId node) const;

  // What the run was told of others; none where it was never asked for.
  [[nodiscard]] Status keep_recollection(const std::string& run, const Recollection& recollection);
  [[nodiscard]] Result<std::optional<Recollection>> load_recollection(const std::string& run) const;

  // Added, or written over where the run has one of that id.
  [[nodiscard]] Status keep_llm_call(const std::string& run, const LlmCall& call);
  // In the order in which they were first kept.
  [[nodiscard]] Result<std::vector<LlmCall>> load_llm_calls(const std::string& run) const;

 private:
  struct Inner;
  explicit Store(std::unique_ptr<Inner> inner);
  std::unique_ptr<Inner> inner_;
};

}  // namespace kernelpro
