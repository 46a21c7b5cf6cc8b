"""Python imports this first where PYTHONPATH has its folder: a process may end itself while it imports.

DIE_AT_IMPORT="train.py 350 9": the process of train.py gets signal 9 before its 350th module that is not yet
there. COUNT_IMPORTS=FILE: a process writes its number of modules there when it ends by itself. Both count
from where the program has its own answer to Ctrl-C (examples/programs/imports.py): before, it is Python's.
"""

import atexit
import os
import signal
import sys
from pathlib import Path


class Count:
    """The modules that this process imports, with what happens at one of them."""

    def __init__(self, place=0, number=0):
        self.begun, self.imported, self.place, self.number = False, 0, place, number

    def hook(self, event, arguments):
        """Count an import. Raises KeyboardInterrupt through the signal, if that is what was wanted."""
        if event != "import":
            return
        self.begun = self.begun or signal.getsignal(signal.SIGINT) is not signal.default_int_handler
        self.imported += self.begun
        if self.place and self.imported == self.place:
            self.place = 0  # a module may be looked for once more by a handler
            os.kill(os.getpid(), self.number)


def prepare():
    """Watch the imports of this process, if that was asked for."""
    name, place, number = os.environ.get("DIE_AT_IMPORT", "nobody 0 0").split()
    if any(Path(word).name == name for word in sys.orig_argv[1:2]):
        sys.addaudithook(Count(int(place), int(number)).hook)
    if target := os.environ.get("COUNT_IMPORTS"):
        count = Count()
        sys.addaudithook(count.hook)
        atexit.register(lambda: Path(target).write_text(str(count.imported), encoding="utf-8"))


prepare()
