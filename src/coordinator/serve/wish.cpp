#include "coordinator/serve/wish.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/base/clock.hpp"
#include "common/base/hash.hpp"
#include "common/base/text.hpp"
#include "common/wire/json.hpp"
#include "coordinator/app/opening.hpp"
#include "coordinator/app/tasks.hpp"

namespace kernelpro::serve {

namespace {

using nlohmann::json;

// The language of a source, as clients name it, and where such sources run.
Result<Backend> backend_of_language(const std::string& language) {
  if (language == "cpp") {
    return Backend::cpu;
  }
  if (language == "cuda") {
    return Backend::cuda;
  }
  return make_error(ErrorKind::bad_input,
                    fmt::format("sources in \"{}\" are not judged here; known are cpp and cuda",
                                language.substr(0, 100)),
                    "language");
}

}  // namespace

bool is_name(const std::string& text) {
  return !text.empty() && text.size() <= 200 && !text.starts_with('.') &&
         std::ranges::all_of(
             text, [](char letter) { return is_word(letter) || letter == '.' || letter == '-'; });
}

Result<Task> Register::load(const std::string& name) {
  if (is_name(name) && !folders_.contains(name)) {
    for (const TaskListing& task : list_tasks()) {
      folders_.emplace(task.name, task.directory);
    }
  }
  const auto found = folders_.find(name);
  if (found == folders_.end()) {
    return make_error(ErrorKind::bad_input,
                      "there is no task of that name among those registered here; /v1/tasks lists "
                      "them",
                      "task " + name.substr(0, 100));
  }
  // A batch of hundreds names one task again and again.
  constexpr std::int64_t fresh_ns = 2'000 * ns_per_ms;
  const auto kept = loaded_.find(name);
  if (kept != loaded_.end() && now_ns() - kept->second.at_ns < fresh_ns) {
    return kept->second.task;
  }
  KP_LET(Task task, load_task(found->second));
  std::string hash = task_hash(task);
  loaded_[name] = {task, std::move(hash), now_ns()};
  return task;
}

std::string Register::hash_of(const std::string& name) const {
  const auto kept = loaded_.find(name);
  return kept == loaded_.end() ? "" : kept->second.hash;
}

json Register::listing() {
  json list = json::array();
  for (const TaskListing& task : list_tasks()) {
    if (task.error.empty()) {
      list.push_back({{"name", task.name}, {"family", task.family}, {"summary", task.summary}});
    }
  }
  return list;
}

Result<StandingOrder> order_of(const json& wish, Register& tasks) {
  StandingOrder order;
  KP_LET(order.backend, backend_of_language(wish.value("language", "cpp")));
  KP_LET(order.task, tasks.load(wish.value("task", "")));
  order.name = wish.value("name", "candidate");
  order.source = wish.value("source", "");
  order.incumbent = wish.value("incumbent", "");
  order.timed = wish.value("mode", "timed") == "timed";
  if (!is_name(order.name)) {
    return make_error(ErrorKind::bad_input, "expected letters, digits and ._-", "name");
  }
  if (std::ranges::none_of(order.task.baselines, [&](const ImplementationSpec& baseline) {
        return baseline.backend == order.backend;
      })) {
    return make_error(
        ErrorKind::bad_input,
        fmt::format("the task {} has no baseline for {}", order.task.name, name_of(order.backend)),
        "language");
  }
  return order;
}

std::string content_of(const std::string& kind, const StandingOrder& order, const Register& tasks) {
  const json all = {kind,
                    tasks.hash_of(order.task.name),
                    name_of(order.backend),
                    order.source,
                    order.incumbent,
                    order.timed,
                    KERNELPRO_VERSION};
  return sha256(all.dump(-1, ' ', false, json::error_handler_t::replace));
}

std::string machine_of(const WorkerDescription& description) {
  MachineRecord machine = description.machine;
  machine.clocks_mhz.clear();  // they differ from one moment to the next
  return sha256(to_json(machine).dump() + description.version).substr(0, 16);
}

Result<NewWork> new_work(const std::string& kind, const json& wish, Register& tasks) {
  KP_LET(const StandingOrder order, order_of(wish, tasks));
  if (order.source.find('\n') == std::string::npos &&
      !is_implementation(order.task, order.source)) {
    return make_error(ErrorKind::bad_input,
                      "expected the whole text of a source, or one of the task's own: " +
                          implementation_names(order.task),
                      "source");
  }
  if (!order.incumbent.empty() && order.incumbent.find('\n') == std::string::npos) {
    return make_error(ErrorKind::bad_input, "expected the whole text of a source", "incumbent");
  }
  NewWork work;
  work.kind = kind;
  work.request = wish.dump(-1, ' ', false, json::error_handler_t::replace);
  work.group = order.task.name + " " + std::string(name_of(order.backend)) +
               (order.timed ? " timed" : " check");
  work.content = wish.value("fresh", false) ? "" : content_of(kind, order, tasks);
  return work;
}

}  // namespace kernelpro::serve
