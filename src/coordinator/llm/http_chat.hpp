// A model behind a provider that is asked over HTTP.
#pragma once

#include <memory>
#include <string>

#include "coordinator/llm/api_key.hpp"
#include "coordinator/llm/dialect.hpp"
#include "coordinator/llm/http.hpp"

namespace kernelpro {

class HttpChat : public Chat {
 public:
  HttpChat(std::unique_ptr<Dialect> dialect, ApiKey key, double timeout_seconds,
           double stall_seconds = HttpPost().stall_seconds)
      : dialect_(std::move(dialect)),
        key_(std::move(key)),
        timeout_seconds_(timeout_seconds),
        stall_seconds_(stall_seconds) {}

  [[nodiscard]] std::string provider() const override { return dialect_->provider(); }
  [[nodiscard]] std::string body(const ChatRequest& request) const override {
    return dialect_->body(request);
  }
  [[nodiscard]] Tried try_once(const std::string& id, const ChatRequest& request,
                               const TextListener& listener, std::stop_token stop) override;

 private:
  std::unique_ptr<Dialect> dialect_;
  ApiKey key_;
  double timeout_seconds_;
  double stall_seconds_;
  HttpClient client_;
};

}  // namespace kernelpro
