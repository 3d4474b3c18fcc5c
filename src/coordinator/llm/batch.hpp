// Requests handed out in a folder, and answers found there: by a batch API, a person or an agent.
//
//   requests.jsonl     the open requests of all runs that share the folder, in OpenAI's Batch form
//   responses*.jsonl   the answers, in any order; put there by whoever answers
//   runs               the names of the runs that share the folder; locked while requests are
//   written
#pragma once

#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/llm.hpp"
#include "coordinator/llm/batch_folder.hpp"
#include "coordinator/llm/batch_id.hpp"
#include "coordinator/llm/batch_responses.hpp"
#include "coordinator/llm/chat.hpp"

namespace kernelpro {

class BatchChat : public Chat {
 public:
  // `kept`: the calls of the run so far. Those that wait stay handed out, with the bytes they were
  // handed out with; an answer to any of them is known.
  BatchChat(std::filesystem::path directory, std::string run, const std::vector<LlmCall>& kept);

  [[nodiscard]] std::string provider() const override { return "batch"; }
  [[nodiscard]] std::string body(const ChatRequest& request) const override;
  // Not yet, unless the answer lies in the folder; the folder is read once, when first needed. A
  // request whose answer is an error is handed out again, three times in all.
  [[nodiscard]] Tried try_once(const std::string& id, const ChatRequest& request,
                               const TextListener& listener, std::stop_token stop) override;
  // Writes the requests of this run that are open; those of other runs stay as they are.
  [[nodiscard]] Status hand_out() override;

 private:
  struct Request {
    std::string call;
    std::string body;
    std::string hash;
    int attempt = 1;
    bool open = true;
  };

  Request& add(const std::string& call, std::string body);
  [[nodiscard]] Request* find(const std::string& call);
  [[nodiscard]] Status read_folder();
  [[nodiscard]] Status check_open(const std::vector<BatchId>& open);
  // What the folder has for the request; a failure where every attempt failed.
  [[nodiscard]] Tried look_up(Request& request);
  [[nodiscard]] BatchId id_of(const Request& request) const;
  [[nodiscard]] std::string line_of(const Request& request) const;

  BatchFolder folder_;
  std::string run_;
  std::mutex mutex_;
  std::vector<Request> requests_;  // in the order they were asked in
  BatchIds known_;
  std::optional<BatchResponses> responses_;  // none: not read yet
};

}  // namespace kernelpro
