#include "coordinator/llm/api_key.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "common/base/file.hpp"
#include "common/base/text.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_key = 4096;

// A key becomes a line of a header, so it must not end one.
Status check_key(const std::string& key, const std::string& origin) {
  if (key.empty()) {
    return make_error(ErrorKind::bad_input, "there is no key in it; the first line should be one",
                      origin);
  }
  const bool plain = std::all_of(key.begin(), key.end(), [](char c) { return c > ' ' && c < 127; });
  if (!plain || key.size() > longest_key) {
    return make_error(ErrorKind::bad_input,
                      "what is there is no key: expected one word of letters, digits and signs",
                      origin);
  }
  return {};
}

bool others_can_read(const fs::path& file) {
  std::error_code none;
  const fs::perms given = fs::status(file, none).permissions();
  return (given & (fs::perms::group_read | fs::perms::others_read)) != fs::perms::none;
}

Result<ApiKey> key_from_file(const std::string& file) {
  std::error_code none;
  std::error_code unknown;
  const std::uintmax_t size = fs::file_size(file, unknown);
  if (fs::is_directory(file, none) || (!unknown && size > 16 * longest_key)) {
    return make_error(ErrorKind::bad_input, "expected a file with the key in its first line",
                      "key file " + file);
  }
  const Result<std::string> text = read_file(file);
  if (!text) {
    return make_error(ErrorKind::bad_input, text.error().text(), "key file " + file);
  }
  ApiKey key{std::string(trimmed(text->substr(0, text->find('\n')))), "the key in " + file};
  if (others_can_read(file)) {
    key.origin += " (which others can read: chmod 600 " + file + ")";
  }
  KP_TRY(check_key(key.value, "key file " + file));
  return key;
}

}  // namespace

Result<ApiKey> find_api_key(const Provider& provider, const BaseUrl& base, bool given,
                            const std::string& key_file) {
  if (!key_file.empty()) {
    return key_from_file(key_file);
  }
  const std::string variable(provider.key_variable);
  const char* const found = std::getenv(variable.c_str());
  const bool optional = provider.key_optional && given;
  if (found == nullptr || *found == '\0') {
    if (optional) {
      return ApiKey{"", "no key was sent: " + variable + " is not set"};
    }
    return make_error(ErrorKind::bad_input,
                      fmt::format("no key: set {}, or name a file that holds it", variable),
                      std::string(provider.name));
  }
  if (!base.encrypted && !base.loopback) {
    if (optional) {
      return ApiKey{"",
                    "no key was sent: " + variable +
                        " does not go over http:// to another machine, name a key file for that"};
    }
    return make_error(ErrorKind::bad_input,
                      variable +
                          " does not go over http:// to another machine: use https://, or "
                          "name a file that holds a key for it",
                      "base URL " + base.text);
  }
  ApiKey key{std::string(trimmed(found)), "the key in " + variable};
  KP_TRY(check_key(key.value, variable));
  return key;
}

}  // namespace kernelpro
