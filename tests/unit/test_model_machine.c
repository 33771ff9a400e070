/* test_model_machine.c - platform tags of wheels, from the measured and the linked versions. */
#include "test.h"

#include "model/machine.h"

WS_TEST(a_wheel_has_the_tag_that_was_measured_and_the_one_it_was_linked_for)
{
	static const struct {
		const char *measured, *glibc, *tags;
	} wheels[] = {
		{"manylinux_2_24_x86_64", "2.28", "manylinux_2_24_x86_64.manylinux_2_28_x86_64"},
		{"manylinux_2_24_aarch64", "2.28", "manylinux_2_24_aarch64.manylinux_2_28_aarch64"},
		{"manylinux_2_28_x86_64", "2.28", "manylinux_2_28_x86_64"},
		{"manylinux_2_34_x86_64", NULL, "manylinux_2_34_x86_64"},
		{"manylinux_2_17_x86_64", "2.17", "manylinux2014_x86_64.manylinux_2_17_x86_64"},
		{"manylinux_2_17_aarch64", "2.31",
			"manylinux2014_aarch64.manylinux_2_17_aarch64.manylinux_2_31_aarch64"},
		{"manylinux_2_12_x86_64", "2.17",
			"manylinux_2_12_x86_64.manylinux2014_x86_64.manylinux_2_17_x86_64"},
		/* A module that needs more than its link target, or an unknown policy, gets the tag of its
		 * real needs. */
		{"manylinux_2_34_x86_64", "2.28", "manylinux_2_34_x86_64"},
		{"linux_x86_64", "2.28", "linux_x86_64"},
	};
	for (size_t i = 0; i < WS_LEN(wheels); i++) {
		assert_string_equal(
			ws_manylinux_tags(wheels[i].measured, wheels[i].glibc, a), wheels[i].tags);
	}
}
