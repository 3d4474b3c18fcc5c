// kernelpro-runner: loads one candidate and calls it. Hostile from the moment the candidate is
// loaded, so everything that confines it happens before: landlock, limits and the user in
// kernelpro-jail, which started us; the system-call filter here, on all threads.
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "runner/channel.hpp"
#include "runner/device.hpp"
#include "runner/host_replay.hpp"
#include "runner/replay.hpp"
#include "runner/seccomp.hpp"
#include "runner/serve.hpp"
#include "runner/tracer.hpp"

namespace {

// No page may become executable that was writable. That makes patching our code harder and no more:
// a page of the candidate's own code can still be moved over ours, and our data is open to it. The
// worker's clock has the last word with and without. Linux 6.3 and later.
constexpr int set_mdwe = 65;
constexpr unsigned long refuse_exec_gain = 1;

}  // namespace

int main(int argc, char** argv) {
  using namespace kernelpro::runner;
  static Device device;
  static Tracer tracer;
  const bool cuda = argc > 1 && std::strcmp(argv[1], cuda_argument) == 0;
  const bool replays = cuda && argc > 4 && std::strcmp(argv[2], replay_argument) == 0;
  if (argc > 4 && std::strcmp(argv[1], host_replay_argument) == 0) {
    return replay_on_host({argv[2], std::atoi(argv[3]), std::atoll(argv[4])});
  }
  if (!replays) {
    report_fatal_signals();
  }
  if (argc > 3 && std::strcmp(argv[2], trace_argument) == 0) {
    if (const kernelpro::Status opened = tracer.open(argv[3]); !opened) {
      std::fprintf(stderr, "%s\n", opened.error().text().c_str());
      return 1;
    }
  }
  if (cuda && !replays) {
    // Before the filter: opening a GPU takes system calls that no candidate needs.
    if (const kernelpro::Status opened = device.open(); !opened) {
      std::fprintf(stderr, "%s\n", opened.error().text().c_str());
      return 1;
    }
  }
  if (replays) {
    return replay(device, argv[3], std::atoi(argv[4]));
  }
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  prctl(set_mdwe, refuse_exec_gain, 0, 0, 0);
  const int listener = install_filter(cuda);
  if (listener < 0) {
    std::perror("kernelpro-runner: installing the system-call filter");
    return 1;
  }
  Reply hello{};
  hello.kind = ReplyKind::hello;
  if (!send_reply(hello, listener)) {
    return 1;
  }
  close(listener);
  return serve(device, tracer);
}
