// The options of `serve`.
#include <CLI/CLI.hpp>

#include "coordinator/options/option_groups.hpp"

namespace kernelpro {

void add_serve(CLI::App& app, Options& options) {
  constexpr int most_port = 65535;
  constexpr int most_waiting = 10'000'000;
  CLI::App* command =
      app.add_subcommand("serve", "Judge for others: HTTP with JSON, events and /mcp");
  command->group(judge_group);
  ServeOptions& serve = options.serve;
  command->add_option("--listen", serve.address, "Address to serve at (default 127.0.0.1)")
      ->type_name("ADDRESS");
  command->add_option("--port", serve.port, "Its port (default 8086; 0: any free one)")
      ->check(CLI::Range(0, most_port));
  command
      ->add_option("--tokens", serve.tokens,
                   "A line NAME TOKEN for each client, with \"admin\" behind it for those who may "
                   "run code outside the sandbox; needed wherever others can reach the address")
      ->type_name("FILE");
  command
      ->add_option("--host", serve.hosts,
                   "A name that clients may use for this service; repeatable")
      ->allow_extra_args(false)
      ->type_name("NAME");
  command->add_option("--queue", serve.most_waiting, "Work that may wait (default 20000)")
      ->check(CLI::Range(1, most_waiting));
  command
      ->add_option("--client-queue", serve.most_of_client,
                   "Work of one client that may wait (default 5000)")
      ->check(CLI::Range(1, most_waiting));
  command
      ->add_option("--keep", serve.kept,
                   "Pieces of work whose results are kept, the newest ones (default 100000; never "
                   "fewer than may wait)")
      ->check(CLI::Range(1, most_waiting));
  add_workers(*command, serve.workers);
  add_sandbox(*command, serve.judging);
  add_store(*command, options);
  command->footer(
      "docs/serve.md says what it answers.\n"
      "Example:\n  kernelpro serve\n"
      "  kernelpro serve --listen 0.0.0.0 --tokens tokens.txt --workers local:0,local:1");
}

}  // namespace kernelpro
