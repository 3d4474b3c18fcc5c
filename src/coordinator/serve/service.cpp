#include "coordinator/serve/service.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "coordinator/http/listen.hpp"
#include "coordinator/serve/api.hpp"
#include "coordinator/serve/result.hpp"

namespace kernelpro::serve {

namespace {

Result<std::vector<http::Token>> tokens_of(const ServiceSettings& settings) {
  if (!settings.tokens.empty()) {
    return http::read_tokens(settings.tokens);
  }
  if (!http::is_loopback(settings.address)) {
    return make_error(
        ErrorKind::bad_input,
        "others than this machine can reach that address: --tokens FILE is needed, with a line "
        "NAME TOKEN for each client",
        "--listen " + settings.address);
  }
  return std::vector<http::Token>();
}

std::string url_of(const std::string& address, int port) {
  const bool v6 = address.find(':') != std::string::npos;
  return "http://" + (v6 ? "[" + address + "]" : address) + ":" + std::to_string(port);
}

// What took the service down each time it was begun gets its result without another try.
Status give_up_on(Queue& queue) {
  KP_LET(const std::vector<std::string> ids, queue.begun_too_often());
  for (const std::string& id : ids) {
    const auto kept = queue.finish(
        id, {unjudged_result(fmt::format("given up: it was begun {} times, and the service ended "
                                         "each time before it was judged",
                                         most_attempts))
                 .dump(),
             "", ""});
    KP_TRY(kept ? Status() : Status(kept.error()));
  }
  return {};
}

// Ends the server when the service was drained.
class EndingApi : public http::Handler {
 public:
  EndingApi(Api& api, std::stop_source& ended) : api_(api), ended_(ended) {}
  void take(const std::shared_ptr<http::Exchange>& exchange) override { api_.take(exchange); }
  int tick() override {
    const int pause_ms = api_.tick();
    if (api_.drained()) {
      ended_.request_stop();
    }
    return pause_ms;
  }
  [[nodiscard]] std::vector<int> watched() const override { return api_.watched(); }

 private:
  Api& api_;
  std::stop_source& ended_;
};

}  // namespace

Status serve(const ServiceSettings& settings,
             const std::function<void(const std::string& url)>& ready, std::stop_token stop) {
  KP_LET(std::vector<http::Token> tokens, tokens_of(settings));
  http::Gate gate(settings.address, settings.hosts, std::move(tokens));
  KP_LET(const std::unique_ptr<Queue> queue, Queue::open(settings.store, settings.queue));
  KP_TRY(give_up_on(*queue));
  http::ServerSettings http;
  http.address = settings.address;
  http.port = settings.port;
  constexpr unsigned long other_files = 512;  // of the store, the workers, jobs
  http::allow_open_files(http.most_connections + other_files);
  KP_LET(const std::unique_ptr<http::Server> server, http::Server::listen(http));
  KP_LET(const std::unique_ptr<Api> api,
         Api::make({settings.store, &gate, queue.get(), settings.mounts}));
  Judges judges(*queue, settings.judges, [&](WorkNews news) {
    api->hear(std::move(news));
    server->wake();
  });
  api->judge_with(judges);
  judges.wake();
  ready(url_of(settings.address, server->port()));
  std::stop_source ended;
  const std::stop_callback passed_on(stop, [&ended] { ended.request_stop(); });
  EndingApi handler(*api, ended);
  server->run(handler, ended.get_token());
  return {};
}

}  // namespace kernelpro::serve
