// Talks to a kernelpro-worker over its standard input and output.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "common/base/process.hpp"
#include "common/base/result.hpp"
#include "common/model/orders.hpp"
#include "common/model/workers.hpp"
#include "common/wire/worker_line.hpp"
#include "coordinator/dispatch/slurm_job.hpp"

namespace kernelpro {

using EventListener = std::function<void(const WorkerEvent&)>;

class WorkerClient {
 public:
  // Starts `program`; empty: the worker that lies beside this program.
  [[nodiscard]] static Result<WorkerClient> start(const std::filesystem::path& program = {});
  // At a place: here, by its command, which a shell reads, or in a job of a cluster. What is not
  // here must answer within a minute (KERNELPRO_WORKER_TIMEOUT_MS), a job after it has begun, and
  // be of our own version.
  [[nodiscard]] static Result<WorkerClient> start(const WorkerPlace& place,
                                                  std::stop_token stop = {});
  WorkerClient(WorkerClient&&) noexcept = default;
  WorkerClient& operator=(WorkerClient&&) noexcept = delete;
  WorkerClient(const WorkerClient&) = delete;
  WorkerClient& operator=(const WorkerClient&) = delete;
  // Asks the worker to stop what it does and waits for its end: it has folders to remove.
  ~WorkerClient();

  [[nodiscard]] pid_t pid() const { return process_.pid(); }
  void on_event(EventListener listener) { listener_ = std::move(listener); }

  // How one that is not here described itself when it came up, and where it stands: "job 17 on n2".
  [[nodiscard]] const WorkerDescription& greeting() const { return greeting_; }
  [[nodiscard]] const std::string& where() const { return where_; }
  // Whether it died because its cluster took the node away: no job of ours is to blame.
  [[nodiscard]] bool was_taken_away() const { return taken_away_; }

  [[nodiscard]] Result<WorkerDescription> describe(std::stop_token stop = {});
  [[nodiscard]] Result<Ceilings> ceilings(const CeilingsOrder& order, std::stop_token stop = {});
  [[nodiscard]] Result<Opened> open(const OpenOrder& order, std::stop_token stop = {});
  // Builds ahead, several at once, so that no build stands between two timings. One entry each.
  [[nodiscard]] Result<std::vector<BuildSummary>> build(const std::vector<Candidate>& candidates,
                                                        std::stop_token stop = {});
  [[nodiscard]] Result<Evaluated> evaluate(const EvaluateOrder& order, std::stop_token stop = {});
  [[nodiscard]] Result<Diagnosed> diagnose(const DiagnoseOrder& order, std::stop_token stop = {});
  [[nodiscard]] Result<std::vector<LintFinding>> check(std::stop_token stop = {});

 private:
  explicit WorkerClient(ChildProcess process) : process_(std::move(process)) {}
  [[nodiscard]] static Result<WorkerClient> start(std::vector<std::string> arguments);
  [[nodiscard]] static Result<WorkerClient> start_in_job(const SlurmPlace& place,
                                                         std::stop_token stop);
  // Its first answer. An error when it is of another version.
  [[nodiscard]] Status greet(const std::string& command, std::stop_token stop);
  [[nodiscard]] Status greet_job(std::int64_t wait_ms, std::stop_token stop);
  // Keeps what it says of itself; `where` it stands, for messages.
  [[nodiscard]] Status check_description(const JsonObject& answer, std::string where);
  void leave_job();
  // Sends one request and waits for its reply. A worker that dies is an error of kind `lost`.
  [[nodiscard]] Result<JsonObject> ask(WorkerOp op, const nlohmann::json& body,
                                       std::stop_token stop);
  // The two halves of that: the id of what was sent, and the reply to it.
  [[nodiscard]] Result<std::int64_t> send(WorkerOp op, const nlohmann::json& body,
                                          std::stop_token stop);
  [[nodiscard]] Result<JsonObject> await_reply(std::int64_t id, std::int64_t timeout_ms,
                                               std::stop_token stop);

  // Remembers what an error says of the worker.
  [[nodiscard]] Error noted(Error error);

  // The worker's own limits end every piece of work long before.
  static constexpr std::int64_t answer_timeout_ms = 60LL * 60 * 1000;

  ChildProcess process_;
  std::optional<SlurmJob> job_;  // that it runs in
  WorkerDescription greeting_;
  std::string where_;
  EventListener listener_;
  OpenOrder order_;       // of the task that is open
  bool stopped_ = false;  // a stop was asked for while it worked
  bool lost_ = false;     // it died
  bool taken_away_ = false;
  bool shared_ = false;  // its node may have other jobs
  std::int64_t next_id_ = 0;
};

}  // namespace kernelpro
