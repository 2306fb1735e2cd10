"""A real terminal for a process: what it shows there, with a pipe or nothing beside it."""

import contextlib
import fcntl
import os
import struct
import subprocess
import sys
import termios
import threading
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src"


class Terminal:
    """A process whose standard error (and output, unless piped) is a terminal of 80 columns."""

    def __init__(self, code, *arguments, cwd=None, pipe_output=False, columns=80):
        self.ours, theirs = os.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR")}
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE if pipe_output else theirs,
            stderr=theirs,
            cwd=cwd,
            env=environment | {"PYTHONPATH": str(SOURCE), "TERM": "xterm-256color"},
        )
        os.close(theirs)
        self._shown = bytearray()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self):
        # Linux reports the end of a terminal as an input error.
        with contextlib.suppress(OSError):
            while piece := os.read(self.ours, 4096):
                self._shown += piece

    def end(self, timeout=120):
        """Close standard input and wait; what the terminal got, and what went into the pipe."""
        try:
            answer, _ = self.process.communicate(timeout=timeout)
        finally:
            self.process.kill()
            self._reader.join(timeout)
            os.close(self.ours)
        return self.shown, (answer or b"").decode()

    @property
    def shown(self):
        return self._shown.decode(errors="replace")
