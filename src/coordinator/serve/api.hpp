// What the service answers: schemas/openapi.json. On the server's thread alone, but for `hear`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "coordinator/http/gate.hpp"
#include "coordinator/http/server.hpp"
#include "coordinator/serve/events.hpp"
#include "coordinator/serve/judges.hpp"
#include "coordinator/serve/queue.hpp"
#include "coordinator/serve/wish.hpp"

namespace kernelpro::serve {

struct ApiParts {
  std::filesystem::path store;  // of runs
  http::Gate* gate = nullptr;
  Queue* queue = nullptr;
  std::map<std::string, http::Mount*> mounts = {};  // NOLINT(readability-redundant-member-init)
};

class Api : public http::Handler {
 public:
  // An error where the description of the service cannot be read.
  [[nodiscard]] static Result<std::unique_ptr<Api>> make(ApiParts parts);
  ~Api() override;

  // Who judges, once they are there: they tell the API what happens.
  void judge_with(Judges& judges) { judges_ = &judges; }
  // From any thread; somebody must wake the server then.
  void hear(WorkNews news);

  void take(const std::shared_ptr<http::Exchange>& exchange) override;
  int tick() override;
  [[nodiscard]] std::vector<int> watched() const override;

  // Somebody asked for the end, and nothing is under way.
  [[nodiscard]] bool drained() const;

 private:
  using Exchange = std::shared_ptr<http::Exchange>;
  struct Description;
  struct Waiter {
    Exchange exchange;
    std::vector<std::string> ids;
    std::int64_t until_ns = 0;
    bool one = false;       // the standing itself is the answer, not a list
    std::size_t ended = 0;  // so many of the first ids are known to be done
  };

  Api(ApiParts parts, std::unique_ptr<Description> description);

  void route(const Exchange& exchange, const http::Caller& caller);
  void answer(const Exchange& exchange, int status, const nlohmann::json& body,
              std::vector<http::Header> headers = {});
  void refuse(const Exchange& exchange, int status, const std::string& why,
              std::vector<http::Header> headers = {});
  void refuse(const Exchange& exchange, const Error& error);

  // Work that is asked for and looked at: api_work.cpp.
  void accept(const Exchange& exchange, const http::Caller& caller, const std::string& kind);
  [[nodiscard]] Result<std::vector<NewWork>> works_of(const nlohmann::json& body,
                                                      const std::string& kind);
  void refuse_full(const Exchange& exchange, const Accepted& accepted);
  void answer_or_wait(Waiter waiter);
  [[nodiscard]] bool look_after(Waiter& waiter, bool last);
  void answer_standings(const Waiter& waiter);
  void show_result(const Exchange& exchange, const http::Caller& caller, std::string rest);
  [[nodiscard]] std::int64_t seconds_until_room() const;
  void tell_news(const WorkNews& news);

  // Everything else: api_look.cpp.
  void show_health(const Exchange& exchange);
  void show_metrics(const Exchange& exchange);
  void show_runs(const Exchange& exchange, const std::string& rest);
  void diagnose_node(const Exchange& exchange, const nlohmann::json& body);
  void drain(const Exchange& exchange, const http::Caller& caller);

  ApiParts parts_;
  std::unique_ptr<Description> description_;
  Judges* judges_ = nullptr;
  Register tasks_;
  Events events_;
  std::vector<Waiter> waiters_;
  std::mutex news_mutex_;
  std::vector<WorkNews> news_;
  std::map<int, std::int64_t> answers_;  // by status
  std::string unready_;                  // why nothing can be judged; empty: it can, or will
  bool draining_ = false;
};

}  // namespace kernelpro::serve
