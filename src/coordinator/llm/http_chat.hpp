// A model behind a provider that is asked over HTTP.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "coordinator/llm/api_key.hpp"
#include "coordinator/llm/dialect.hpp"
#include "coordinator/llm/http.hpp"
#include "coordinator/llm/left_out.hpp"
#include "coordinator/llm/provider.hpp"

namespace kernelpro {

class HttpChat : public Chat {
 public:
  HttpChat(const Provider& provider, const BaseUrl& base, ApiKey key, double timeout_seconds,
           double stall_seconds = HttpPost().stall_seconds)
      : provider_(provider.name),
        dialect_(provider.dialect(base)),
        key_(std::move(key)),
        timeout_seconds_(timeout_seconds),
        stall_seconds_(stall_seconds) {}

  [[nodiscard]] std::string provider() const override { return provider_; }
  [[nodiscard]] std::string body(const ChatRequest& request) const override {
    return dialect_->body(request);
  }
  // A parameter that is refused is left out, at once and from then on; body() does not tell.
  [[nodiscard]] Tried try_once(const std::string& id, const ChatRequest& request,
                               const TextListener& listener, std::stop_token stop) override;

 private:
  // One request, and what came back for it.
  struct Posted {
    Tried tried;
    int status = 0;
    std::string said;  // where that was no stream
  };
  [[nodiscard]] Posted post(const ChatRequest& request, const std::string& body,
                            const TextListener& listener, const std::stop_token& stop);

  std::string provider_;
  std::unique_ptr<Dialect> dialect_;
  ApiKey key_;
  double timeout_seconds_;
  double stall_seconds_;
  HttpClient client_;
  std::mutex mutex_;
  LeftOut left_out_;  // of what was answered
};

}  // namespace kernelpro
