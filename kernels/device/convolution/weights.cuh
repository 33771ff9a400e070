/**
 * weights.cuh - what all kernels of the convolution share: weights of some channels, and the
 * activation
 *
 * Weights and biases are read once, as floats, into the registers of the thread that owns their
 * channels. Gradients of an activation are those of its sums, computed again.
 */
#ifndef WSK_DEVICE_CONV_WEIGHTS_CUH
#define WSK_DEVICE_CONV_WEIGHTS_CUH

#include "../common/elements.cuh"
#include "../common/fast_math.cuh"
#include "params.h"

namespace wsk
{

/** f(y) = y / (1 + e^-y), where there is an activation. */
template <int N>
static WSK_DEVICE void
activate(float (&y)[N], bool silu)
{
	if (silu) {
#pragma unroll
		for (int i = 0; i < N; i++) {
			y[i] *= sigmoid(y[i]);
		}
	}
}

/** Makes of the gradients of f(sum) those of the sums. */
template <int N>
static WSK_DEVICE void
before_activation(float (&grad)[N], const float (&sum)[N], bool silu)
{
	if (silu) {
#pragma unroll
		for (int i = 0; i < N; i++) {
			float s = sigmoid(sum[i]);
			grad[i] *= s * fmaf(sum[i], 1.f - s, 1.f);
		}
	}
}

/** Weights and biases of @a N channels from @a channel on, of the last one where there are
 * fewer. */
template <typename T, typename PARAMS, int W, int N>
static WSK_DEVICE void
load_typed(const PARAMS &p, int channel, int count, float (&w)[W][N], float (&bias)[N])
{
	const T *weight = reinterpret_cast<const T *>(p.weight);
	const T *biases = reinterpret_cast<const T *>(p.bias);
	T bias_of[N];
#pragma unroll
	for (int i = 0; biases && i < N; i++) {
		bias_of[i] = biases[i < count ? channel + i : channel];
	}
	if (W == 4 && p.weight_whole) {
		piece<T, 4> four[N];
#pragma unroll
		for (int i = 0; i < N; i++) {
			four[i].load(weight + (int64_t)(i < count ? channel + i : channel) * 4);
		}
#pragma unroll
		for (int i = 0; i < N * W; i++) {
			w[i % W][i / W] = four[i / W].at(i % W);
		}
	} else {
		T each[W][N];
#pragma unroll
		for (int i = 0; i < N * W; i++) {
			int64_t c = i / W < count ? channel + i / W : channel;
			each[i % W][i / W] = weight[c * p.weight_channel + i % W * p.weight_tap];
		}
#pragma unroll
		for (int i = 0; i < N * W; i++) {
			w[i % W][i / W] = to_float(each[i % W][i / W]);
		}
	}
#pragma unroll
	for (int i = 0; i < N; i++) {
		bias[i] = biases ? to_float(bias_of[i]) : 0.f;
	}
}

template <typename PARAMS, int W, int N>
static WSK_DEVICE void
load_weights(const PARAMS &p, int channel, int count, float (&w)[W][N], float (&bias)[N])
{
	switch (p.weight_type) { /* enum wsk_type */
	case 1:
		load_typed<float16>(p, channel, count, w, bias);
		break;
	case 2:
		load_typed<bfloat16>(p, channel, count, w, bias);
		break;
	default:
		load_typed<float>(p, channel, count, w, bias);
	}
}

} // namespace wsk

#endif
