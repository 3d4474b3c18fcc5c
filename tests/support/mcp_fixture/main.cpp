// The protocol's endpoint with the tools, resources and prompts that the conformance suite asks
// for. Prints its address, and serves until its input ends.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "common/base/file.hpp"
#include "coordinator/http/gate.hpp"
#include "coordinator/http/listen.hpp"
#include "coordinator/mcp/http_endpoint.hpp"

namespace kernelpro::mcp {
namespace {

using nlohmann::json;

// One red point.
constexpr const char* png =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg"
    "==";
constexpr const char* wav = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

json text(const std::string& said) {
  return {{"type", "text"}, {"text", said}};
}
json image() {
  return {{"type", "image"}, {"data", png}, {"mimeType", "image/png"}};
}
json resource(const std::string& uri, const std::string& type, const std::string& said) {
  return {{"type", "resource"}, {"resource", {{"uri", uri}, {"mimeType", type}, {"text", said}}}};
}
Result<json> content(json blocks) {
  return json{{"content", std::move(blocks)}};
}

Result<json> simple_text(const json&, const ToolSetting&) {
  return content({text("This is a simple text response for testing.")});
}
Result<json> image_content(const json&, const ToolSetting&) {
  return content({image()});
}
Result<json> audio_content(const json&, const ToolSetting&) {
  return content({{{"type", "audio"}, {"data", wav}, {"mimeType", "audio/wav"}}});
}
Result<json> embedded_resource(const json&, const ToolSetting&) {
  return content(json::array({resource("test://embedded-resource", "text/plain",
                                       "This is an embedded resource content.")}));
}
Result<json> several_contents(const json&, const ToolSetting&) {
  return content({text("Multiple content types test:"), image(),
                  resource("test://mixed-content-resource", "application/json",
                           R"({"test":"data","value":123})")});
}
Result<json> with_error(const json&, const ToolSetting&) {
  return make_error(ErrorKind::bad_input, "This tool intentionally returns an error for testing");
}
Result<json> with_progress(const json&, const ToolSetting& setting) {
  for (const char* const step : {"begun", "half done", "done"}) {
    tell(setting.watcher, Activity{step});
  }
  return content({text("It has told of its progress.")});
}

Result<json> with_logging(const json&, const ToolSetting& setting) {
  for (const char* const step :
       {"Tool execution started", "Tool processing data", "Tool execution completed"}) {
    tell(setting.watcher, Activity{step});
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return content({text("It has told what it does.")});
}

const std::vector<Tool>& fixture_tools() {
  static const std::vector<Tool> all = {{"test_simple_text", false, simple_text},
                                        {"test_image_content", false, image_content},
                                        {"test_audio_content", false, audio_content},
                                        {"test_embedded_resource", false, embedded_resource},
                                        {"test_multiple_content_types", false, several_contents},
                                        {"test_error_handling", false, with_error},
                                        {"test_tool_with_progress", false, with_progress},
                                        {"test_tool_with_logging", false, with_logging},
                                        {"test_logging_tool", false, with_logging}};
  return all;
}

json user_says(const json& block) {
  return {{"role", "user"}, {"content", block}};
}

class FixtureCatalog : public Catalog {
 public:
  [[nodiscard]] std::vector<std::string> tool_names() const override {
    std::vector<std::string> names;
    for (const Tool& one : fixture_tools()) {
      names.emplace_back(one.name);
    }
    return names;
  }
  [[nodiscard]] const Tool* tool(const std::string& name) const override {
    for (const Tool& one : fixture_tools()) {
      if (one.name == name) {
        return &one;
      }
    }
    return nullptr;
  }
  [[nodiscard]] Result<json> definition(const std::string& name) const override {
    return json{{"name", name},
                {"description", "A fixture of the conformance suite: " + name},
                {"inputSchema", {{"type", "object"}, {"properties", json::object()}}}};
  }
  [[nodiscard]] json result_of(const Result<json>& done) const override {
    return done ? *done
                : json{{"content", json::array({text(done.error().text())})}, {"isError", true}};
  }
  [[nodiscard]] json resources() const override {
    return {{{"uri", "test://static-text"},
             {"name", "static text"},
             {"description", "A text"},
             {"mimeType", "text/plain"}},
            {{"uri", "test://static-binary"},
             {"name", "static binary"},
             {"description", "A picture"},
             {"mimeType", "image/png"}}};
  }
  [[nodiscard]] json templates() const override {
    return json::array({{{"uriTemplate", "test://template/{id}/data"},
                         {"name", "template"},
                         {"description", "Data of an id"},
                         {"mimeType", "application/json"}}});
  }
  [[nodiscard]] Result<json> read(const std::string& uri,
                                  const std::filesystem::path& /*store*/) const override {
    json one = {{"uri", uri}, {"mimeType", "text/plain"}};
    const std::string begin = "test://template/";
    const std::string end = "/data";
    if (uri == "test://static-text") {
      one["text"] = "This is the content of the static text resource.";
    } else if (uri == "test://static-binary") {
      one["mimeType"] = "image/png";
      one["blob"] = png;
    } else if (uri.starts_with(begin) && uri.ends_with(end)) {
      const std::string id = uri.substr(begin.size(), uri.size() - begin.size() - end.size());
      one["mimeType"] = "application/json";
      one["text"] = json{{"id", id}, {"templateTest", true}, {"data", "Data for ID: " + id}}.dump();
    } else {
      return make_error(ErrorKind::bad_input, "Resource not found");
    }
    return json{{"contents", json::array({one})}};
  }
  [[nodiscard]] json prompts() const override {
    const auto needs = [](const char* name) {
      return json{{"name", name}, {"description", "An argument"}, {"required", true}};
    };
    return {{{"name", "test_simple_prompt"}, {"description", "A prompt"}},
            {{"name", "test_prompt_with_arguments"},
             {"description", "With arguments"},
             {"arguments", {needs("arg1"), needs("arg2")}}},
            {{"name", "test_prompt_with_embedded_resource"},
             {"description", "With a resource"},
             {"arguments", json::array({needs("resourceUri")})}},
            {{"name", "test_prompt_with_image"}, {"description", "With a picture"}}};
  }
  [[nodiscard]] Result<json> prompt(const std::string& name, const json& given) const override {
    json messages;
    if (name == "test_simple_prompt") {
      messages = json::array({user_says(text("This is a simple prompt for testing."))});
    } else if (name == "test_prompt_with_arguments") {
      messages = json::array(
          {user_says(text(fmt::format("Prompt with arguments: arg1='{}', arg2='{}'",
                                      given.value("arg1", ""), given.value("arg2", ""))))});
    } else if (name == "test_prompt_with_embedded_resource") {
      messages = {user_says(resource(given.value("resourceUri", ""), "text/plain",
                                     "Embedded resource content for testing.")),
                  user_says(text("Please process the embedded resource above."))};
    } else if (name == "test_prompt_with_image") {
      messages = {user_says(image()), user_says(text("Please analyze the image above."))};
    } else {
      return make_error(ErrorKind::bad_input, "there is no such prompt");
    }
    return json{{"messages", messages}};
  }
  [[nodiscard]] std::vector<std::string> complete(
      const TypedArgument& typed, const std::filesystem::path& /*store*/) const override {
    return {typed.value + "1", typed.value + "2"};
  }
};

// The endpoint behind the gate, as the service has it.
class Endpoint : public http::Handler {
 public:
  explicit Endpoint(SessionSettings settings) : mount_(std::move(settings)) {}

  void take(const std::shared_ptr<http::Exchange>& exchange) override {
    if (const auto refusal = gate_.refused(exchange->request()); refusal) {
      exchange->answer({refusal->status, "application/json", http::error_body(refusal->why)});
    } else {
      mount_.take(exchange, {"local", false});
    }
  }
  int tick() override { return mount_.tick(); }

 private:
  http::Gate gate_{"127.0.0.1", {}, {}};
  HttpEndpoint mount_;
};

int serve_fixture() {
  const Result<ScratchDir> store = ScratchDir::create("mcp-fixture");
  const Result<std::unique_ptr<http::Server>> server = http::Server::listen({});
  if (!store || !server) {
    return 1;
  }
  const FixtureCatalog catalog;
  Endpoint endpoint({.store = store->path(), .catalog = &catalog});
  fmt::print("http://127.0.0.1:{}/mcp\n", (*server)->port());
  std::fflush(stdout);
  std::stop_source stop;
  const std::jthread reader([&stop] {
    char byte = 0;
    while (::read(STDIN_FILENO, &byte, 1) > 0) {
    }
    stop.request_stop();
  });
  (*server)->run(endpoint, stop.get_token());
  return 0;
}

}  // namespace
}  // namespace kernelpro::mcp

int main() {
  return kernelpro::mcp::serve_fixture();
}
