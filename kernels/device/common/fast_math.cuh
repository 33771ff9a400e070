/**
 * fast_math.cuh - what is made of exponential and logarithm
 */
#ifndef WSK_DEVICE_FAST_MATH_CUH
#define WSK_DEVICE_FAST_MATH_CUH

#include "instructions.cuh"

namespace wsk
{

constexpr float LOG2E = 1.44269504088896341f;
constexpr float LN2 = 0.69314718055994531f;

/** To 2e-7, of a result that is at most 1. */
WSK_DEVICE float
tanh_fast(float x)
{
	return 1.0f - 2.0f * reciprocal_fast(1.0f + exp2_fast(2.0f * LOG2E * x));
}

/** 1 / (1 + exp(-x)). */
WSK_DEVICE float
sigmoid(float x)
{
	return reciprocal_fast(1.0f + exp2_fast(-x * LOG2E));
}

/** log(1 + exp(x)); x itself above 20, as torch and upstream have it. */
WSK_DEVICE float
softplus(float x)
{
	float e = exp2_fast(x * LOG2E);
	/* Near 1 the logarithm would lose what e adds: five terms, to 2e-7 of the result. */
	float series = e * (1.0f + e * (-0.5f + e * (1.0f / 3 + e * (-0.25f + e * 0.2f))));
	float y = e < 0.0625f ? series : LN2 * log2_fast(1.0f + e);
	return x <= 20.0f ? y : x;
}

} // namespace wsk

#endif
