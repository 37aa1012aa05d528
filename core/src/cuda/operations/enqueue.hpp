// Queue::enqueue() calls these functions, one for each operation of tenure/device_call.hpp. Each
// checks its operands and enqueues.
#pragma once

#include "cuda/queue.hpp"

namespace tenure::cuda {

// elementwise.cpp
void enqueue(const Queue& queue, const DeviceCopy& call);
void enqueue(const Queue& queue, const DeviceCast& call);
void enqueue(const Queue& queue, const DeviceFill& call);
void enqueue(const Queue& queue, const DeviceUnary& call);
void enqueue(const Queue& queue, const DeviceBinary& call);
void enqueue(const Queue& queue, const DeviceTernary& call);
void enqueue(const Queue& queue, const DeviceCompare& call);
void enqueue(const Queue& queue, const DeviceSelect& call);
// expression.cpp
void enqueue(const Queue& queue, const DeviceEvaluation& call);
// reduce.cpp, normalize.cpp, scan.cpp, order.cpp
void enqueue(const Queue& queue, const DeviceReduce& call);
void enqueue(const Queue& queue, const DeviceNormalize& call);
void enqueue(const Queue& queue, const DeviceScan& call);
void enqueue(const Queue& queue, const DeviceSort& call);
// matmul.cpp, images/
void enqueue(const Queue& queue, const DeviceMatmul& call);
void enqueue(const Queue& queue, const DeviceConv2d& call);
void enqueue(const Queue& queue, const DevicePool2d& call);
void enqueue(const Queue& queue, const DeviceBatchNorm& call);
// indexed.cpp
void enqueue(const Queue& queue, const DeviceTake& call);
void enqueue(const Queue& queue, const DevicePut& call);
// sparse/
void enqueue(const Queue& queue, const DeviceSparseMatmul& call);
void enqueue(const Queue& queue, const DeviceSample& call);
void enqueue(const Queue& queue, const DeviceScatter& call);
void enqueue(const Queue& queue, const DeviceEntrySearch& search);
void enqueue(const Queue& queue, const DeviceEntryOrder& call);

}  // namespace tenure::cuda
