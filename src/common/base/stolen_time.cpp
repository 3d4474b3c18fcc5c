#include "common/base/stolen_time.hpp"

#include <unistd.h>

#include <fstream>
#include <string>

namespace kernelpro {

double stolen_ns() {
  // "cpu  user nice system idle iowait irq softirq steal guest guest_nice", in ticks.
  constexpr int steal_column = 8;
  std::ifstream file("/proc/stat");
  std::string name;
  file >> name;
  double ticks = 0;
  for (int column = 0; column < steal_column; ++column) {
    if (!(file >> ticks)) {
      return 0;
    }
  }
  return ticks * 1e9 / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace kernelpro
