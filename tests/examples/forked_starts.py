"""Start programs in surroundings, as `test_environments.py` asks for: forked, since imports take seconds.

Reads a list of [SURROUNDINGS, SCRIPT, WORDS, FOLDER] from standard input, and prints a list of exit codes and
errors, both as JSON.
"""

import importlib
import json
import os
import sys
import traceback

import sklearn.datasets
import torch._dynamo  # noqa: F401 - the first optimizer step would import it, in each child
from surroundings import CASES  # this file runs as a script

from snippets.errors import exit_with_one_line


def module_of(script):
    """Return the module of a program."""
    return importlib.import_module(f"examples.{script.removesuffix('.py').replace('/', '.')}")


def run_here(case, script, words, errors):
    """Run a program in this process, which ends with it."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(errors, 2)
    module, code = module_of(script), 1
    sys.argv[:] = [script, *words]
    CASES[case].take_away()
    try:
        code = exit_with_one_line(module.main if hasattr(module, "main") else module.PROGRAM.main, words)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def start(case, script, words, folder):
    """Return exit code and errors of a program that a forked process runs in `folder`."""
    reading, writing = os.pipe()  # a file would have a limit as well
    child = os.fork()
    if child == 0:
        os.chdir(folder)
        run_here(case, script, words, writing)
    os.close(writing)
    with os.fdopen(reading, errors="replace") as errors:
        text = errors.read()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), text


def main():
    """Do what standard input says."""
    jobs = json.load(sys.stdin)
    sklearn.datasets.load_digits()  # imports what another user may not be allowed to read
    for script in {script for _, script, _, _ in jobs}:
        module_of(script)
    print(json.dumps([start(*job) for job in jobs]))


if __name__ == "__main__":
    main()
