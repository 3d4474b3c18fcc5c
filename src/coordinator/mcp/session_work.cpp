// Calls of tools, and the jobs that they become.
#include <fmt/format.h>

#include <algorithm>

#include "common/base/clock.hpp"
#include "coordinator/app/schema_check.hpp"
#include "coordinator/mcp/remote.hpp"
#include "coordinator/mcp/request.hpp"
#include "coordinator/mcp/resources.hpp"
#include "coordinator/mcp/rpc.hpp"
#include "coordinator/mcp/tools.hpp"

namespace kernelpro::mcp {

namespace {

using nlohmann::json;

constexpr std::int64_t ns_per_ms = 1'000'000;
constexpr std::int64_t poll_ms = 2000;
constexpr const char* related_task = "io.modelcontextprotocol/related-task";

bool has_ended(const json& job) {
  return job.value("state", "") != "working";
}

// What the tool would have answered.
json result_of(const json& job) {
  const std::string state = job.value("state", "");
  if (state == "completed") {
    return tool_result(job.value("result", json::object()));
  }
  return failed_tool_result(state == "cancelled" ? "it was cancelled" : job.value("error", state));
}

// The job as a task of the protocol. A call that failed is, of the newer revision, complete with
// the failure as its result.
json task_of(const json& job, bool modern) {
  std::string status = job.value("state", "");
  if (status == "lost" || status == "failed") {
    status = modern && status == "failed" ? "completed" : "failed";
  }
  const json created = job.value("created", json(""));
  json task = {{"taskId", job["id"]},
               {"status", status},
               {"createdAt", created},
               {"lastUpdatedAt", created},
               {modern ? "ttlMs" : "ttl", nullptr},
               {modern ? "pollIntervalMs" : "pollInterval", poll_ms}};
  if (job.contains("message")) {
    task["statusMessage"] = job["message"];
  }
  return task;
}

}  // namespace

void Session::list_tools(const Request& request) {
  json list = json::array();
  for (const std::string& name : catalog().tool_names()) {
    Result<json> definition = catalog().definition(name);
    if (!definition) {
      refuse(request, internal_error, definition.error().text());
      return;
    }
    if (request.modern) {
      definition->erase("execution");  // how the older revision tells of tasks
    }
    list.push_back(std::move(*definition));
  }
  answer(request, {{"tools", std::move(list)}});
}

void Session::call_tool(const Request& request) {
  const json name = request.params.value("name", json());
  const Tool* const tool = name.is_string() ? catalog().tool(name.get<std::string>()) : nullptr;
  if (tool == nullptr) {
    refuse(request, invalid_params, "Unknown tool: " + line_of(name).substr(0, 100));
    return;
  }
  const json arguments = request.params.value("arguments", json::object());
  const Result<json> definition = catalog().definition(std::string(tool->name));
  if (!definition) {
    refuse(request, internal_error, definition.error().text());
    return;
  }
  if (const std::string wrong = schema_complaint((*definition)["inputSchema"], arguments);
      !wrong.empty()) {
    answer(request, failed_tool_result(wrong));
    return;
  }
  if (const std::string wrong =
          settings_.remote ? remote_complaint(std::string(tool->name), arguments) : "";
      !wrong.empty()) {
    answer(request, failed_tool_result(wrong));
    return;
  }
  if (!tool->is_job && !request.modern && request.params.contains("task")) {
    refuse(request, method_not_found, std::string(tool->name) + " is answered at once: no task");
  } else if (tool->is_job) {
    start_job(request, std::string(tool->name), arguments);
  } else if (tool->call == nullptr) {
    call_job_tool(request, arguments);
  } else {
    ToolSetting setting;
    setting.store = settings_.store;
    setting.client = request.client;
    setting.remote = settings_.remote;
    Waiting told;  // of its progress
    told.request = request;
    setting.watcher = [&](const Event& event) {
      if (const auto* const activity = std::get_if<Activity>(&event)) {
        tell_progress(told, {{"message", activity->text}});
      }
    };
    answer(request, catalog().result_of(tool->call(arguments, setting)));
  }
}

void Session::start_job(const Request& request, const std::string& tool, const json& arguments) {
  const Result<std::string> id = jobs_.start(tool, arguments, request.client);
  if (!id && id.error().kind == ErrorKind::busy && tool != ceilings_job) {
    answer(request, failed_tool_result(id.error().text()));  // the model can wait
    return;
  }
  if (!id) {
    refuse(request, internal_error, id.error().text());
    return;
  }
  if (!request.modern && request.params.contains("task")) {
    if (const Result<json> job = jobs_.look(*id); job) {
      answer(request, {{"task", task_of(*job, false)}});
    }
    return;
  }
  Waiting one;
  one.request = request;
  one.kind = tool == ceilings_job ? Waiting::For::resource : Waiting::For::tool;
  one.job = *id;
  one.until_ns = now_ns() + settings_.patience_ms * ns_per_ms;
  waiting_.push_back(std::make_unique<Waiting>(std::move(one)));
}

void Session::call_job_tool(const Request& request, const json& arguments) {
  if (!arguments.contains("id")) {
    answer(request, tool_result({{"jobs", jobs_.latest()}}));
    return;
  }
  Waiting one;
  one.request = request;
  one.kind = Waiting::For::job_tool;
  one.job = arguments["id"].get<std::string>();
  const bool cancels = arguments.value("cancel", false);
  if (const Status done = cancels ? jobs_.cancel(one.job) : Status(); !done) {
    answer(request, failed_tool_result(done.error().text()));
    return;
  }
  one.until_ns = now_ns() + arguments.value("wait", std::int64_t{0}) * 1000 * ns_per_ms;
  if (!look_after(one)) {
    waiting_.push_back(std::make_unique<Waiting>(std::move(one)));
  }
}

void Session::handle_task(const Request& request) {
  const std::string own = request.modern ? "tasks/update" : "tasks/result";
  if (request.method != "tasks/get" && request.method != "tasks/cancel" && request.method != own) {
    refuse(request, method_not_found, "there is no method " + request.method.substr(0, 100));
    return;
  }
  const json id = request.params.value("taskId", json());
  Result<json> job = jobs_.look(id.is_string() ? id.get<std::string>() : "");
  if (!job) {
    refuse(request, invalid_params, job.error().text());
  } else if (request.method == "tasks/get") {
    json task = task_of(*job, request.modern);
    if (request.modern && task["status"] == "completed") {
      task["result"] = result_of(*job);
    } else if (request.modern && task["status"] == "failed") {
      task["error"] = {{"code", internal_error}, {"message", job->value("error", "")}};
    }
    answer(request, std::move(task));
  } else if (request.method == "tasks/cancel") {
    if (has_ended(*job) && !request.modern) {
      refuse(request, invalid_params, "the task has ended: it is " + job->value("state", ""));
      return;
    }
    (void)jobs_.cancel((*job)["id"]);
    (*job)["state"] = "cancelled";
    answer(request, request.modern ? json::object() : task_of(*job, false));
  } else if (request.modern) {
    answer(request, json::object());  // an update of what is never asked for
  } else {
    Waiting one;
    one.request = request;
    one.kind = Waiting::For::task_result;
    one.job = (*job)["id"];
    one.until_ns = std::numeric_limits<std::int64_t>::max();
    waiting_.push_back(std::make_unique<Waiting>(std::move(one)));
  }
}

void Session::answer_ended(const Waiting& one, const json& job) {
  switch (one.kind) {
    case Waiting::For::tool:
      answer(one.request, result_of(job));
      break;
    case Waiting::For::task_result: {
      json result = result_of(job);
      result["_meta"][related_task] = {{"taskId", one.job}};
      answer(one.request, std::move(result));
      break;
    }
    case Waiting::For::job_tool:
      answer(one.request, tool_result(job));
      break;
    case Waiting::For::resource:
      if (job.contains("result")) {
        answer(one.request, resource_result(one.request.params["uri"], job["result"].dump()));
      } else {
        refuse(one.request, internal_error, job.value("error", "it was cancelled"));
      }
      break;
  }
}

// It goes on, and whoever asked is told where.
void Session::answer_unended(const Waiting& one, const json& job) {
  switch (one.kind) {
    case Waiting::For::tool:
      if (one.request.tasks) {
        json task = task_of(job, true);
        task["resultType"] = "task";
        answer(one.request, std::move(task));
      } else {
        answer(one.request, tool_result({{"job", one.job},
                                         {"state", "working"},
                                         {"message", job.value("message", "")}}));
      }
      break;
    case Waiting::For::resource:
      refuse(one.request, internal_error, "it is still being measured: read it again later");
      break;
    case Waiting::For::job_tool:
    case Waiting::For::task_result:
      answer(one.request, tool_result(job));
      break;
  }
}

void Session::tell_progress(Waiting& one, const json& job) {
  const json token = progress_token_of({{"params", one.request.params}});
  const std::string message = job.value("message", "");
  if (message.empty() || message == one.told) {
    return;
  }
  one.told = message;
  if (wants_log(one.request)) {
    send_(bounded_line_of(notification(
        "notifications/message", {{"level", "info"}, {"logger", "kernelpro"}, {"data", message}})));
  }
  if (token.is_null()) {
    return;
  }
  one.progress = std::max(one.progress + 0.01, job.value("done", 0.0));
  json params = {{"progressToken", token}, {"progress", one.progress}, {"message", message}};
  if (job.contains("of")) {
    params["total"] = std::max(job["of"].get<double>(), one.progress);
  }
  send_(bounded_line_of(notification("notifications/progress", std::move(params))));
}

bool Session::look_after(Waiting& one) {
  const Result<json> job = jobs_.look(one.job);
  if (!job) {
    answer(one.request, failed_tool_result(job.error().text()));
    return true;
  }
  json told = *job;
  for (const char* key : {"done", "of"}) {
    told.erase(key);
  }
  if (has_ended(*job)) {
    answer_ended(one, told);
    return true;
  }
  if (now_ns() >= one.until_ns) {
    answer_unended(one, told);
    return true;
  }
  tell_progress(one, *job);
  return false;
}

void Session::tick() {
  std::erase_if(waiting_, [this](const auto& one) { return look_after(*one); });
}

}  // namespace kernelpro::mcp
