// What clients ask to be judged, read from JSON and kept as JSON.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "coordinator/app/standing_judge.hpp"
#include "coordinator/serve/queue.hpp"

namespace kernelpro::serve {

// Tasks that candidates may be judged by: those of the task folders, by their names. No path leads
// to another.
class Register {
 public:
  // As its files were a moment ago.
  [[nodiscard]] Result<Task> load(const std::string& name);
  // Of a task that was loaded.
  [[nodiscard]] std::string hash_of(const std::string& name) const;
  [[nodiscard]] static nlohmann::json listing();

 private:
  struct Loaded {
    Task task;
    std::string hash;
    std::int64_t at_ns = 0;
  };
  std::map<std::string, std::filesystem::path> folders_;
  std::map<std::string, Loaded> loaded_;
};

// One wish as the work that it is. A bad_input error says what is wrong with it.
[[nodiscard]] Result<NewWork> new_work(const std::string& kind, const nlohmann::json& wish,
                                       Register& tasks);
// And back, when it is its turn.
[[nodiscard]] Result<StandingOrder> order_of(const nlohmann::json& wish, Register& tasks);

// All that a verdict follows from but the machine.
[[nodiscard]] std::string content_of(const std::string& kind, const StandingOrder& order,
                                     const Register& tasks);
// What makes two machines the same to a verdict: processors, devices, driver, and this program.
[[nodiscard]] std::string machine_of(const WorkerDescription& description);

// Letters, digits and "._-", and not hidden.
[[nodiscard]] bool is_name(const std::string& text);

}  // namespace kernelpro::serve
