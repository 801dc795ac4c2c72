"""The one kind of error that a user can mend."""


class LmrlError(ValueError):
    """Bad input or a missing part; the message is one line that names the remedy.

    The command line prints the message and exits with code 2.
    """
