#include <fmt/format.h>

#include <cstdio>

#include "coordinator/cli/commands.hpp"
#include "coordinator/cli/output.hpp"
#include "coordinator/mcp/http_endpoint.hpp"
#include "coordinator/serve/service.hpp"

namespace kernelpro {

int serve_command(const Options& options, std::stop_token stop) {
  const ServeOptions& given = options.serve;
  if (given.workers.scheme != WorkerScheme::live) {
    return report_error(options, make_error(ErrorKind::bad_input,
                                            "a service needs workers that answer: local, "
                                            "local:DEVICE or cmd:COMMAND",
                                            "--workers"));
  }
  serve::ServiceSettings settings;
  settings.store = std::filesystem::absolute(options.node.store).lexically_normal();
  settings.address = given.address;
  settings.port = given.port;
  settings.tokens = given.tokens;
  settings.hosts = given.hosts;
  settings.queue = {given.most_waiting, given.most_of_client, given.kept};
  settings.judges = {given.workers.places, given.judging};
  mcp::HttpEndpoint agents({.store = settings.store});
  settings.mounts = {{"/mcp", &agents}};
  const Status done = serve::serve(
      settings,
      [](const std::string& url) {
        fmt::print("serving at {}\n", url);
        std::fflush(stdout);
      },
      std::move(stop));
  return done ? exit_done : report_error(options, done.error());
}

}  // namespace kernelpro
