#include "coordinator/propose/source_header.hpp"

#include <sstream>

namespace kernelpro {

SourceHeader read_source_header(const std::string& source) {
  SourceHeader header;
  std::istringstream lines(source);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && !line.starts_with("//")) {
      break;
    }
    std::istringstream words(line);
    std::string slashes;
    std::string key;
    words >> slashes >> key;
    if (key == "kp:compiler") {
      words >> header.compiler;
    } else if (key == "kp:options") {
      for (std::string option; words >> option;) {
        header.options.push_back(option);
      }
    }
  }
  return header;
}

}  // namespace kernelpro
