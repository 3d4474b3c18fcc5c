// The tool that looks code up.
#include <nlohmann/json.hpp>

#include "coordinator/app/code.hpp"
#include "coordinator/mcp/arguments.hpp"
#include "coordinator/mcp/tools.hpp"

namespace kernelpro::mcp {

using nlohmann::json;

Result<json> code_search_tool(const json& arguments, const ToolSetting& setting) {
  constexpr int most_hits = 5;
  const std::string words = text_of(arguments, "words");
  const std::string symbol = text_of(arguments, "symbol");
  const std::string file = text_of(arguments, "file");
  if ((words.empty() ? 0 : 1) + (symbol.empty() ? 0 : 1) + (file.empty() ? 0 : 1) != 1) {
    return make_error(ErrorKind::bad_input, "give one of words, symbol and file");
  }
  if (!words.empty()) {
    KP_LET(const std::vector<code::Hit> hits, search_code(setting.store, words, most_hits));
    return to_json(hits);
  }
  if (!symbol.empty()) {
    KP_LET(const std::vector<code::SymbolHit> hits,
           find_code_symbols(setting.store, symbol, most_hits));
    return to_json(hits);
  }
  KP_LET(const CodeText text, read_code(setting.store, file));
  return to_json(text);
}

}  // namespace kernelpro::mcp
