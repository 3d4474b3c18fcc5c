#include "coordinator/llm/batch_responses.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <system_error>
#include <vector>

#include "coordinator/llm/chat_json.hpp"
#include "coordinator/llm/json_lines.hpp"
#include "coordinator/llm/json_parts.hpp"
#include "coordinator/llm/openai_form.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int ok_status = 200;
constexpr const char* expected_form =
    R"({"custom_id": …, "response": {"status_code": 200, "body": {"model": …, "choices": )"
    R"([{"message": {"content": …}, "finish_reason": "stop"}]}}})";

Error wrong(const std::string& place, std::string message) {
  return make_error(ErrorKind::bad_input, std::move(message), place);
}

Result<std::vector<fs::path>> response_files(const fs::path& directory) {
  std::vector<fs::path> files;
  std::error_code error;
  if (!fs::exists(directory, error)) {
    return files;
  }
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.starts_with("responses") && name.ends_with(".jsonl")) {
      files.push_back(at->path());
    }
  }
  if (error) {
    return make_error(ErrorKind::io, "the folder of the batch cannot be read: " + error.message(),
                      directory.string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// null, false, "", {}, {"message": null}: as others write that there is none.
bool says_nothing(const json& value) {
  if (value.is_structured()) {
    return std::all_of(value.begin(), value.end(), says_nothing);
  }
  return value.is_null() || value == false ||
         (value.is_string() && value.get_ref<const std::string&>().empty());
}

// What an error says, in whatever form it is given; empty where there is none.
std::string error_text(const json& error) {
  if (says_nothing(error)) {
    return {};
  }
  const std::string message =
      error.is_string() ? error.get<std::string>() : text_part(error, "message");
  return message.empty() ? error.dump(-1, ' ', false, json::error_handler_t::replace) : message;
}

// The whole of a line but its id.
Result<BatchResponse> response_of(const JsonLine& line) {
  BatchResponse response{.answer = {}, .failure = {}, .place = line.place};
  const json& given = part(line.json, "response");
  if (const std::string error = error_text(part(line.json, "error")); !error.empty()) {
    response.failure = error;
    return response;
  }
  if (!given.is_object()) {
    return wrong(line.place,
                 part(line.json, "result").is_object()
                     ? std::string("this is a result of Anthropic's batches: expected the form of "
                                   "OpenAI's, ") +
                           expected_form
                     : R"(it has neither a "response" nor an "error")");
  }
  const json& status = part(given, "status_code");
  const json& body = part(given, "body");
  if (!status.is_number_integer()) {
    return wrong(line.place, R"("response" has no "status_code", expected 200 for an answer)");
  }
  if (status.get<std::int64_t>() != ok_status) {
    const std::string said = error_text(part(body, "error"));
    response.failure =
        fmt::format("status {}{}", status.get<std::int64_t>(), said.empty() ? "" : ": " + said);
    return response;
  }
  Result<ChatAnswer> answer = answer_from_completion(body);
  if (!answer && (!says_nothing(part(body, "error")) || part(body, "choices").is_array())) {
    // It is a provider's, without an answer in it.
    const std::string said = error_text(part(body, "error"));
    response.failure = said.empty() ? "there is no answer among its \"choices\"" : said;
    return response;
  }
  if (!answer) {
    return wrong(line.place, "the body of the response: " + answer.error().text());
  }
  response.answer = std::move(*answer);
  return response;
}

bool same_answer(const ChatAnswer& one, const ChatAnswer& other) {
  return to_json(one) == to_json(other);
}

class Reader {
 public:
  Reader(const std::string& run, const BatchIds& known, const std::set<std::string>& sharing)
      : run_(run), known_(known), sharing_(sharing) {}

  Status read(const fs::path& file) {
    ours_ = 0;
    others_.clear();
    KP_TRY(read_json_lines(file, [this](const JsonLine& line) { return take(line); }));
    return ours_ > 0 ? Status() : check_others(file);
  }

  BatchResponses take_responses() { return std::move(responses_); }

 private:
  Status take(const JsonLine& line) {
    const std::string text = text_part(line.json, "custom_id");
    if (text.empty()) {
      return wrong(line.place, "it has no \"custom_id\": copy that of the request it answers");
    }
    const std::optional<BatchId> id = parse_batch_id(text);
    if (!id || id->run != run_) {
      others_.insert(id ? id->run : text);
      return {};
    }
    ++ours_;
    KP_TRY(check_known(*id, text, line.place));
    Result<BatchResponse> response = response_of(line);
    return response ? add(text, std::move(*response)) : Status(response.error());
  }

  [[nodiscard]] Status check_known(const BatchId& id, const std::string& text,
                                   const std::string& place) const {
    if (is_known(known_, id) && id.attempt <= batch_attempts) {
      return {};
    }
    const bool call_known = std::any_of(known_.begin(), known_.end(),
                                        [&](const auto& one) { return one.first == id.call; });
    return wrong(
        place, call_known
                   ? fmt::format("'{}' answers another request than the one that the run {} "
                                 "handed out: see requests.jsonl for its custom_id",
                                 text, run_)
                   : fmt::format("'{}' answers a request that the run {} never made", text, run_));
  }

  Status add(const std::string& text, BatchResponse response) {
    const auto [there, added] = responses_.emplace(text, response);
    BatchResponse& first = there->second;
    if (added || !response.answer) {
      return {};
    }
    if (first.answer && !same_answer(*first.answer, *response.answer)) {
      return wrong(
          response.place,
          fmt::format("another answer to '{}' is at {}: remove one of them", text, first.place));
    }
    first = std::move(response);
    return {};
  }

  [[nodiscard]] Status check_others(const fs::path& file) const {
    std::vector<std::string> strange;
    std::set_difference(others_.begin(), others_.end(), sharing_.begin(), sharing_.end(),
                        std::back_inserter(strange));
    if (strange.empty()) {
      return {};
    }
    constexpr std::size_t named = 5;
    const std::string more =
        strange.size() > named ? fmt::format(" and {} more", strange.size() - named) : "";
    strange.resize(std::min(strange.size(), named));
    return wrong(file.string(),
                 fmt::format("this file answers no request of the run {}: it is for {}{}. Put the "
                             "right file there, or name another folder",
                             run_, fmt::join(strange, ", "), more));
  }

  const std::string& run_;
  const BatchIds& known_;
  const std::set<std::string>& sharing_;
  BatchResponses responses_;
  std::int64_t ours_ = 0;         // lines of the present file
  std::set<std::string> others_;  // whom its other lines are for
};

}  // namespace

Result<BatchResponses> read_batch_responses(const fs::path& directory, const std::string& run,
                                            const BatchIds& known,
                                            const std::set<std::string>& sharing) {
  KP_LET(const std::vector<fs::path> files, response_files(directory));
  Reader reader(run, known, sharing);
  for (const fs::path& file : files) {
    KP_TRY(reader.read(file));
  }
  return reader.take_responses();
}

}  // namespace kernelpro
