// A run that asks by batch, and what its folder holds.
#pragma once

#include <gmock/gmock.h>

#include <fstream>

#include "common/base/file.hpp"
#include "coordinator/llm/batch.hpp"
#include "coordinator/llm/call_fixture.hpp"

namespace kernelpro::testing {

namespace fs = std::filesystem;
using json = nlohmann::json;

inline const CallName planner{.node = 1, .role = LlmRole::planner, .turn = 1};

inline json completion(const std::string& text) {
  return {{"id", "x"},
          {"model", "a-person"},
          {"choices",
           {{{"message", {{"role", "assistant"}, {"content", text}}}, {"finish_reason", "stop"}}}}};
}

inline json response(const std::string& custom_id, const std::string& text) {
  return {{"id", "r"},
          {"custom_id", custom_id},
          {"response", {{"status_code", 200}, {"request_id", "q"}, {"body", completion(text)}}},
          {"error", nullptr}};
}

inline json refusal(const std::string& custom_id, int status, const std::string& message) {
  return {{"id", "r"},
          {"custom_id", custom_id},
          {"response", {{"status_code", status}, {"body", {{"error", {{"message", message}}}}}}},
          {"error", nullptr}};
}

inline json lost(const std::string& custom_id, const std::string& message) {
  return {{"custom_id", custom_id},
          {"response", nullptr},
          {"error", {{"code", "batch_expired"}, {"message", message}}}};
}

// A run that asks by batch: every `start` is another process.
class Asker {
 public:
  Asker(fs::path folder, std::string run) : folder_(std::move(folder)), run_(std::move(run)) {}

  void start(const std::string& model = "any") {
    caller_.reset();
    const auto chat = std::make_shared<BatchChat>(folder_, run_, *journal.all());
    auto made = BudgetedCaller::create(all_roles(chat, model), journal, settings, hasty());
    ASSERT_TRUE(made.ok()) << error_text(made);
    caller_ = std::move(*made);
  }

  Result<Called> call(const CallName& name, const std::string& text = "Write.") {
    return caller_->call(name, request_of(text), {});
  }
  [[nodiscard]] Status hand_out() { return caller_->hand_out(); }
  [[nodiscard]] BudgetedCaller& caller() { return *caller_; }

  MemoryJournal journal;
  LlmSettings settings;

 private:
  fs::path folder_;
  std::string run_;
  std::unique_ptr<BudgetedCaller> caller_;
};

class BatchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<ScratchDir> made = ScratchDir::create("batch-test");
    ASSERT_TRUE(made.ok()) << error_text(made);
    scratch_.emplace(std::move(*made));
  }

  [[nodiscard]] fs::path folder() const { return scratch_->path() / "batch"; }
  [[nodiscard]] Asker asker(const std::string& run = "gemm-1") const { return {folder(), run}; }

  // Asks for these and stops to wait.
  static void ask(Asker& asker, const std::vector<CallName>& names) {
    asker.start();
    for (const CallName& name : names) {
      const Result<Called> called = asker.call(name);
      ASSERT_TRUE(called.ok()) << error_text(called);
      EXPECT_EQ(called->kind, Called::Kind::not_yet);
    }
    const Status handed_out = asker.hand_out();
    ASSERT_TRUE(handed_out.ok()) << error_text(handed_out);
  }

  [[nodiscard]] std::vector<json> requests() const {
    std::vector<json> lines;
    std::ifstream file(folder() / "requests.jsonl");
    for (std::string line; std::getline(file, line);) {
      lines.push_back(json::parse(line));
    }
    return lines;
  }
  [[nodiscard]] std::vector<std::string> open_ids() const {
    std::vector<std::string> ids;
    for (const json& line : requests()) {
      ids.push_back(line.at("custom_id"));
    }
    return ids;
  }

  void respond(const std::vector<json>& lines, const std::string& name = "responses.jsonl") const {
    std::string text;
    for (const json& line : lines) {
      text += line.dump() + "\n";
    }
    respond_text(text, name);
  }
  void respond_text(const std::string& text, const std::string& name = "responses.jsonl") const {
    ASSERT_TRUE(make_directories(folder()).ok());
    ASSERT_TRUE(write_file_unsynced(folder() / name, text).ok());
  }

  // The text of the answer after a new start; "" where there is none yet.
  static std::string answer_to(Asker& asker, const CallName& name) {
    const Result<Called> called = asker.call(name);
    return called ? called->answer.text : "error: " + called.error().text();
  }

  std::optional<ScratchDir> scratch_;
};

}  // namespace kernelpro::testing
