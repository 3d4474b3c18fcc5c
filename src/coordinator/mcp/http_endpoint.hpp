// The protocol over streamable HTTP: one path, each message a POST of its own.
//
// Of 2026-07-28 every POST stands alone, and a client that closes its answer cancels the request.
// Of 2025-11-25 `initialize` begins a session, which the header Mcp-Session-Id names from then on.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "coordinator/http/mount.hpp"
#include "coordinator/mcp/job_processes.hpp"
#include "coordinator/mcp/session.hpp"

namespace kernelpro::mcp {

class HttpEndpoint : public http::Mount {
 public:
  // `remote` of the settings is set for each caller: only admins may have code run outside the
  // sandbox. Without a launcher jobs are processes of our own.
  explicit HttpEndpoint(SessionSettings settings);
  ~HttpEndpoint() override;

  void take(const std::shared_ptr<http::Exchange>& exchange, const http::Caller& caller) override;
  int tick() override;
  [[nodiscard]] std::vector<int> watched() const override { return processes_.news(); }

 private:
  using Exchange = std::shared_ptr<http::Exchange>;
  struct Talk;  // a session, and who waits for its answers
  using Sessions = std::map<std::string, std::unique_ptr<Talk>>;

  void take_modern(const Exchange& exchange, const http::Caller& caller,
                   const nlohmann::json& message);
  void take_legacy(const Exchange& exchange, const http::Caller& caller,
                   const nlohmann::json& message);
  void end_session(const Exchange& exchange, const http::Caller& caller);
  [[nodiscard]] std::unique_ptr<Talk> begin_talk(const http::Caller& caller);
  static void post(Talk& talk, const Exchange& exchange, const nlohmann::json& message);
  void remove_oldest(const http::Caller& caller);

  SessionSettings settings_;
  JobProcesses processes_;
  Sessions sessions_;
  std::vector<std::unique_ptr<Talk>> lone_;  // of single requests that are not answered yet
};

}  // namespace kernelpro::mcp
