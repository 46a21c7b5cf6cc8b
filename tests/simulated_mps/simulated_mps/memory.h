// Memory of the simulated device: ordinary memory, counted and labelled "mps".
//
// An alias shows one memory as a CPU tensor and as an MPS tensor, so that CPU kernels work on MPS tensors without a
// copy. It lives as long as one operator call.
#pragma once

#include <ATen/SparseTensorImpl.h>
#include <ATen/core/Tensor.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/StorageImpl.h>
#include <c10/core/impl/alloc_cpu.h>
#include <c10/util/SmallVector.h>

#include "record.h"

namespace simulated_mps {

using StoragePtr = c10::intrusive_ptr<c10::StorageImpl>;
const c10::Device kDevice(c10::kMPS, 0);

// Text of aten/src/ATen/mps/EmptyTensor.cpp, for new tensors; a view may have more dimensions.
inline void check_dimensions(c10::IntArrayRef size) {
  if (size.size() > 16) record().note("refused more than 16 dimensions");
  TORCH_CHECK(size.size() <= 16, "MPS supports tensors with dimensions <= 16, but got ", size.size(), ".");
}

// Return the type of a new tensor: the device has no float64. Texts of the same file.
inline c10::ScalarType accepted(c10::ScalarType type) {
  if (type != c10::kDouble && type != c10::kComplexDouble) return type;
  record().note("refused " + std::string(c10::toString(type)));
  TORCH_CHECK_TYPE(
      type != c10::kDouble,
      "Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn't support float64. "
      "Please use float32 instead.");
  TORCH_CHECK_TYPE(
      false, "Trying to convert ", type, " to the MPS backend but it does not have support for that dtype.");
}

struct Block {
  void* own;  // memory that we allocated, or null
  StoragePtr adopted;  // otherwise the storage of the CPU kernel that did
  int64_t bytes;
};

inline void release(void* context) {
  auto* block = static_cast<Block*>(context);
  record().allocated -= block->bytes;
  if (block->own != nullptr) c10::free_cpu(block->own);
  delete block;
}

struct CountingAllocator final : c10::DeviceAllocator {
  c10::DataPtr allocate(size_t bytes) override {
    void* data = bytes == 0 ? nullptr : c10::alloc_cpu(bytes);
    record().allocate(static_cast<int64_t>(bytes));
    return {data, new Block{data, {}, static_cast<int64_t>(bytes)}, &release, kDevice};
  }
  void copy_data(void* target, const void* source, size_t bytes) const override {
    default_copy_data(target, source, bytes);
  }

  // For torch.accelerator's statistics. Nothing is cached, so "reserved" is "allocated".
  bool initialized() override { return true; }
  void emptyCache(c10::MempoolId_t) override {}
  void recordStream(const c10::DataPtr&, c10::Stream) override {}
  void resetAccumulatedStats(c10::DeviceIndex) override {}
  void resetPeakStats(c10::DeviceIndex) override { record().peak = record().allocated.load(); }
  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex) override {
    c10::CachingDeviceAllocator::DeviceStats stats;
    for (auto* bytes : {&stats.allocated_bytes, &stats.reserved_bytes}) {
      auto& all = (*bytes)[static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE)];
      all.current = record().allocated;
      all.peak = record().peak;
    }
    return stats;
  }
};

inline CountingAllocator& allocator() {
  static auto* instance = new CountingAllocator;
  return *instance;
}

// Take over memory that a CPU kernel allocated.
inline c10::DataPtr adopt(const StoragePtr& storage) {
  const auto bytes = static_cast<int64_t>(storage->nbytes());
  record().allocate(bytes);
  return {storage->mutable_data(), new Block{nullptr, storage, bytes}, &release, kDevice};
}

class Aliases {
 public:
  // Return a CPU tensor over the memory of `tensor`. Twice the same tensor gives twice the same alias.
  at::Tensor to_cpu(const at::Tensor& tensor) {
    for (const auto& pair : tensors_)
      if (pair.original.is_same(tensor)) return pair.alias;
    at::Tensor alias;
    if (tensor.is_sparse()) {
      const auto* impl = sparse(tensor);
      alias = coordinates(tensor, to_cpu(impl->indices()), to_cpu(impl->values()), c10::DispatchKey::SparseCPU);
    } else {
      alias = view(cpu_storage(tensor), tensor, c10::DispatchKey::CPU);
    }
    if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) alias.unsafeGetTensorImpl()->set_wrapped_number(true);
    tensors_.push_back(TensorPair{tensor, alias});
    return alias;
  }

  // Return the MPS tensor that `tensor` is the alias of, or a view of one, or a new one that takes over its memory.
  at::Tensor to_mps(const at::Tensor& tensor) {
    if (!tensor.defined() || !tensor.is_cpu()) return tensor;
    for (const auto& pair : tensors_)
      if (pair.alias.is_same(tensor)) return pair.original;
    if (tensor.is_sparse()) {
      const auto* impl = sparse(tensor);
      return coordinates(tensor, to_mps(impl->indices()), to_mps(impl->values()), c10::DispatchKey::SparseMPS);
    }
    TORCH_CHECK_NOT_IMPLEMENTED(
        tensor.has_storage(), "simulated_mps has no ", tensor.layout(), " tensors; the real device may have some");
    return view(mps_storage(tensor), tensor, c10::DispatchKey::MPS);
  }

  // After a kernel that resized what it was given, let the MPS tensors follow.
  void follow() {
    for (auto& pair : storages_) {
      if (pair.alias->data() == pair.original->data() && pair.alias->nbytes() == pair.original->nbytes()) continue;
      pair.original->set_data_ptr_noswap(adopt(pair.alias));
      pair.original->set_nbytes(pair.alias->nbytes());
    }
    for (size_t i = 0; i < tensors_.size(); ++i) {  // by number, since a sparse tensor may add to the list
      const auto [original, alias] = tensors_[i];
      auto* impl = original.unsafeGetTensorImpl();
      if (original.is_sparse()) {
        adopt_coordinates(original, alias);
      } else if (
          impl->sizes() != alias.sizes() || impl->strides() != alias.strides() ||
          impl->storage_offset() != alias.storage_offset()) {
        impl->set_sizes_and_strides(alias.sizes(), alias.strides(), alias.storage_offset());
      }
    }
  }

 private:
  struct StoragePair {
    StoragePtr original, alias;
  };
  struct TensorPair {
    at::Tensor original, alias;
  };

  static at::Tensor view(const StoragePtr& storage, const at::Tensor& like, c10::DispatchKey key) {
    auto result = at::detail::make_tensor<c10::TensorImpl>(
        c10::Storage(storage), c10::DispatchKeySet(key), like.dtype());
    result.unsafeGetTensorImpl()->set_sizes_and_strides(like.sizes(), like.strides(), like.storage_offset());
    if (like.is_conj()) result._set_conj(true);
    if (like.is_neg()) result._set_neg(true);
    return result;
  }

  static at::SparseTensorImpl* sparse(const at::Tensor& tensor) {
    return static_cast<at::SparseTensorImpl*>(tensor.unsafeGetTensorImpl());
  }

  static at::Tensor coordinates(
      const at::Tensor& like, const at::Tensor& indices, const at::Tensor& values, c10::DispatchKey key) {
    auto result = at::detail::make_tensor<at::SparseTensorImpl>(c10::DispatchKeySet(key), like.dtype());
    auto* impl = sparse(result);
    const auto* of = sparse(like);
    impl->raw_resize_(of->sparse_dim(), of->dense_dim(), like.sizes());
    impl->set_indices_and_values_unsafe(indices, values);
    impl->set_coalesced(of->coalesced());
    return result;
  }

  void adopt_coordinates(const at::Tensor& original, const at::Tensor& alias) {
    auto *ours = sparse(original), *theirs = sparse(alias);
    if (ours->sizes() != theirs->sizes() || ours->sparse_dim() != theirs->sparse_dim())
      ours->raw_resize_(theirs->sparse_dim(), theirs->dense_dim(), theirs->sizes());
    ours->set_indices_and_values_unsafe(to_mps(theirs->indices()), to_mps(theirs->values()));
    ours->set_coalesced(theirs->coalesced());
  }

  static StoragePtr storage_of(const at::Tensor& tensor) {
    return StoragePtr::reclaim_copy(tensor.storage().unsafeGetStorageImpl());
  }

  StoragePtr cpu_storage(const at::Tensor& tensor) {
    auto original = storage_of(tensor);
    for (const auto& pair : storages_)
      if (pair.original == original) return pair.alias;
    auto alias = c10::make_intrusive<c10::StorageImpl>(
        c10::StorageImpl::use_byte_size_t(), original->nbytes(),
        c10::DataPtr(original->mutable_data(), c10::Device(c10::kCPU)), c10::GetAllocator(c10::kCPU), true);
    storages_.push_back(StoragePair{original, alias});
    return alias;
  }

  StoragePtr mps_storage(const at::Tensor& tensor) {
    auto alias = storage_of(tensor);
    for (const auto& pair : storages_)
      if (pair.alias == alias) return pair.original;
    check_dimensions(tensor.sizes());
    accepted(tensor.scalar_type());
    auto original = c10::make_intrusive<c10::StorageImpl>(
        c10::StorageImpl::use_byte_size_t(), alias->nbytes(), adopt(alias), &allocator(), true);
    storages_.push_back(StoragePair{original, alias});
    return original;
  }

  c10::SmallVector<StoragePair, 8> storages_;
  c10::SmallVector<TensorPair, 8> tensors_;
};

}  // namespace simulated_mps
