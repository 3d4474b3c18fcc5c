#include "coordinator/task/struct_array.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kernelpro {

std::string part_name(const RecordPart& part) {
  std::string name = part.path;
  std::ranges::replace(name, '.', '_');
  return name;
}

std::string struct_array(const OwnType& type, const std::string& array, const std::string& room,
                         const std::string& count, bool is_new) {
  if (type.kind == OwnType::Kind::list) {
    return (is_new ? fmt::format("  static {} {};\n", type.container, array) : std::string()) +
           fmt::format("  {0}.reserve({1});\n  {0}.resize({2});\n", array, room, count);
  }
  return fmt::format(
      "  static {0}* {1} = nullptr;\n  static long {1}_room = 0;\n  if ({1}_room < {2}) {{\n"
      "    delete[] {1};\n    {1} = new {0}[{2}];\n    {1}_room = {2};\n  }}\n",
      type.element.text, array, room);
}

std::string each_struct(const std::string& count, const std::string& body) {
  return fmt::format("  for (long kp_i = 0; kp_i < {}; ++kp_i) {{\n{}  }}\n", count, body);
}

std::string same_size(const std::string& list, const std::string& count) {
  return fmt::format("  if ({}.size() != static_cast<std::size_t>({})) {{\n    return 1;\n  }}\n",
                     list, count);
}

}  // namespace kernelpro
