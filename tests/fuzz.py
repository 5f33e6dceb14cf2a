"""``python -m tests.fuzz MINUTES``: what reads files and shows text, with random examples, until
the time is over or a test fails.
"""

import subprocess
import sys
from random import SystemRandom
from time import monotonic

FUZZED = (
    "tests/cache", "tests/checkpoints", "tests/pipeline/test_store.py",
    "tests/site/test_escape.py", "tests/site/test_minify.py",
)  # fmt: skip
COMMAND = (
    sys.executable, "-m", "pytest", "-q", "-x", "-m", "hypothesis", "--hypothesis-profile", "fuzz",
    *FUZZED,
)  # fmt: skip


def fuzz(minutes: float) -> int:
    """The exit code: 0, or that of the first round of tests in which one fails.

    The seed of a round repeats it.
    """
    until, n_rounds = monotonic() + 60 * minutes, 0
    while (left := until - monotonic()) > 0:
        seed, n_rounds = str(SystemRandom().randrange(2**32)), n_rounds + 1
        sys.stdout.write(f"round {n_rounds}, --hypothesis-seed {seed}\n")
        sys.stdout.flush()
        try:
            done = subprocess.run([*COMMAND, "--hypothesis-seed", seed], check=False, timeout=left)
        except subprocess.TimeoutExpired:
            break
        if done.returncode != 0:
            return done.returncode
    sys.stdout.write(f"\nno failure in {minutes:g} minutes\n")
    return 0


if __name__ == "__main__":
    sys.exit(fuzz(float(sys.argv[1])))
