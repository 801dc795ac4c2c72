"""Settings of the whole test run."""

import os

from hypothesis import settings

# Before any Hugging Face library is imported: the tests need no network and must not wait for one.
os.environ.setdefault("HF_HUB_OFFLINE", "1")
# Ray reads these when it is imported, in whichever test that is; the tests' clusters let in nobody else, and leave the
# user's own token alone.
os.environ["RAY_AUTH_MODE"] = "token"
os.environ["RAY_AUTH_TOKEN"] = "7" * 64

# The same examples in every run, and no failures because a shared machine is slow today.
settings.register_profile("lmrl", deadline=None, derandomize=True)
settings.load_profile("lmrl")
