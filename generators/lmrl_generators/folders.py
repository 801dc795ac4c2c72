"""Where a dataset lies: in a folder of this machine, or in an object store that a URL names (`s3://`, `hf://`, …).

Either holds whole files only. A folder of this machine gets them under a temporary name first; an object store takes an
object as a whole or not at all.
"""

import tempfile
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path, PurePosixPath
from shutil import rmtree
from typing import Any, Protocol, TypeAlias

from filelock import FileLock, Timeout

from lmrl_data.errors import LmrlError
from lmrl_data.files import TEMPORARY, file_hash, write_bytes

# Seconds to wait when others have just changed the same repository on the Hub, each time it happens.
_WAITS = (1, 2, 4, 8, 16)
_CONFLICTS = (409, 412)


class Folder(Protocol):
    """A place for the files of a dataset, which are named by their paths in it.

    Attributes:
        everywhere: whether the other machines of a cluster reach it too.
        pause: seconds between two records of the progress of a run, for writing a file may take long.
    """

    everywhere: bool
    pause: float

    def held(self) -> AbstractContextManager[None]:
        """Make it ready to be written by one run."""

    def read(self, file: str) -> bytes:
        """The content of a file; raises `FileNotFoundError` where it is missing."""

    def write(self, file: str, data: bytes) -> None:
        """Write a file, as a whole or not at all."""

    def hash(self, file: str) -> str | None:
        """The SHA-256 of a file in hexadecimal; None where it is missing."""

    def remove(self, directory: str) -> None:
        """Remove a directory with all its files, if it is there."""

    def parquet_files(self) -> list[str]:
        """The Parquet files of the data, in order."""

    def local(self, file: str) -> AbstractContextManager[Path]:
        """A file to read on this machine; raises `FileNotFoundError` where it is missing."""

    def whole(self) -> AbstractContextManager[Path]:
        """The dataset as a folder of this machine; what is written there beside the data comes back."""


Place: TypeAlias = str | Path | Folder


def open_folder(place: Place) -> Folder:
    """The folder at a path, or at a URL of fsspec.

    Raises:
        LmrlError: there is no such kind of URL, or a package is missing for it.
    """
    if isinstance(place, Path):
        return LocalFolder(place)
    if not isinstance(place, str):
        return place
    protocol, separator, path = place.partition("://")
    if not separator or protocol == "file":
        return LocalFolder(Path(path or place))
    import fsspec

    try:
        fsspec.get_filesystem_class(protocol)
    except ImportError as error:
        raise LmrlError(f"{protocol}:// needs a package ({error}); for S3: pip install 'lmrl-gym[s3]'") from error
    except ValueError as error:
        raise LmrlError(f"{place}: {error}; give a path, or a URL such as s3://BUCKET/FOLDER") from error
    return RemoteFolder(place.rstrip("/"))


@dataclass(frozen=True)
class LocalFolder:
    """A folder of this machine."""

    path: Path
    everywhere = False
    pause = 0.0

    def __str__(self) -> str:
        return str(self.path)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Make the folder, keep other runs out of it, and remove what a killed one has left half-written."""
        path = self.path
        try:
            path.mkdir(parents=True, exist_ok=True)
            # Beside the folder, which holds only what is to be published.
            with FileLock(path.with_name(f".{path.name}.lock"), timeout=0):
                for leftover in path.glob(f"**/{TEMPORARY}*"):
                    leftover.unlink()
                yield
        except Timeout as error:
            raise LmrlError(f"another process is generating into {path}; wait for it or give another --out") from error
        except OSError as error:
            raise LmrlError(f"cannot write into {path}: {error.strerror or error}; give another --out") from error

    def read(self, file: str) -> bytes:
        """See `Folder`."""
        return (self.path / file).read_bytes()

    def write(self, file: str, data: bytes) -> None:
        """See `Folder`."""
        write_bytes(self.path / file, data)

    def hash(self, file: str) -> str | None:
        """See `Folder`."""
        path = self.path / file
        return file_hash(path) if path.is_file() else None

    def remove(self, directory: str) -> None:
        """See `Folder`."""
        rmtree(self.path / directory, ignore_errors=True)

    def parquet_files(self) -> list[str]:
        """See `Folder`."""
        return sorted(path.relative_to(self.path).as_posix() for path in self.path.glob("data/**/*.parquet"))

    @contextmanager
    def local(self, file: str) -> Iterator[Path]:
        """See `Folder`."""
        path = self.path / file
        if not path.is_file():
            raise FileNotFoundError(path)
        yield path

    @contextmanager
    def whole(self) -> Iterator[Path]:
        """See `Folder`."""
        yield self.path


@dataclass(frozen=True)
class RemoteFolder:
    """A folder on a file system of fsspec, where a file that is written appears as a whole.

    Nothing keeps two runs apart there: those of one plan write the same files, and those of two plans are told apart by
    the manifest.
    """

    url: str
    everywhere = True
    pause = 10.0

    def __str__(self) -> str:
        return self.url

    def __reduce__(self) -> tuple[Any, ...]:
        return RemoteFolder, (self.url,)  # each process connects by itself

    @cached_property
    def _system(self) -> Any:
        import fsspec

        protocol = self.url.partition("://")[0]
        if protocol == "hf":
            from huggingface_hub.utils.tqdm import disable_progress_bars

            disable_progress_bars()  # a bar for each file would tear the one of the run
        # Others write there too: a listing is not to be remembered.
        return fsspec.filesystem(protocol, use_listings_cache=False)

    @property
    def _root(self) -> str:
        return str(self._system._strip_protocol(self.url))

    @contextmanager
    def held(self) -> Iterator[None]:
        """Forget what the file system looked like before; others may have written since."""
        self._system.invalidate_cache()
        yield

    def read(self, file: str) -> bytes:
        """See `Folder`."""
        with self._errors("read", file):
            return bytes(self._system.cat_file(f"{self._root}/{file}"))

    def write(self, file: str, data: bytes) -> None:
        """See `Folder`."""
        for wait in (*_WAITS, None):
            try:
                self._system.pipe_file(f"{self._root}/{file}", data)
                return
            except Exception as error:  # each file system has errors of its own
                if wait is None or _status(error) not in _CONFLICTS:
                    raise self._cannot("write", file, error) from error
                time.sleep(wait)

    def hash(self, file: str) -> str | None:
        """See `Folder`."""
        try:
            return sha256(self.read(file)).hexdigest()
        except FileNotFoundError:
            return None

    def remove(self, directory: str) -> None:
        """See `Folder`."""
        if self._files(directory):
            with self._errors("remove", directory):
                self._system.rm(f"{self._root}/{directory}", recursive=True)

    def parquet_files(self) -> list[str]:
        """See `Folder`."""
        return [file for file in self._files("data") if file.endswith(".parquet")]

    @contextmanager
    def local(self, file: str) -> Iterator[Path]:
        """See `Folder`."""
        with tempfile.TemporaryDirectory(prefix="lmrl-") as folder:
            path = Path(folder, PurePosixPath(file).name)
            with self._errors("read", file):
                self._system.get_file(f"{self._root}/{file}", str(path))
            yield path

    @contextmanager
    def whole(self) -> Iterator[Path]:
        """See `Folder`: this machine needs the room for all of it."""
        with tempfile.TemporaryDirectory(prefix="lmrl-") as name:
            folder = Path(name, PurePosixPath(self.url).name)
            fetched = {}
            for file in self._files(""):
                path = folder / file
                path.parent.mkdir(parents=True, exist_ok=True)
                with self._errors("read", file):
                    self._system.get_file(f"{self._root}/{file}", str(path))
                fetched[path] = file_hash(path)
            yield folder
            for path in sorted(folder.rglob("*")):
                if path.is_file() and fetched.get(path) != file_hash(path):
                    self.write(path.relative_to(folder).as_posix(), path.read_bytes())

    def _files(self, directory: str) -> list[str]:
        """The files below a directory, by their paths in the folder."""
        root = self._root
        with self._errors("list", directory):
            self._system.invalidate_cache()
            try:
                found = self._system.find(f"{root}/{directory}".rstrip("/"))
            except FileNotFoundError:
                return []
        return sorted(str(path).removeprefix(f"{root}/") for path in found)

    @contextmanager
    def _errors(self, doing: str, file: str) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError:
            raise
        except Exception as error:  # each file system has errors of its own
            raise self._cannot(doing, file, error) from error

    def _cannot(self, doing: str, file: str, error: Exception) -> LmrlError:
        reason = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
        return LmrlError(f"cannot {doing} {self.url}/{file}: {reason}; mend that and run the same command to go on")


def _status(error: Exception) -> int | None:
    """The status of the answer that an HTTP library's error is about."""
    status: int | None = getattr(getattr(error, "response", None), "status_code", None)
    return status
