#include "coordinator/suite/survey.hpp"

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "common/wire/json.hpp"

namespace kernelpro {

namespace {

Error broken(const std::string& what) {
  return make_error(ErrorKind::lost, "PyTorch's answer is not understood: " + what);
}

// The same in words that fit a problem's record.
Error about_pytorch(Error error, std::int64_t timeout_ms) {
  if (error.kind == ErrorKind::timeout) {
    error.message = "PyTorch did not get through it within " + std::to_string(timeout_ms / 1000) +
                    " s (--limit)";
  }
  return error;
}

}  // namespace

Result<SurveyAnswer> Survey::ask(const std::filesystem::path& problem,
                                 const std::vector<std::string>& modes, int rounds,
                                 std::stop_token stop) {
  if (!process_) {
    // A suite is worked off in one thread, so this ends it with the program and not before.
    Command command = command_;
    command.ends_with_us = true;
    KP_LET(ChildProcess started, ChildProcess::start(command));
    process_.emplace(std::move(started));
  }
  const nlohmann::json question = {
      {"problem", problem.string()}, {"modes", modes}, {"rounds", rounds}};
  Result<SurveyAnswer> answer =
      exchange(question.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
               problem.string(), stop);
  if (!answer) {
    process_.reset();
    return about_pytorch(answer.error(), timeout_ms_);
  }
  // A failure on a GPU may spoil the whole process: what hurt this problem shall not hurt the next.
  if (answer->times.empty() || !answer->failed.empty()) {
    process_.reset();
  }
  return answer;
}

Result<SurveyAnswer> Survey::exchange(const std::string& question, const std::string& problem,
                                      std::stop_token stop) {
  KP_TRY(process_->write_line(question, stop));
  KP_LET(const std::string line, process_->read_line(timeout_ms_, stop));
  const Result<nlohmann::json> json = parse_json(line);
  if (!json) {
    return broken(json.error().text());
  }
  Result<SurveyAnswer> answer = survey_answer_from_json(*json);
  if (!answer) {
    return broken(answer.error().text());
  }
  if (answer->problem != problem) {
    return broken("it is about " + answer->problem);
  }
  return answer;
}

std::map<std::string, std::string> survey_environment(Backend backend, int device) {
  const std::string variable = "CUDA_VISIBLE_DEVICES";
  if (backend != Backend::cuda) {
    return {{variable, ""}};
  }
  // What is hidden from the driver already is not counted.
  const char* visible = std::getenv(variable.c_str());
  std::istringstream names(visible != nullptr ? visible : "");
  int index = 0;
  for (std::string name; std::getline(names, name, ',');) {
    if (index++ == device) {
      return {{variable, name}};
    }
  }
  return {{variable, std::to_string(device)}};
}

}  // namespace kernelpro
