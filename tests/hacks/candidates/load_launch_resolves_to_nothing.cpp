// kp:hack bad-input  a resolver that finds no kp_launch
// kp:task axpy
// kp:expect crashed|launch_failed signal|load
extern "C" {
static void* pick() {
  return nullptr;
}
__attribute__((visibility("default"), ifunc("pick"))) int kp_launch(const void*, const void*, int);
}
