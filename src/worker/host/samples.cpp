#include "worker/host/samples.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <sstream>
#include <string_view>

#include "common/base/file.hpp"
#include "common/base/sample_file.hpp"

namespace kernelpro {

namespace {

namespace fs = std::filesystem;

struct Mapping {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t offset = 0;
  std::string module;
};

// "55d4-55d8 r-xp 00001000 fe:01 123  /usr/bin/x"
std::vector<Mapping> parse_maps(const std::string& text) {
  std::vector<Mapping> out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string range;
    std::string rights;
    std::string offset;
    std::string device;
    std::string inode;
    words >> range >> rights >> offset >> device >> inode;
    Mapping one;
    std::getline(words >> std::ws, one.module);
    const char* end = range.data() + range.size();
    const auto first = std::from_chars(range.data(), end, one.begin, 16);
    const bool both = first.ec == std::errc() && first.ptr != end && *first.ptr == '-' &&
                      std::from_chars(first.ptr + 1, end, one.end, 16).ec == std::errc();
    const bool has_offset =
        std::from_chars(offset.data(), offset.data() + offset.size(), one.offset, 16).ec ==
        std::errc();
    if (both && has_offset && one.module.starts_with('/')) {
      out.push_back(std::move(one));
    }
  }
  return out;
}

const Mapping* find_mapping(const std::vector<Mapping>& maps, std::uint64_t address) {
  const auto found = std::find_if(maps.begin(), maps.end(), [address](const Mapping& one) {
    return address >= one.begin && address < one.end;
  });
  return found == maps.end() ? nullptr : &*found;
}

// Plain numbers of a header that was written by a process that may have been killed.
struct Head {
  std::uint32_t count = 0;
  std::uint32_t lost = 0;
  double span_ns = 0;
  double cpu_ns = 0;
  double system_ns = 0;
  double faults = 0;
  double resident_bytes = 0;
};

bool read_sample_head(const std::string& bytes, Head& head) {
  sample::Header header;
  if (bytes.size() < sizeof header) {
    return false;
  }
  std::memcpy(static_cast<void*>(&header), bytes.data(), sizeof header);
  const std::uint64_t room = (bytes.size() - sizeof header) / sizeof(sample::Record);
  const std::uint32_t seen = header.count;
  head.count = static_cast<std::uint32_t>(
      std::min({std::uint64_t{seen}, std::uint64_t{header.capacity}, room}));
  head.lost = seen - head.count;
  head.span_ns = static_cast<double>(header.last_ns - header.start_ns);
  head.cpu_ns = static_cast<double>(header.cpu_ns);
  head.system_ns = static_cast<double>(header.system_ns);
  head.faults = static_cast<double>(header.faults);
  head.resident_bytes = static_cast<double>(header.resident_bytes);
  return header.magic == sample::magic;
}

void take_process(const fs::path& file, const std::string& process, HostSamples& out,
                  double& most) {
  const Result<std::string> bytes = read_file(file);
  const Result<std::string> maps_text =
      read_file(file.parent_path() / (sample::maps_prefix + process));
  Head head;
  if (!bytes || !read_sample_head(*bytes, head) || head.count == 0) {
    return;
  }
  const std::vector<Mapping> maps = parse_maps(maps_text ? *maps_text : "");
  std::map<std::uint32_t, ThreadTime> threads;
  for (std::uint32_t i = 0; i < head.count; ++i) {
    sample::Record record;
    std::memcpy(&record, bytes->data() + sizeof(sample::Header) + i * sizeof record, sizeof record);
    const Mapping* mapping = find_mapping(maps, record.address);
    const bool waits = mapping != nullptr && lets_threads_wait(mapping->module);
    (waits ? threads[record.thread].waiting : threads[record.thread].working) += 1;
    if (mapping == nullptr) {
      out.elsewhere += 1;
    } else {
      out.modules[mapping->module][static_cast<std::int64_t>(record.address - mapping->begin +
                                                             mapping->offset)] += 1;
    }
  }
  ++out.processes;
  out.cpu_ns += head.cpu_ns;
  out.system_ns += head.system_ns;
  out.faults += head.faults;
  out.resident_bytes += head.resident_bytes;
  out.all += head.count;
  out.lost += head.lost;
  if (head.count <= most) {
    return;
  }
  most = head.count;
  out.span_ns = head.span_ns;
  out.threads.clear();
  for (const auto& [thread, time] : threads) {
    out.threads.push_back(time);
  }
  std::sort(out.threads.begin(), out.threads.end(),
            [](const ThreadTime& a, const ThreadTime& b) { return a.working > b.working; });
}

}  // namespace

bool lets_threads_wait(const std::string& module) {
  const std::string name = fs::path(module).filename().string();
  return name.starts_with("libgomp") || name.starts_with("libomp") || name.starts_with("libiomp");
}

Result<HostSamples> read_samples(const fs::path& folder) {
  HostSamples out;
  double most = 0;
  int files = 0;
  std::error_code failure;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, failure)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(sample::samples_prefix)) {
      ++files;
      take_process(entry.path(), name.substr(sizeof sample::samples_prefix - 1), out, most);
    }
  }
  if (files == 0) {
    return make_error(ErrorKind::bad_input,
                      "the sampler was not loaded: the program is linked statically, or runs with "
                      "more rights than yours");
  }
  return out;
}

}  // namespace kernelpro
