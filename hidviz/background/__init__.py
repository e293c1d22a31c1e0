"""Threads, processes and files: work that goes on beside whoever asked for it. It knows nothing of networks."""

from hidviz.background.arenas import hand_back_memory, keep_few_arenas, keep_freed_memory
from hidviz.background.blas import keep_one_blas_thread, on_one_blas_thread, one_blas_thread
from hidviz.background.checkpoint import checkpoint, mapped, paced, return_value
from hidviz.background.cores import CORES, in_order, shared_cores
from hidviz.background.executors import SCHEDULER, Crew, Workers, workers
from hidviz.background.files import append_line, check_writable, replacing, write
from hidviz.background.memory import (
    PROCESS,
    RUN,
    asked_for,
    format_size,
    largest_number,
    memory_left,
    parse_size,
    process_limit,
    run_limit,
)
from hidviz.background.runner import Runner
from hidviz.background.supervisor import supervise

__all__ = [
    "CORES",
    "PROCESS",
    "RUN",
    "SCHEDULER",
    "Crew",
    "Runner",
    "Workers",
    "append_line",
    "asked_for",
    "check_writable",
    "checkpoint",
    "format_size",
    "hand_back_memory",
    "in_order",
    "keep_few_arenas",
    "keep_freed_memory",
    "keep_one_blas_thread",
    "largest_number",
    "mapped",
    "memory_left",
    "on_one_blas_thread",
    "one_blas_thread",
    "paced",
    "parse_size",
    "process_limit",
    "replacing",
    "return_value",
    "run_limit",
    "shared_cores",
    "supervise",
    "workers",
    "write",
]
