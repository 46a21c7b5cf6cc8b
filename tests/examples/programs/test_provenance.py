"""What a run records about its circumstances."""

import json
import shlex
import sys

import torch

from examples.programs.report import provenance


def test_versions_and_command_are_recorded():
    facts = provenance()
    assert facts["torch"] == torch.__version__
    assert facts["command"] == shlex.join(sys.orig_argv)
    assert json.loads(json.dumps(facts)) == facts
