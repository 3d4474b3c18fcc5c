// What a session offers: tools, resources and prompts. The product has one catalog; the program
// that the protocol's conformance suite is run against has another, with the tools that the suite
// wants.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "coordinator/mcp/completion.hpp"
#include "coordinator/mcp/tools.hpp"

namespace kernelpro::mcp {

class Catalog {
 public:
  Catalog() = default;
  Catalog(const Catalog&) = delete;
  Catalog& operator=(const Catalog&) = delete;
  virtual ~Catalog() = default;

  [[nodiscard]] virtual std::vector<std::string> tool_names() const = 0;
  // nullptr: there is none, or it is not for clients.
  [[nodiscard]] virtual const Tool* tool(const std::string& name) const = 0;
  // As tools/list has it.
  [[nodiscard]] virtual Result<nlohmann::json> definition(const std::string& name) const = 0;
  // What tools/call answers for what the tool came to.
  [[nodiscard]] virtual nlohmann::json result_of(const Result<nlohmann::json>& done) const = 0;

  [[nodiscard]] virtual nlohmann::json resources() const = 0;
  [[nodiscard]] virtual nlohmann::json templates() const = 0;
  // As resources/read has it. A bad_input error where there is no such resource.
  [[nodiscard]] virtual Result<nlohmann::json> read(const std::string& uri,
                                                    const std::filesystem::path& store) const = 0;

  [[nodiscard]] virtual nlohmann::json prompts() const = 0;
  [[nodiscard]] virtual Result<nlohmann::json> prompt(const std::string& name,
                                                      const nlohmann::json& arguments) const = 0;

  // What an argument of a prompt or of a template may be.
  [[nodiscard]] virtual std::vector<std::string> complete(
      const TypedArgument& typed, const std::filesystem::path& store) const = 0;
};

// That of the product.
[[nodiscard]] const Catalog& own_catalog();

}  // namespace kernelpro::mcp
