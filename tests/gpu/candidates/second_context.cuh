// A second context on the same GPU. Needs driver.cuh.
namespace {

inline CUcontext make_second_context() {
  const auto create =
      driver_function<CUresult (*)(CUcontext*, unsigned, CUdevice)>("cuCtxCreate_v2");
  const auto pop = driver_function<CUresult (*)(CUcontext*)>("cuCtxPopCurrent_v2");
  CUcontext context = nullptr;
  CUcontext popped = nullptr;
  if (create == nullptr || create(&context, 0, 0) != CUDA_SUCCESS) {
    return nullptr;
  }
  pop(&popped);
  return context;
}

// Does `work` there.
template <typename Work>
bool in_context(CUcontext context, Work work) {
  const auto push = driver_function<CUresult (*)(CUcontext)>("cuCtxPushCurrent_v2");
  const auto pop = driver_function<CUresult (*)(CUcontext*)>("cuCtxPopCurrent_v2");
  if (context == nullptr || push(context) != CUDA_SUCCESS) {
    return false;
  }
  work();
  CUcontext popped = nullptr;
  pop(&popped);
  return true;
}

}  // namespace
