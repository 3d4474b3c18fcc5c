// Commands whose models a test stands for: it answers the requests of a batch.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/fixture.hpp"
#include "common/wire/bundle_line.hpp"

namespace kernelpro::testing {

class BatchCli : public Cli {
 protected:
  using Answer = std::function<std::string(const std::string& role, const Json& request)>;

  [[nodiscard]] fs::path folder() const { return work() / "questions"; }

  [[nodiscard]] std::vector<Json> requests() const {
    std::vector<Json> found;
    for (const std::string& line : whole_lines(content_of(folder() / "requests.jsonl"))) {
      found.push_back(Json::parse(line));
    }
    return found;
  }

  // "wave-1.2.coder.1.3fa9c2d1"
  static std::string role_of(const Json& request) {
    const std::string id = request["custom_id"];
    for (const std::string role : {"planner", "coder", "fixer", "reviewer"}) {
      if (id.find("." + role + ".") != std::string::npos) {
        return role;
      }
    }
    return "";
  }

  static std::string text_of(const Json& request) {
    std::string text;
    for (const Json& message : request["body"]["messages"]) {
      text += message["content"].is_string() ? message["content"].get<std::string>() : "";
      text += "\n";
    }
    return text;
  }

  static Json line(const Json& request, const std::string& answer) {
    const Json message = {{"role", "assistant"}, {"content", answer}};
    const Json choice = {{"index", 0}, {"message", message}, {"finish_reason", "stop"}};
    const Json body = {{"model", "a test"},
                       {"choices", Json::array({choice})},
                       {"usage", {{"prompt_tokens", 1000}, {"completion_tokens", 100}}}};
    return {{"custom_id", request["custom_id"]},
            {"response", {{"status_code", 200}, {"body", body}}},
            {"error", nullptr}};
  }

  // Answers every request that is there.
  void answer(const Answer& model) const {
    std::string text;
    for (const Json& request : requests()) {
      text += line(request, model(role_of(request), request)).dump() + "\n";
    }
    write(folder() / "responses.jsonl", text);
  }
};

}  // namespace kernelpro::testing
