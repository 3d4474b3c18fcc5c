// What the names of types in a user's file stand for, as the compiler resolves them.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "coordinator/task/own_type.hpp"

namespace kernelpro {

class OwnNames {
 public:
  // `unit` is the translation unit, `flags` those of the user's build.
  OwnNames(std::string unit, const std::vector<std::string>& flags, std::stop_token stop);

  // Fields of a class, in their order; nothing where it is none, or hides or inherits some.
  [[nodiscard]] std::optional<RecordFields> record(const std::string& name);

  // Nothing where it is no enum, or none with enumerators.
  [[nodiscard]] std::optional<OwnEnum> enumeration(const std::string& name);

  // A type as it is written in `scope` ("stats::detail") with what its typedefs stand for and with
  // the namespaces of its names. A compiler resolves the name of a field's own type, not those
  // behind a pointer or in a list.
  [[nodiscard]] std::string resolved(const std::string& type, const std::string& scope);

 private:
  using Trees = std::vector<nlohmann::json>;

  const Trees& declarations(const std::string& name);
  std::string resolved_word(const std::string& word, const std::string& scope);
  // Of a name with all its namespaces; empty where there is none.
  std::string type_named(const std::string& whole);

  std::string unit_;
  const std::vector<std::string>& flags_;
  std::stop_token stop_;
  std::map<std::string, Trees> declarations_;
  std::map<std::string, std::optional<RecordFields>> records_;
  std::map<std::string, std::string> words_;  // by scope and word
};

}  // namespace kernelpro
