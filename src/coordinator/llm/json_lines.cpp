#include "coordinator/llm/json_lines.hpp"

#include <fstream>
#include <nlohmann/json.hpp>

#include "common/base/file.hpp"
#include "common/wire/json.hpp"

namespace kernelpro {

Status read_json_lines(const std::filesystem::path& file,
                       const std::function<Status(const JsonLine&)>& read) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) {
    return errno_error("reading " + file.string());
  }
  std::string text;
  for (int number = 1; std::getline(stream, text); ++number) {
    // Some editors leave the mark of UTF-8 alone in a line.
    if (text.find_first_not_of(" \t\r\xEF\xBB\xBF") == std::string::npos) {
      continue;
    }
    const std::string place = file.string() + ":" + std::to_string(number);
    const Result<nlohmann::json> json = parse_json(text);
    if (!json) {
      return make_error(ErrorKind::bad_input,
                        "the line is no JSON, it may be cut: " + json.error().text(), place);
    }
    KP_TRY(read({*json, text, place}));
  }
  return stream.bad() ? Status(errno_error("reading " + file.string())) : Status();
}

}  // namespace kernelpro
