// kernelpro-oracle: computes expected values in double precision from the task's own reference, in
// a process that no candidate shares. It speaks the runner's protocol; the reference is trusted, so
// there is no system-call filter.
#include "runner/channel.hpp"
#include "runner/serve.hpp"

int main() {
  using namespace kernelpro::runner;
  report_fatal_signals();
  Reply hello{};
  hello.kind = ReplyKind::hello;
  Device none;
  Tracer untraced;
  return send_reply(hello) ? serve(none, untraced) : 1;
}
