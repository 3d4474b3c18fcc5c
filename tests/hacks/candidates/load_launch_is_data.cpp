// kp:hack bad-input  what it exports are variables and no functions
// kp:task axpy
// kp:expect crashed|launch_failed signal|load
extern "C" {
__attribute__((visibility("default"))) thread_local long kp_launch[8] = {1, 2, 3};
__attribute__((visibility("default"))) long kp_workspace[8] = {4, 5, 6};
}
