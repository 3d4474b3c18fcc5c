#include <unistd.h>

#include "coordinator/cli/commands.hpp"
#include "coordinator/cli/output.hpp"
#include "coordinator/mcp/jobs.hpp"
#include "coordinator/mcp/stdio.hpp"

namespace kernelpro {

int mcp_command(const Options& options, std::stop_token stop) {
  const Status done = options.jobs ? mcp::work_jobs(STDIN_FILENO, STDOUT_FILENO, std::move(stop))
                                   : mcp::serve_stdio(options.node.store, std::move(stop));
  return done ? exit_done : report_error(options, done.error());
}

}  // namespace kernelpro
