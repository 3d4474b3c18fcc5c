#include "common/base/jail_policy.hpp"

#include <linux/landlock.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>

namespace kernelpro {

std::vector<std::string> jail_arguments(const std::string& jail, const JailPolicy& policy,
                                        const std::vector<std::string>& program) {
  std::vector<std::string> out = {jail};
  const auto add = [&out](const char* name, const std::string& value) {
    out.emplace_back(name);
    out.push_back(value);
  };
  const auto add_limit = [&add](const char* name, std::int64_t value) {
    if (value > 0) {
      add(name, std::to_string(value));
    }
  };
  for (const std::string& path : policy.read) {
    add("--read", path);
  }
  for (const std::string& path : policy.write) {
    add("--write", path);
  }
  for (const std::string& path : policy.devices) {
    add("--device", path);
  }
  if (policy.open_files != JailPolicy{}.open_files) {
    add_limit("--open-files", policy.open_files);
  }
  add_limit("--memory", policy.memory_bytes);
  add_limit("--heap", policy.heap_bytes);
  add_limit("--file-size", policy.file_bytes);
  add_limit("--processes", policy.processes);
  add_limit("--cpu", policy.cpu_seconds);
  add_limit("--tree-cpu-ms", policy.tree_cpu_ms);
  for (const int fd : policy.keep_fds) {
    add("--keep-fd", std::to_string(fd));
  }
  if (!policy.drop_user) {
    out.emplace_back("--keep-user");
  }
  if (!policy.landlock) {
    out.emplace_back("--no-landlock");
  }
  if (policy.network) {
    out.emplace_back("--network");
  }
  if (policy.guard) {
    out.emplace_back("--guard");
  }
  out.emplace_back("--");
  out.insert(out.end(), program.begin(), program.end());
  return out;
}

namespace {

Result<std::int64_t> parse_number(const std::string& option, const std::string& text) {
  std::int64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size() || value < 0) {
    return make_error(ErrorKind::bad_input, "expected a whole number >= 0, found \"" + text + "\"",
                      option);
  }
  return value;
}

Status apply_option(JailPolicy& policy, const std::string& option, const std::string& value) {
  if (option == "--read") {
    policy.read.push_back(value);
    return {};
  }
  if (option == "--write") {
    policy.write.push_back(value);
    return {};
  }
  if (option == "--device") {
    policy.devices.push_back(value);
    return {};
  }
  KP_LET(const std::int64_t number, parse_number(option, value));
  if (option == "--memory") {
    policy.memory_bytes = number;
  } else if (option == "--heap") {
    policy.heap_bytes = number;
  } else if (option == "--file-size") {
    policy.file_bytes = number;
  } else if (option == "--processes") {
    policy.processes = number;
  } else if (option == "--cpu") {
    policy.cpu_seconds = number;
  } else if (option == "--tree-cpu-ms") {
    policy.tree_cpu_ms = number;
  } else if (option == "--open-files") {
    policy.open_files = number;
  } else if (option == "--keep-fd") {
    policy.keep_fds.push_back(static_cast<int>(number));
  } else {
    return make_error(ErrorKind::bad_input, "unknown option", option);
  }
  return {};
}

}  // namespace

Result<JailedProgram> parse_jail_arguments(const std::vector<std::string>& arguments) {
  JailedProgram out;
  std::size_t i = 0;
  for (; i < arguments.size() && arguments[i] != "--"; ++i) {
    if (arguments[i] == "--keep-user") {
      out.policy.drop_user = false;
    } else if (arguments[i] == "--no-landlock") {
      out.policy.landlock = false;
    } else if (arguments[i] == "--network") {
      out.policy.network = true;
    } else if (arguments[i] == "--guard") {
      out.policy.guard = true;
    } else if (i + 1 < arguments.size()) {
      KP_TRY(apply_option(out.policy, arguments[i], arguments[i + 1]));
      ++i;
    } else {
      return make_error(ErrorKind::bad_input, "expected a value after it", arguments[i]);
    }
  }
  if (i + 1 >= arguments.size()) {
    return make_error(ErrorKind::bad_input,
                      "expected [--read PATH]... [--write PATH]... -- PROGRAM [ARGUMENT]...");
  }
  out.program.assign(arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1, arguments.end());
  return out;
}

int landlock_abi() {
  const long abi =
      syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  return abi < 0 ? 0 : static_cast<int>(abi);
}

}  // namespace kernelpro
