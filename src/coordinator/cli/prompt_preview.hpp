// What a model would be asked and what that may cost, without asking it.
#pragma once

#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "coordinator/loop/partners.hpp"

namespace kernelpro {

// The whole request with its worst case.
[[nodiscard]] Result<std::string> preview_text(const AgentOrder& order);
[[nodiscard]] Result<nlohmann::json> preview_json(const AgentOrder& order);

// An author that writes nothing: it keeps what the call for the first node would be, whichever
// thread asks first, and ends the run.
class PreviewAuthor : public Author {
 public:
  explicit PreviewAuthor(const Run& run) : run_(run) {}

  [[nodiscard]] Result<Proposed> write(const AgentOrder& order, std::stop_token stop) override;
  [[nodiscard]] const std::optional<std::string>& text() const { return text_; }
  [[nodiscard]] nlohmann::json json() const;

 private:
  const Run& run_;
  std::mutex mutex_;
  NodeId node_ = no_node;
  std::optional<std::string> text_;
  std::string json_;
};

}  // namespace kernelpro
