#include "coordinator/app/knowledge.hpp"

#include "common/base/file.hpp"
#include "common/base/paths.hpp"

namespace kernelpro {

namespace {

// A part of the prompts without what stands between its lines of dashes.
Result<std::string> prompt_part(const std::filesystem::path& share, const std::string& name) {
  KP_LET(const std::string text, read_file(share / "knowledge" / "prompts" / (name + ".md")));
  constexpr std::string_view dashes = "\n---\n";
  const std::size_t end = text.find(dashes);
  return end == std::string::npos ? text : text.substr(end + dashes.size());
}

}  // namespace

Result<std::vector<Move>> moves_of(Backend backend) {
  KP_LET(const std::filesystem::path share, share_directory());
  return load_moves(share / "knowledge" / "moves" / name_of(backend));
}

Result<std::string> contract_of(Backend backend) {
  KP_LET(const std::filesystem::path share, share_directory());
  KP_LET(const std::string contract, prompt_part(share, "contract"));
  KP_LET(const std::string own, prompt_part(share, name_of(backend)));
  return contract + "\n" + own;
}

}  // namespace kernelpro
