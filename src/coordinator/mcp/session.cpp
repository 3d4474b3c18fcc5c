#include "coordinator/mcp/session.hpp"

#include <algorithm>
#include <array>

#include "common/wire/json.hpp"
#include "coordinator/mcp/arguments.hpp"
#include "coordinator/mcp/request.hpp"
#include "coordinator/mcp/resources.hpp"
#include "coordinator/mcp/rpc.hpp"
#include "coordinator/mcp/tools.hpp"

namespace kernelpro::mcp {

namespace {

using nlohmann::json;

constexpr const char* modern_version = "2026-07-28";
constexpr const char* legacy_version = "2025-11-25";
constexpr const char* older_version = "2025-06-18";  // the same for what we use, without tasks
constexpr const char* version_key = "io.modelcontextprotocol/protocolVersion";
constexpr const char* capabilities_key = "io.modelcontextprotocol/clientCapabilities";
constexpr const char* client_key = "io.modelcontextprotocol/clientInfo";
constexpr const char* server_key = "io.modelcontextprotocol/serverInfo";
constexpr const char* tasks_key = "io.modelcontextprotocol/tasks";
constexpr const char* log_level_key = "io.modelcontextprotocol/logLevel";
constexpr std::int64_t list_ttl_ms = 300'000;
constexpr std::size_t most_completions = 100;
constexpr std::size_t most_waiting = 100;  // requests of one client
// The least grave first. What is being done is "info".
constexpr std::array log_levels = {"debug", "info",     "notice", "warning",
                                   "error", "critical", "alert",  "emergency"};

constexpr const char* instructions =
    "KernelPro judges compute kernels: is a candidate correct, honest and faster? Begin with "
    "list_tasks, or make_task for a function of the user's. Then evaluate sources that you write, "
    "or let the search lead: start_run, then next_proposal and submit in turn, then export. Never "
    "call anything faster that evaluate or submit did not call so. Work beyond 45 s is answered "
    "with a job id: ask with the tool job.";

json server_info() {
  return {{"name", "kernelpro"}, {"title", "KernelPro"}, {"version", KERNELPRO_VERSION}};
}

json capabilities(bool modern) {
  json own = {{"tools", json::object()},
              {"resources", json::object()},
              {"prompts", json::object()},
              {"completions", json::object()},
              {"logging", json::object()}};
  if (modern) {
    own["extensions"] = {{tasks_key, json::object()}};
  } else {
    own["tasks"] = {{"cancel", json::object()},
                    {"requests", {{"tools", {{"call", json::object()}}}}}};
  }
  return own;
}

std::string client_name(const json& info) {
  constexpr std::size_t longest = 100;
  const std::string name = text_of(info, "name").substr(0, longest);
  const std::string version = text_of(info, "version").substr(0, longest);
  return name.empty() ? "unknown" : name + (version.empty() ? "" : " " + version);
}

// Whether prompts or templates have what a completion refers to.
bool is_referred(const json& list, const char* key, const std::string& name) {
  return std::ranges::any_of(list, [&](const json& one) { return text_of(one, key) == name; });
}

bool is_list(const std::string& method) {
  return method.ends_with("/list") || method == "server/discover" || method == "resources/read";
}

}  // namespace

Session::Session(SessionSettings settings, Send send)
    : settings_(std::move(settings)),
      send_(std::move(send)),
      jobs_(settings_.store, settings_.launch, {settings_.remote, settings_.owner}) {}

Session::~Session() = default;

const Catalog& Session::catalog() const {
  return settings_.catalog == nullptr ? own_catalog() : *settings_.catalog;
}

bool Session::waits() const {
  return !waiting_.empty();
}

void Session::answer(const Request& request, json result) {
  if (request.modern) {
    result.emplace("resultType", "complete");
    result["_meta"][server_key] = server_info();
    if (is_list(request.method)) {
      result["ttlMs"] = request.method == "resources/read" ? 0 : list_ttl_ms;
      result["cacheScope"] = "private";
    }
  }
  send_(bounded_line_of(result_message(request.id, std::move(result))));
}

void Session::refuse(const Request& request, int code, const std::string& text) {
  send_(bounded_line_of(error_message(request.id, code, text, json())));
}

void Session::refuse_long_line() {
  send_(bounded_line_of(error_message(json(), invalid_request, "the message is too long", json())));
}

void Session::take(const std::string& line) {
  const Result<json> parsed = parse_json(line);
  if (!parsed) {
    send_(bounded_line_of(error_message(json(), parse_error, parsed.error().text(), json())));
    return;
  }
  const json& message = *parsed;
  const json id = id_of(message);
  if (const std::string wrong = message_complaint(message); !wrong.empty()) {
    send_(bounded_line_of(error_message(id, invalid_request, wrong, json())));
    return;
  }
  if (!message.contains("method")) {
    return;  // an answer: we ask nothing
  }
  const json params = message.value("params", json::object());
  if (id.is_null()) {
    handle_notification(message["method"], params);
    return;
  }
  Request request{id, message["method"], params, false, false, client_};
  if (std::ranges::any_of(waiting_,
                          [&](const auto& one) { return one->request.id == request.id; })) {
    refuse(request, invalid_request, "a request of that id is not answered yet");
  } else if (waiting_.size() >= most_waiting) {
    refuse(request, invalid_request, "too many requests of yours wait for their answers");
  } else if (choose_era(request)) {
    handle(request);
  }
}

void Session::handle_notification(const std::string& method, const json& params) {
  if (method != "notifications/cancelled" || !params.contains("requestId")) {
    return;
  }
  const auto found = std::ranges::find_if(
      waiting_, [&](const auto& one) { return one->request.id == params["requestId"]; });
  if (found == waiting_.end()) {
    return;
  }
  // Nobody has been told of the job of a call: it would be work for nobody.
  if ((*found)->kind == Waiting::For::tool) {
    (void)jobs_.cancel((*found)->job);
  }
  waiting_.erase(found);
}

void Session::forget(const json& id) {
  std::erase_if(waiting_, [&](const auto& one) { return one->request.id == id; });
}

// Which revision a request is of; answered where it is of none.
bool Session::choose_era(Request& request) {
  const json meta = request.params.value("_meta", json::object());
  if (!meta.is_object() || !meta.contains(version_key)) {
    const bool early = request.method == "initialize" || request.method == "ping";
    if (!initialized_ && !early) {
      refuse(request, invalid_params,
             std::string("begin with initialize, or say in _meta which revision you speak: ") +
                 modern_version + " or " + legacy_version);
    }
    return initialized_ || early;
  }
  if (meta[version_key] != modern_version) {
    send_(bounded_line_of(
        error_message(request.id, unsupported_version, "Unsupported protocol version",
                      {{"supported", {modern_version, legacy_version}},
                       {"requested", text_of(meta, version_key).substr(0, 100)}})));
    return false;
  }
  const json own = meta.value(capabilities_key, json());
  if (!own.is_object()) {
    refuse(request, invalid_params, std::string("_meta has no ") + capabilities_key);
    return false;
  }
  request.modern = true;
  const json extensions = own.value("extensions", json::object());
  request.tasks = extensions.is_object() && extensions.contains(tasks_key);
  request.client = client_name(meta.value(client_key, json()));
  return true;
}

void Session::initialize(const Request& request) {
  const json wanted = request.params.value("protocolVersion", json());
  client_ = client_name(request.params.value("clientInfo", json()));
  initialized_ = true;
  answer(request, {{"protocolVersion", wanted == older_version ? older_version : legacy_version},
                   {"capabilities", capabilities(false)},
                   {"serverInfo", server_info()},
                   {"instructions", instructions}});
}

void Session::handle(Request& request) {
  const std::string& method = request.method;
  if (!request.modern && method == "initialize") {
    initialize(request);
  } else if (!request.modern && method == "ping") {
    answer(request, json::object());
  } else if (request.modern && method == "server/discover") {
    answer(request, {{"supportedVersions", {modern_version, legacy_version}},
                     {"capabilities", capabilities(true)},
                     {"instructions", instructions}});
  } else if (request.modern && method == "subscriptions/listen") {
    // Nothing of ours changes while a session lasts: there is nothing to send on it.
    send_(bounded_line_of(
        notification("notifications/subscriptions/acknowledged",
                     {{"notifications", json::object()},
                      {"_meta", {{"io.modelcontextprotocol/subscriptionId", request.id}}}})));
  } else if (method.ends_with("/list") && method != "tasks/list" &&
             !text_of(request.params, "cursor").empty()) {
    refuse(request, invalid_params, "there is no such cursor: lists are given whole");
  } else if (method == "tools/list") {
    list_tools(request);
  } else if (method == "tools/call") {
    call_tool(request);
  } else if (method == "resources/list") {
    answer(request, {{"resources", catalog().resources()}});
  } else if (method == "resources/templates/list") {
    answer(request, {{"resourceTemplates", catalog().templates()}});
  } else if (method == "resources/read") {
    read_resource(request);
  } else if (method == "prompts/list") {
    answer(request, {{"prompts", catalog().prompts()}});
  } else if (method == "prompts/get") {
    get_prompt(request);
  } else if (method == "completion/complete") {
    complete(request);
  } else if (!request.modern && method == "logging/setLevel") {
    set_level(request);
  } else if (method.starts_with("tasks/")) {
    handle_task(request);
  } else {
    refuse(request, method_not_found, "there is no method " + method.substr(0, 100));
  }
}

void Session::get_prompt(const Request& request) {
  const json name = request.params.value("name", json());
  const json arguments = request.params.value("arguments", json::object());
  const Result<json> result =
      catalog().prompt(name.is_string() ? name.get<std::string>() : "", arguments);
  if (result) {
    answer(request, *result);
  } else {
    refuse(request, invalid_params, result.error().text());
  }
}

void Session::complete(const Request& request) {
  const json ref = request.params.value("ref", json());
  const json argument = request.params.value("argument", json());
  const bool of_prompt = text_of(ref, "type") == "ref/prompt";
  const bool known = of_prompt
                         ? is_referred(catalog().prompts(), "name", text_of(ref, "name"))
                         : is_referred(catalog().templates(), "uriTemplate", text_of(ref, "uri"));
  if (!known || text_of(argument, "name").empty()) {
    refuse(request, invalid_params,
           "expected a prompt's name or a template's address in \"ref\", and an argument's name");
    return;
  }
  TypedArgument typed{text_of(argument, "name"), text_of(argument, "value"), {}};
  const json context = request.params.value("context", json::object());
  const json others = context.is_object() ? context.value("arguments", json()) : json();
  for (const auto& [name, value] : others.items()) {
    typed.known[name] = text_of(others, name.c_str());
  }
  std::vector<std::string> values = catalog().complete(typed, settings_.store);
  const std::size_t total = values.size();
  values.resize(std::min(total, most_completions));
  answer(request, {{"completion",
                    {{"values", values}, {"total", total}, {"hasMore", total > values.size()}}}});
}

void Session::set_level(const Request& request) {
  const std::string level = text_of(request.params, "level");
  if (std::ranges::find(log_levels, level) == log_levels.end()) {
    refuse(request, invalid_params, "there is no such level: " + level.substr(0, 100));
    return;
  }
  log_level_ = level;
  answer(request, json::object());
}

bool Session::wants_log(const Request& request) const {
  const std::string level =
      request.modern ? text_of(request.params.value("_meta", json()), log_level_key) : log_level_;
  return level == "debug" || level == "info";
}

void Session::read_resource(const Request& request) {
  const json uri = request.params.value("uri", json());
  const std::string text = uri.is_string() ? uri.get<std::string>() : "";
  if (const std::string backend =
          text.starts_with(ceilings_prefix) ? text.substr(std::string(ceilings_prefix).size()) : "";
      parse_backend(backend)) {
    start_job(request, std::string(ceilings_job), {{"backend", backend}});
    return;
  }
  const Result<json> read = catalog().read(text, settings_.store);
  if (read) {
    answer(request, *read);
  } else {
    constexpr int legacy_not_found = -32002;
    const bool missing = read.error().kind == ErrorKind::bad_input;
    const int wrong = request.modern ? invalid_params : legacy_not_found;
    send_(bounded_line_of(error_message(request.id, missing ? wrong : internal_error,
                                        read.error().text(), {{"uri", text.substr(0, 1000)}})));
  }
}

}  // namespace kernelpro::mcp
