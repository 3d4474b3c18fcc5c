#include "runner/replay_files.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>

namespace kernelpro::runner {

namespace {

bool read_layout(const std::string& path, Layout& layout) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool whole = file >= 0 && read(file, &layout, sizeof layout) == sizeof layout;
  close(file);
  return whole && layout.sets == 1 && layout.tensor_count <= max_tensors &&
         layout.scalar_count <= max_values && layout.axis_count <= max_values;
}

bool map_inputs(const std::string& path, ReplayFiles& job) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status{};
  if (file < 0 || fstat(file, &status) != 0) {
    return false;
  }
  job.input_bytes = static_cast<std::size_t>(status.st_size);
  void* mapped = job.input_bytes == 0
                     ? nullptr
                     : mmap(nullptr, job.input_bytes, PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  job.inputs = static_cast<const char*>(mapped);
  return mapped != MAP_FAILED;
}

// Every input lies within the file.
bool fits(const ReplayFiles& job) {
  for (std::size_t i = 0; i < job.layout.tensor_count; ++i) {
    const TensorPlace& place = job.layout.tensors[i];
    if (place.data_offset > place.region_bytes ||
        (place.output == 0 && (place.region_bytes > job.input_bytes ||
                               place.region_offset > job.input_bytes - place.region_bytes))) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool read_replay(const std::string& folder, ReplayFiles& files) {
  return read_layout(folder + replay_layout, files.layout) &&
         map_inputs(folder + replay_inputs, files) && fits(files);
}

}  // namespace kernelpro::runner
