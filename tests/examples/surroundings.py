"""Where programs are started by `test_environments.py`: limits, names, locales, streams, folders, users."""

import os
import resource
from dataclasses import dataclass, field, replace

NOBODY = 65534
NAMES = {
    "spaces": " a  b ",
    "quotes": 'it\'s a "name"',
    "a line end": "a\nb",
    "a leading dash": "-n",
    "an option": "--help",
    "250 characters": "x" * 250,
    "no UTF-8": "a\udcff\udcfe",
    "signs": "$HOME`id`%s{0},=[1]#\\",
    "formulas": "$\\frac{a$ $_",
    "Chinese": "训练 数据",
}


@dataclass(frozen=True)
class Surroundings:
    """What a process is started with; None and empty: as usual."""

    variables: dict = field(default_factory=dict)  # of the environment; None: unset
    limits: dict = field(default_factory=dict)  # soft and hard, by resource
    closed: tuple = ()  # of its three streams
    umask: int = -1
    user: int | None = None
    read_only: bool = False  # its working folder
    flags: tuple = ()  # of Python
    name: str = ""  # of its working folder
    out: str = ""  # instead of its --out
    data: str = ""  # instead of its --data

    @property
    def at_the_start(self):
        """Return whether they are noticed while Python starts or imports: a forked process has done so."""
        return bool(self.closed or self.flags or resource.RLIMIT_AS in self.limits or self.of_text)

    @property
    def of_text(self):
        """Return whether they say how characters are encoded."""
        return any(name.startswith(("LC_", "PYTHON")) for name in self.variables)

    def take_away(self):
        """Let this process, in its working folder, have no more than these surroundings allow."""
        for name, value in self.variables.items():
            os.environ.pop(name, None)
            os.environ |= {} if value is None else {name: value}
        if self.umask >= 0:
            os.umask(self.umask)
        if self.user is not None:
            os.setgroups([])
            os.setgid(self.user)
            os.setuid(self.user)
        for kind, most in self.limits.items():
            resource.setrlimit(kind, (most, most))
        for number in self.closed:
            os.close(number)


def sizes(name, kind, *values):
    """Return a case for each value of a limit."""
    return {f"{name} {value:,}": Surroundings(limits={kind: value}) for value in values}


def variables(**given):
    """Return surroundings with these variables."""
    return Surroundings(variables=given)


CASES = {
    "as usual": Surroundings(),
    **sizes("file size", resource.RLIMIT_FSIZE, 0, 1, 1_000, 20_000, 100_000),
    **sizes("open files", resource.RLIMIT_NOFILE, 16, 32, 64),
    **sizes("memory", resource.RLIMIT_AS, 2**29, 2**30, 6 * 2**30),
    **{f"folder with {what}": Surroundings(name=name) for what, name in NAMES.items()},
    **{f"out with {what}": Surroundings(out=name) for what, name in NAMES.items()},
    **{f"data with {what}": Surroundings(data=name) for what, name in NAMES.items()},
    "locale C": variables(LC_ALL="C"),
    "locale POSIX": variables(LC_ALL="POSIX"),
    "locale tr_TR": variables(LC_ALL="tr_TR.UTF-8", LANG="tr_TR.UTF-8"),
    "locale de_DE": variables(LC_ALL="de_DE.UTF-8", LC_NUMERIC="de_DE.UTF-8"),
    "locale nobody's": variables(LC_ALL="xx_XX.KOI8-Q"),
    "no UTF-8 mode": variables(LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0"),
    "ascii output": variables(PYTHONIOENCODING="ascii"),
    "strict ascii output": variables(PYTHONIOENCODING="ascii:strict", LC_ALL="C", PYTHONUTF8="0"),
    **{
        f"closed {streams}": Surroundings(closed=streams)
        for streams in ((0,), (1,), (2,), (0, 1), (1, 2), (0, 1, 2))
    },
    "no HOME": variables(HOME=None),
    "HOME missing": variables(HOME="/no/such/folder"),
    "HOME not writable": replace(variables(HOME="/proc"), user=NOBODY),
    "TMPDIR missing": variables(TMPDIR="/no/such/folder"),
    "no PATH": variables(PATH=None),
    "umask 0777": Surroundings(umask=0o777, user=NOBODY),
    "umask 0277": Surroundings(umask=0o277, user=NOBODY),
    "read-only folder": Surroundings(user=NOBODY, read_only=True),
    "-I": Surroundings(flags=("-I",)),
    "-P": Surroundings(flags=("-P",)),
    "-W error": Surroundings(flags=("-W", "error")),
    "-X dev": Surroundings(flags=("-X", "dev")),
    "-OO": Surroundings(flags=("-OO",)),
}
