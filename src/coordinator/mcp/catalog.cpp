#include "coordinator/mcp/catalog.hpp"

#include <nlohmann/json.hpp>

#include "coordinator/mcp/prompts.hpp"
#include "coordinator/mcp/resources.hpp"
#include "coordinator/mcp/rpc.hpp"

namespace kernelpro::mcp {

namespace {

using nlohmann::json;

class OwnCatalog : public Catalog {
 public:
  [[nodiscard]] std::vector<std::string> tool_names() const override {
    std::vector<std::string> names;
    for (const Tool& one : tools()) {
      names.emplace_back(one.name);
    }
    return names;
  }

  [[nodiscard]] const Tool* tool(const std::string& name) const override {
    return name == ceilings_job ? nullptr : find_tool(name);
  }

  [[nodiscard]] Result<json> definition(const std::string& name) const override {
    return tool_definition(name);
  }

  [[nodiscard]] json result_of(const Result<json>& done) const override {
    return done ? tool_result(*done) : failed_tool_result(done.error().text());
  }

  [[nodiscard]] json resources() const override { return resource_list(); }
  [[nodiscard]] json templates() const override { return resource_templates(); }

  [[nodiscard]] Result<json> read(const std::string& uri,
                                  const std::filesystem::path& store) const override {
    KP_LET(std::string text, read_resource(uri, store));
    return resource_result(uri, std::move(text));
  }

  [[nodiscard]] json prompts() const override { return prompt_list(); }
  [[nodiscard]] Result<json> prompt(const std::string& name, const json& arguments) const override {
    return prompt_result(name, arguments);
  }

  [[nodiscard]] std::vector<std::string> complete(
      const TypedArgument& typed, const std::filesystem::path& store) const override {
    return completions(typed, store);
  }
};

}  // namespace

const Catalog& own_catalog() {
  static const OwnCatalog own;
  return own;
}

}  // namespace kernelpro::mcp
