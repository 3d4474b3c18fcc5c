// What may be tried on one candidate, made concrete only as far as it is asked for: parsing a
// source and rewriting it in every way takes longer than judging some candidates.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "coordinator/propose/playbook.hpp"

namespace kernelpro {

class Prospects {
 public:
  // The playbook must outlive it.
  Prospects(const Playbook& playbook, Parent parent);

  // Takes the most promising suggestion whose candidate is not in `known`; nothing when none is
  // left. `key` is set to its candidate key. May block while clang parses the source.
  [[nodiscard]] std::optional<Suggestion> take(const Experience& experience,
                                               const std::set<std::string>& known, std::string& key,
                                               std::stop_token stop = {});

  // Moves that do not apply, as far as they were asked for.
  [[nodiscard]] const std::vector<Refusal>& refusals() const { return refusals_; }
  // Why nothing is left, for people.
  [[nodiscard]] std::string exhausted_because() const;

 private:
  struct Waiting {
    Suggestion suggestion;
    std::string key;
  };
  void open(const Move& move, std::stop_token stop);

  const Playbook* playbook_;
  Parent parent_;
  std::vector<const Move*> unopened_;
  std::vector<Waiting> waiting_;
  std::vector<Refusal> refusals_;
  std::size_t made_ = 0;
};

}  // namespace kernelpro
