"""Threads, processes and files: work that goes on beside whoever asked for it. It knows nothing of networks."""

from hidviz.background.blas import keep_one_blas_thread, on_one_blas_thread, one_blas_thread
from hidviz.background.checkpoint import checkpoint, mapped, return_value
from hidviz.background.executors import SCHEDULER, Crew, Workers, workers
from hidviz.background.files import append_line, check_writable, replacing, write
from hidviz.background.runner import Runner
from hidviz.background.supervisor import supervise

__all__ = [
    "SCHEDULER",
    "Crew",
    "Runner",
    "Workers",
    "append_line",
    "check_writable",
    "checkpoint",
    "keep_one_blas_thread",
    "mapped",
    "on_one_blas_thread",
    "one_blas_thread",
    "replacing",
    "return_value",
    "supervise",
    "workers",
    "write",
]
