// The tools about tasks and machines.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/wire/json.hpp"
#include "coordinator/app/machine.hpp"
#include "coordinator/app/own_flags.hpp"
#include "coordinator/app/own_task.hpp"
#include "coordinator/app/tasks.hpp"
#include "coordinator/mcp/arguments.hpp"
#include "coordinator/mcp/tools.hpp"

namespace kernelpro::mcp {

namespace {

using nlohmann::json;

bool has_text(const TaskListing& task, const std::string& text) {
  const std::string all = task.name + "\n" + task.family + "\n" + task.summary;
  return std::ranges::search(all, text, [](char a, char b) {
           return std::tolower(a) == std::tolower(b);
         }).begin() != all.end();
}

// What it is timed at, by backend, and what it is compared with.
void add_details(const Task& task, json& view) {
  json shapes = json::object();
  json baselines = json::array();
  for (const ImplementationSpec& one : task.baselines) {
    json list = json::array();
    for (const Axes& axes : timed_shapes(task, one.backend)) {
      list.push_back(shape_text(task, axes));
    }
    shapes[name_of(one.backend)] = std::move(list);
    baselines.push_back(one.name + " (" + name_of(one.backend) + ")");
  }
  view["shapes"] = std::move(shapes);
  view["baselines"] = std::move(baselines);
}

json listing(const TaskListing& task) {
  json view = {{"name", task.name},
               {"family", task.family},
               {"summary", task.summary},
               {"directory", task.directory.string()}};
  const Result<ShownTask> shown = show_task(task.directory.string());
  if (shown) {
    add_details(shown->task, view);
  } else {
    view["error"] = shown.error().text();
  }
  return view;
}

// "--shape a=m,k", "--inout y", "-Iinclude": what `optimize FILE:FUNCTION` takes too.
Status take_wish(const std::string& text, NewTask& wishes) {
  if (text.starts_with("-I") || text.starts_with("-D") || text.starts_with("-std=")) {
    wishes.flags.push_back(text);
    return {};
  }
  const std::size_t blank = text.find(' ');
  const std::string flag = text.substr(0, blank);
  const std::string value = blank == std::string::npos ? "" : text.substr(blank + 1);
  for (const auto& [name, list] :
       {std::pair("--inout", &wishes.inouts), std::pair("--input", &wishes.only_read),
        std::pair("--workspace", &wishes.workspaces)}) {
    if (flag == name && !value.empty()) {
      list->push_back(value);
      return {};
    }
  }
  for (const auto& [name, field] :
       {std::pair("--flops", &wishes.flops), std::pair("--reduction", &wishes.reduction),
        std::pair("--reference", &wishes.reference)}) {
    if (flag == name && !value.empty()) {
      *field = value;
      return {};
    }
  }
  return take_flag(wishes, flag, value);
}

Result<OwnRequest> own_request(const json& arguments, const ToolSetting& setting) {
  OwnRequest request;
  request.target = {text_of(arguments, "file"), text_of(arguments, "entry")};
  request.store = setting.store;
  const json sizes = arguments.value("sizes", json::object());
  for (const auto& [name, size] : sizes.items()) {
    KP_TRY(take_flag(request.wishes, "--size", name + "=" + size.dump()));
  }
  for (const json& flag : arguments.value("flags", json::array())) {
    KP_TRY(take_wish(flag.get<std::string>(), request.wishes));
  }
  return request;
}

json findings_list(const TaskCheck& check) {
  json list = json::array();
  for (const LintFinding& finding : check.findings) {
    list.push_back(
        {{"level", name_of(finding.level)}, {"rule", finding.rule}, {"text", finding.text}});
  }
  return list;
}

}  // namespace

Result<json> list_tasks_tool(const json& arguments, const ToolSetting& /*setting*/) {
  json list = json::array();
  for (const TaskListing& task : list_tasks()) {
    if (has_text(task, text_of(arguments, "query"))) {
      list.push_back(listing(task));
    }
  }
  return json{{"tasks", std::move(list)}};
}

Result<json> make_task_tool(const json& arguments, const ToolSetting& setting) {
  KP_LET(const OwnRequest request, own_request(arguments, setting));
  KP_LET(const OwnTaskMade made, make_own_task(request, setting.watcher, setting.stop));
  json out = {{"task", made.folder.string()}, {"fresh", made.fresh}, {"notes", made.notes}};
  if (made.untried) {
    out["notes"].push_back("it could not be tried here: " + made.untried->text());
    return out;
  }
  CheckRequest wanted;
  wanted.task = made.folder.string();
  wanted.judging.backend = request.target.file.extension() == ".cu" ? Backend::cuda : Backend::cpu;
  KP_LET(const TaskCheck check, check_task(wanted, setting.watcher, setting.stop));
  out["fit"] = check.errors == 0;
  out["findings"] = findings_list(check);
  return out;
}

Result<json> ceilings_tool(const json& arguments, const ToolSetting& setting) {
  CeilingsRequest request;
  request.judging.backend = backend_of(arguments);
  KP_LET(const Ceilings ceilings, measure_ceilings(request, setting.watcher, setting.stop));
  return to_json(ceilings);
}

}  // namespace kernelpro::mcp
