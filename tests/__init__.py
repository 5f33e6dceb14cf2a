"""The tests."""

import os

# Before any library is loaded: workers fill all processors, and threads that wait for work would
# keep these busy. Builds in processes of their own do without.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
os.environ.update(dict.fromkeys(THREADS, "1"))
