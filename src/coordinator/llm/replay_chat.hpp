// Answers from a recording: no model is asked.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/llm.hpp"
#include "coordinator/llm/chat.hpp"
#include "coordinator/llm/dialect.hpp"
#include "coordinator/llm/role_llm.hpp"

namespace kernelpro {

class ReplayChat : public Chat {
 public:
  // Of a transcript (transcript.hpp).
  [[nodiscard]] static Result<std::unique_ptr<ReplayChat>> open(const std::filesystem::path& file);

  [[nodiscard]] std::string provider() const override { return std::string(replay_name); }
  [[nodiscard]] std::string body(const ChatRequest& request) const override;
  // By the id alone: a request that is not the recorded one is answered too, and counted. A failure
  // comes back as a failure; a call that was not recorded ends the run.
  [[nodiscard]] Tried try_once(const std::string& id, const ChatRequest& request,
                               const TextListener& listener, std::stop_token stop) override;

  [[nodiscard]] std::int64_t differing() const override { return differing_; }
  // That the recorded run asked for in this role; "" where it had none.
  [[nodiscard]] std::string model(LlmRole role) const;

 private:
  struct Recorded {
    std::string request_hash;
    std::string answer;  // JSON; empty: it failed
    std::string failure;
    const Dialect* dialect = nullptr;  // whose form the request has; none: OpenAI's
    bool cost = false;                 // of a failure: whether tokens were charged
  };

  ReplayChat(std::filesystem::path file, const std::vector<LlmCall>& calls);
  [[nodiscard]] Error not_recorded(const std::string& id) const;

  std::filesystem::path file_;
  std::map<std::string, std::unique_ptr<Dialect>> dialects_;  // by provider
  std::map<std::string, Recorded> calls_;
  std::map<LlmRole, std::string> models_;
  std::string last_;  // the id of the last call in the file
  std::atomic<std::int64_t> differing_ = 0;
};

}  // namespace kernelpro
