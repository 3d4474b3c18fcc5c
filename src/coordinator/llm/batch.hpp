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
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/model/llm.hpp"
#include "coordinator/llm/batch_folder.hpp"
#include "coordinator/llm/batch_id.hpp"
#include "coordinator/llm/batch_responses.hpp"
#include "coordinator/llm/chat.hpp"
#include "coordinator/llm/role_llm.hpp"

namespace kernelpro {

// What a batch asks for where nobody says which model it should be.
inline constexpr std::string_view any_model = "any";

class BatchChat : public Chat {
 public:
  // `kept`: the calls of the run so far. Those of `roles` that wait stay handed out, as they were
  // asked; an answer to any of them is known.
  BatchChat(std::filesystem::path directory, std::string run, const std::vector<LlmCall>& kept,
            const std::vector<LlmRole>& roles = llm_roles());

  [[nodiscard]] std::string provider() const override { return std::string(batch_name); }
  [[nodiscard]] std::string body(const ChatRequest& request) const override;
  // Not yet, unless the answer lies in the folder; the folder is read once, when first needed. A
  // request whose answer is an error is handed out again, three times in all. One that waits is
  // handed out with the model, temperature and limit that are wanted now.
  [[nodiscard]] Tried try_once(const std::string& id, const ChatRequest& request,
                               const TextListener& listener, std::stop_token stop) override;
  // Writes the requests of this run that are open; those of other runs stay as they are.
  [[nodiscard]] Status hand_out() override;

  // Which answers in the folder are errors and what becomes of their requests, each reason once.
  [[nodiscard]] std::vector<std::string> remarks() override;

 private:
  struct Request {
    std::string call;
    std::string body;
    std::string hash;
    std::string whole_hash;
    bool by_whole_hash = false;  // it was handed out under a name with that
    int attempt = 1;
    bool open = true;
    std::string failure;  // of the last answer, if that is an error
    std::string place;    // where it stands
  };

  Request& add(const std::string& call, std::string body);
  [[nodiscard]] Request* find(const std::string& call);
  [[nodiscard]] Status read_folder();
  [[nodiscard]] Status check_open(const std::vector<BatchId>& open);
  // What the folder has for the request; a failure where every attempt failed.
  [[nodiscard]] Tried look_up(Request& request);
  [[nodiscard]] const BatchResponse* response_to(const Request& request, int attempt) const;
  static void renew(Request& request, const std::string& wanted);
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
