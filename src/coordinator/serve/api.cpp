#include "coordinator/serve/api.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "common/base/clock.hpp"
#include "common/base/file.hpp"
#include "common/base/paths.hpp"
#include "common/wire/json.hpp"
#include "coordinator/http/listen.hpp"
#include "coordinator/serve/description.hpp"

namespace kernelpro::serve {

namespace {

using nlohmann::json;

constexpr int quiet_ms = 1000;
constexpr const char* component_prefix = "#/components/schemas/";

// A schema with what it refers to in the places of the references.
json inlined(json schema, const json& components, int depth = 0) {
  constexpr int deepest = 8;
  if (schema.is_object() && schema.contains("$ref") && depth < deepest) {
    const std::string name =
        schema["$ref"].get<std::string>().substr(std::string(component_prefix).size());
    return inlined(components.value(name, json::object()), components, depth + 1);
  }
  if (schema.is_structured()) {
    for (json& part : schema) {
      part = inlined(std::move(part), components, depth);
    }
  }
  return schema;
}

Result<json> load_description() {
  KP_LET(const std::filesystem::path share, share_directory());
  KP_LET(const std::string text, read_file(share / "schemas" / "openapi.json"));
  return parse_json(text);
}

// Whether `path` lies below `prefix`, and what stands behind it then.
bool below(const std::string& path, const std::string& prefix, std::string& rest) {
  if (!path.starts_with(prefix)) {
    return false;
  }
  rest = path.substr(prefix.size());
  return true;
}

}  // namespace

Result<std::unique_ptr<Api>> Api::make(ApiParts parts) {
  auto description = std::make_unique<Description>();
  KP_LET(description->whole, load_description());
  const json& components = description->whole["components"]["schemas"];
  description->evaluate =
      inlined({{"$ref", std::string(component_prefix) + "Evaluate"}}, components);
  description->diagnose =
      inlined({{"$ref", std::string(component_prefix) + "Diagnose"}}, components);
  return std::unique_ptr<Api>(new Api(std::move(parts), std::move(description)));
}

Api::Api(ApiParts parts, std::unique_ptr<Description> description)
    : parts_(std::move(parts)), description_(std::move(description)) {}

Api::~Api() = default;

void Api::answer(const Exchange& exchange, int status, const json& body,
                 std::vector<http::Header> headers) {
  ++answers_[status];
  exchange->answer({status, "application/json", json_text(body) + "\n", std::move(headers)});
}

void Api::refuse(const Exchange& exchange, int status, const std::string& why,
                 std::vector<http::Header> headers) {
  answer(exchange, status, {{"error", why}}, std::move(headers));
}

void Api::refuse(const Exchange& exchange, const Error& error) {
  constexpr int unfit = 422;
  constexpr int broken = 500;
  refuse(exchange, error.kind == ErrorKind::bad_input ? unfit : broken, error.text());
}

void Api::take(const Exchange& exchange) {
  const http::Request& request = exchange->request();
  if (const std::optional<http::Refusal> refusal = parts_.gate->refused(request); refusal) {
    refuse(exchange, refusal->status, refusal->why);
    return;
  }
  if (request.path == "/healthz") {
    show_health(exchange);
    return;
  }
  const auto caller = parts_.gate->caller_of(request);
  if (const auto* const refusal = std::get_if<http::Refusal>(&caller)) {
    refuse(exchange, refusal->status, refusal->why, {{"WWW-Authenticate", "Bearer"}});
    return;
  }
  const auto mount = parts_.mounts.find(request.path);
  if (mount != parts_.mounts.end()) {
    mount->second->take(exchange, std::get<http::Caller>(caller));
  } else {
    route(exchange, std::get<http::Caller>(caller));
  }
}

void Api::route(const Exchange& exchange, const http::Caller& caller) {
  const http::Request& request = exchange->request();
  const std::string& path = request.path;
  const bool get = request.method == "GET" || request.method == "HEAD";
  const bool post = request.method == "POST";
  std::string rest;
  if (path == "/v1/evaluate" || path == "/v1/diagnose" || path == "/v1/drain") {
    if (!post) {
      refuse(exchange, 405, "expected POST", {{"Allow", "POST"}});
    } else if (path == "/v1/drain") {
      drain(exchange, caller);
    } else {
      accept(exchange, caller, path.substr(std::string("/v1/").size()));
    }
  } else if (!get) {
    refuse(exchange, 405, "expected GET", {{"Allow", "GET"}});
  } else if (path == "/metrics") {
    show_metrics(exchange);
  } else if (path == "/openapi.json") {
    answer(exchange, 200, description_->whole);
  } else if (path == "/v1/tasks") {
    answer(exchange, 200, {{"tasks", Register::listing()}});
  } else if (path == "/v1/events") {
    const auto wanted = request.query.find("id");
    ++answers_[200];
    events_.listen(exchange, caller.admin ? "" : caller.name,
                   wanted == request.query.end() ? "" : wanted->second,
                   request.header("last-event-id"));
  } else if (below(path, "/v1/results/", rest)) {
    show_result(exchange, caller, rest);
  } else if (path == "/v1/runs" || below(path, "/v1/runs/", rest)) {
    show_runs(exchange, rest);
  } else {
    refuse(exchange, 404,
           "there is nothing at " + path.substr(0, 100) + "; /openapi.json says what there is");
  }
}

void Api::hear(WorkNews news) {
  const std::lock_guard lock(news_mutex_);
  news_.push_back(std::move(news));
}

int Api::tick() {
  std::vector<WorkNews> news;
  {
    const std::lock_guard lock(news_mutex_);
    news.swap(news_);
  }
  std::set<std::string> done;
  for (const WorkNews& one : news) {
    tell_news(one);
    if (one.what == "done") {
      done.insert(one.id);
    }
  }
  std::erase_if(waiters_, [&](Waiter& waiter) {
    const bool moved = now_ns() >= waiter.until_ns || done.contains(waiter.ids[waiter.ended]);
    return waiter.exchange->gone() || (moved && look_after(waiter, false));
  });
  events_.tick();
  if (drained()) {
    std::erase_if(waiters_, [this](Waiter& waiter) { return look_after(waiter, true); });
    events_.end();
  }
  int pause_ms = waiters_.empty() ? quiet_ms : quiet_ms / 4;
  for (const auto& [path, mount] : parts_.mounts) {
    pause_ms = std::min(pause_ms, mount->tick());
  }
  return pause_ms;
}

std::vector<int> Api::watched() const {
  std::vector<int> all;
  for (const auto& [path, mount] : parts_.mounts) {
    const std::vector<int> own = mount->watched();
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

bool Api::drained() const {
  return draining_ && judges_->drained();
}

}  // namespace kernelpro::serve
