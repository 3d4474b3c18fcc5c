#include "common/model/tool_record.hpp"

#include <cmath>

namespace kernelpro {

double ToolRecord::predicted() const {
  return passed == 0 ? 1 : std::exp(log_predicted / passed);
}

double ToolRecord::measured() const {
  return passed == 0 ? 1 : std::exp(log_measured / passed);
}

void ToolRecord::merge(const ToolRecord& other) {
  fired += other.fired;
  followed += other.followed;
  passed += other.passed;
  log_predicted += other.log_predicted;
  log_measured += other.log_measured;
  gained += other.gained;
}

}  // namespace kernelpro
