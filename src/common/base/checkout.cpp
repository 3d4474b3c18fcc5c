#include "common/base/checkout.hpp"

#include "common/base/process.hpp"

namespace kernelpro {

std::string checkout_commit(const std::filesystem::path& folder) {
  // The second name fails where the folder merely lies in a checkout that does not have it.
  Command command;
  command.arguments = {"git", "-C", folder.string(), "rev-parse", "HEAD", "HEAD:./"};
  command.inherit_environment = true;
  const Result<Finished> finished = run_command(command);
  return finished && finished->succeeded() ? finished->output.substr(0, finished->output.find('\n'))
                                           : "";
}

}  // namespace kernelpro
