"""Publishing a thousand wheels, and one more."""
import os
import sys

import lab

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "support"))
import make_labelled  # pylint: disable=wrong-import-position

WHEELS, LARGEST = 1000, 200_000


def make_wheels(folder):
    """Sizes up to LARGEST, 50 packages of 20 wheels: two torch releases, two sets of archs, five Pythons."""
    os.makedirs(folder)
    for number in range(WHEELS):
        package, rest = divmod(number, 20)
        torch, archs, python = ("2.5", "2.6")[rest // 10], ("86", "90")[rest // 5 % 2], f"cp3{10 + rest % 5}"
        make_labelled.make(folder, f"demo{package}", f"1.0+cu.12.4.torch.{torch}.sm.{archs}",
                           f"{python}-{python}-linux_x86_64", f"torch=={torch}.*", f"size={(number * 7919) % LARGEST}")


def publish(bench):
    """1,000 wheels of up to 200 kB, 99 MB, into a new index; the same again; then one more."""
    folder = f"{bench.work}/wheels"
    make_wheels(folder)

    def take(number):
        return bench.wheelsmith(f"publish-{number}", "publish", "{work}/wheels", "--to", f"{{work}}/index-{number}", "--quiet")

    def one_more(number):
        make_labelled.make(folder, "more", f"1.{number}+cu.12.4.torch.2.5.sm.86", "cp311-cp311-linux_x86_64")
        return take("0")

    first, busy = bench.repeat(5, 2, take)
    again, _ = bench.repeat(5, 2, lambda number: take("0"))
    more, _ = bench.repeat(5, 2, one_more)
    return [
        lab.Number("publish 1,000 wheels, time", [c.wall_s for c in first], "s", 5, busy),
        lab.Number("publish 1,000 wheels, CPU", [c.cpu_s for c in first], "s"),
        lab.Number("publish 1,000 wheels, resident", [c.peak_bytes / 1e6 for c in first], "MB", 100),
        lab.Number("the same again, time", [c.wall_s for c in again], "s"),
        lab.Number("one wheel more, time", [c.wall_s for c in more], "s", 0.5),
    ]
