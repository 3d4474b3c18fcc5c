#include "worker/tensor/parallel.hpp"

#include <algorithm>
#include <thread>
#include <vector>

namespace kernelpro {

void parallel_parts(std::size_t count, std::size_t grain,
                    const std::function<void(std::size_t, std::size_t)>& work) {
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  const std::size_t parts =
      std::clamp<std::size_t>(count / std::max<std::size_t>(grain, 1), 1, cores);
  std::vector<std::jthread> threads;
  for (std::size_t part = 1; part < parts; ++part) {
    threads.emplace_back(
        [&work, count, part, parts] { work(count * part / parts, count * (part + 1) / parts); });
  }
  work(0, count / parts);
}

}  // namespace kernelpro
