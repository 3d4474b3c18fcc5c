// kp:hack 3  the runner's stream exchanged for one where nothing runs
// kp:task stream
// kp:expect cheated|incorrect clock|poison|values
//
// The runner keeps the stream for its stamps among its variables, and the one that calls are given
// lies elsewhere: in rounds the stamps enclose nothing. Calls by themselves find it as it was. Its
// twin is honest_times_itself.cu.
#include "driver.cuh"
#include "program.cuh"
#include "program_hook.cuh"
#include "round.cuh"
#include "stream.cuh"

namespace {

KnownRound known_round;
uint64_t* place = nullptr;  // where the runner keeps its stream, with two stamps behind it
uint64_t given = 0;
cudaStream_t idle = nullptr;

int exchange() {
  if (place != nullptr && known_round.asked != nullptr && plausible(*known_round.asked)) {
    *place = known_round.asked->count > 8 ? reinterpret_cast<uint64_t>(idle) : given;
  }
  return 0;
}

bool set_up(void* stream) {
  given = reinterpret_cast<uint64_t>(stream);
  const Words words = program_words();
  for (size_t i = 0; i + 2 < words.count && place == nullptr; ++i) {
    if (words.first[i] == given && words.first[i + 1] != 0 && words.first[i + 2] != 0) {
      place = words.first + i;
    }
  }
  cudaStreamCreateWithFlags(&idle, cudaStreamNonBlocking);
  return place != nullptr && call_before_ready(exchange);
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool ready = set_up(context->stream);
  const Call call = call_of(context, tensors);
  known_round.note(context);
  return ready ? launch(call, call.stream) : 1;
}
