"""A Hugging Face Hub on loopback: what huggingface_hub and datasets ask for, for dataset repositories in memory.

Files from `LFS_SUFFIXES` live in a store on a second port, as on the real Hub. Tests read `requests`, set `on_request`
to break the connection or to wait, and look at `repos`.
"""

import base64
import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

LFS_SUFFIXES = (".parquet", ".png")
WHEN = "2026-01-01T00:00:00.000Z"


class Cut(Exception):
    """Raised by `on_request` to drop the connection without an answer."""


class Refused(Exception):
    """An answer with an error."""

    def __init__(self, status: int, message: str, code: str = "", **body: Any) -> None:
        self.status, self.message, self.code, self.body = status, message, code, body


@dataclass(frozen=True)
class File:
    """A file of a commit: `oid` as git names it, `sha256` where the store has the content."""

    oid: str
    size: int
    content: bytes = b""
    sha256: str | None = None

    def entry(self, path: str) -> dict[str, Any]:
        lfs = {"lfs": {"oid": self.sha256, "size": self.size, "pointerSize": 130}} if self.sha256 else {}
        return {"type": "file", "path": path, "oid": self.oid, "size": self.size, **lfs}


def regular(content: bytes) -> File:
    return File(hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest(), len(content), content)


@dataclass
class Repo:
    """A repository: commits oldest first, each with its id, title and files; and tags."""

    name: str
    private: bool
    commits: list[tuple[str, str, dict[str, File]]] = field(default_factory=list)
    tags: dict[str, str] = field(default_factory=dict)

    def commit(self, title: str, files: dict[str, File]) -> str:
        names = sorted((path, file.oid) for path, file in files.items())
        oid = hashlib.sha1(repr((len(self.commits), title, names)).encode()).hexdigest()
        self.commits.append((oid, title, files))
        return oid

    @property
    def head(self) -> str:
        return self.commits[-1][0]

    def at(self, revision: str) -> tuple[str, dict[str, File]]:
        wanted = self.head if revision in ("main", "refs/heads/main") else self.tags.get(revision, revision)
        for oid, _, files in self.commits:
            if oid == wanted:
                return oid, files
        raise Refused(404, "Invalid rev id", "RevisionNotFound")

    @property
    def files(self) -> dict[str, File]:
        return self.commits[-1][2]

    @property
    def titles(self) -> list[str]:
        return [title for _, title, _ in self.commits]

    def hashes(self) -> dict[str, str]:
        """The SHA-256 of the newest commit's files, but for the one that git reads."""
        files = {path: file for path, file in self.files.items() if path != ".gitattributes"}
        return {path: file.sha256 or hashlib.sha256(file.content).hexdigest() for path, file in files.items()}

    def info(self, revision: str = "main") -> dict[str, Any]:
        oid, files = self.at(revision)
        siblings = [{"rfilename": path} for path in sorted(files)]
        common = {"private": self.private, "tags": [], "siblings": siblings, "lastModified": WHEN, "createdAt": WHEN}
        return {"id": self.name, "_id": "0", "sha": oid, "downloads": 0, "likes": 0, "gated": False, **common}


class Hub:
    """The state, and the answers.

    Attributes:
        tokens: for each token the namespaces that it may write to.
        repos: by id.
        store: content of LFS files by SHA-256.
        requests: method and path of every request to both ports, in order.
        on_request: called with these before each answer.
    """

    def __init__(self) -> None:
        self.tokens: dict[str, tuple[str, ...]] = {}
        self.repos: dict[str, Repo] = {}
        self.store: dict[str, bytes] = {}
        self.requests: list[tuple[str, str]] = []
        self.on_request: Callable[[str, str], None] = lambda method, path: None
        self.lock = threading.RLock()
        self.url = self.store_url = ""

    def stored(self) -> list[str]:
        """SHA-256 of the files that were sent, in order."""
        return [path.removeprefix("/store/") for method, path in self.requests if method == "PUT"]

    def repo(self, name: str, token: str | None) -> Repo:
        repo = self.repos.get(name)
        if repo is None or (repo.private and name.split("/")[0] not in self.tokens.get(token or "", ())):
            raise Refused(404 if token else 401, "Repository not found", "RepoNotFound")
        return repo

    def may_write(self, name: str, token: str | None) -> None:
        if token is None:
            raise Refused(401, "Invalid username or password.")
        if name.split("/")[0] not in self.tokens[token]:
            raise Refused(403, f"You don't have the rights to create or change {name}")

    def whoami(self, token: str | None) -> Any:
        if token is None:
            raise Refused(401, "Invalid username or password.")
        orgs = [{"name": name, "roleInOrg": "write"} for name in self.tokens[token]]
        access = {"type": "access_token", "accessToken": {"displayName": "test", "role": "write"}}
        return {"type": "user", "name": "tester", "fullname": "Tester", "orgs": orgs, "auth": access}

    def create(self, token: str | None, body: Any) -> Any:
        name = f"{body.get('organization') or 'tester'}/{body['name']}"
        self.may_write(name, token)
        url = f"{self.url}/datasets/{name}"
        if name in self.repos:
            raise Refused(409, "You already created this dataset repo", url=url)
        self.repos[name] = Repo(name, body.get("visibility") == "private")
        self.repos[name].commit("initial commit", {".gitattributes": regular(b"*.parquet filter=lfs\n")})
        return {"url": url, "name": name}

    def preupload(self, repo: Repo, revision: str, body: Any) -> Any:
        files = repo.at(revision)[1]
        answers = []
        for asked in body["files"]:
            path, there = asked["path"], files.get(asked["path"])
            mode = "lfs" if path.endswith(LFS_SUFFIXES) else "regular"
            oid = {"oid": there.sha256 or there.oid} if there else {}
            answers.append({"path": path, "uploadMode": mode, "shouldIgnore": False, **oid})
        return {"files": answers}

    def batch(self, body: Any) -> Any:
        objects = []
        for asked in body["objects"]:
            oid = asked["oid"]
            actions = {"upload": {"href": f"{self.store_url}/store/{oid}"}, "verify": {"href": f"{self.url}/verify"}}
            objects.append(asked if oid in self.store else {**asked, "actions": actions})
        return {"transfer": "basic", "objects": objects}

    def commit(self, repo: Repo, revision: str, lines: list[Any]) -> Any:
        files, header = dict(repo.at(revision)[1]), lines[0]["value"]
        if header.get("parentCommit", repo.head) != repo.head:
            raise Refused(412, "A commit has happened since. Please refresh and try again.")
        for line in lines[1:]:
            value = line["value"]
            if line["key"] == "file":
                files[value["path"]] = regular(base64.b64decode(value["content"]))
            elif line["key"] == "lfsFile":
                if value["oid"] not in self.store:
                    raise Refused(400, f"LFS pointer to a file that is not there: {value['path']}")
                pointer = f"oid sha256:{value['oid']}\nsize {value['size']}\n".encode()
                files[value["path"]] = File(regular(pointer).oid, value["size"], sha256=value["oid"])
            elif line["key"] == "deletedFile":
                del files[value["path"]]
            else:
                raise Refused(400, f"unknown operation {line['key']}")
        oid = repo.commit(header["summary"], files)
        return {"success": True, "commitOid": oid, "commitUrl": f"{self.url}/datasets/{repo.name}/commit/{oid}"}

    def tag(self, repo: Repo, revision: str, name: str) -> Any:
        if name in repo.tags:
            raise Refused(409, "Tag reference exists already")
        repo.tags[name] = repo.at(revision)[0]
        return {}

    def tree(self, repo: Repo, revision: str, under: str, recursive: bool) -> Any:
        files = repo.at(revision)[1]
        prefix = f"{under}/" if under else ""
        inside = {path: file for path, file in files.items() if path.startswith(prefix)}
        if under and not inside:
            raise Refused(404, f"{under} does not exist", "EntryNotFound")
        folders = {path[:end] for path in inside for end, sign in enumerate(path) if sign == "/" and end > len(prefix)}
        entries = [{"type": "directory", "path": path, "oid": "0" * 40, "size": 0} for path in sorted(folders)]
        entries += [file.entry(path) for path, file in sorted(inside.items())]
        return entries if recursive else [entry for entry in entries if "/" not in entry["path"][len(prefix) :]]


class Handler(BaseHTTPRequestHandler):
    """Routes requests of both ports."""

    protocol_version = "HTTP/1.1"
    hub: Hub

    def handle_any(self) -> None:
        url = urlsplit(self.path)
        self.body = self._read()
        self.hub.requests.append((self.command, url.path))
        try:
            self.hub.on_request(self.command, url.path)
            token = (self.headers.get("Authorization") or "").removeprefix("Bearer ") or None
            if token is not None and token not in self.hub.tokens and not url.path.startswith("/store/"):
                raise Refused(401, "Invalid credentials in Authorization header")
            with self.hub.lock:
                self._route(url.path, {key: values[-1] for key, values in parse_qs(url.query).items()}, token)
        except Cut:
            self.close_connection = True
        except Refused as error:
            headers = {"X-Error-Message": error.message, **({"X-Error-Code": error.code} if error.code else {})}
            self._json({"error": error.message, **error.body}, error.status, headers)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = handle_any

    def _read(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = []
        while size := int(self.rfile.readline(), 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _route(self, path: str, query: dict[str, str], token: str | None) -> None:
        hub, body = self.hub, self.body
        if path.startswith("/store/"):
            return self._store(path.removeprefix("/store/"))
        if path == "/api/whoami-v2":
            return self._json(hub.whoami(token))
        if path == "/api/validate-yaml":
            return self._json({"errors": [], "warnings": []})
        if path == "/verify":
            return self._json({})
        if path == "/api/repos/create":
            return self._json(hub.create(token, json.loads(body)))
        if found := re.fullmatch(r"/datasets/([^/]+/[^/]+)\.git/info/lfs/objects/batch", path):
            hub.may_write(found[1], token)
            return self._json(hub.batch(json.loads(body)))
        if found := re.fullmatch(r"/datasets/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path):
            return self._resolve(hub.repo(found[1], token), unquote(found[2]), unquote(found[3]))
        if found := re.fullmatch(r"/api/datasets/([^/]+/[^/]+)(?:/([^/]+))?(?:/([^/]+))?(?:/(.+))?", path):
            name, verb, revision, rest = found[1], found[2] or "", unquote(found[3] or "main"), unquote(found[4] or "")
            return self._json(self._repo(hub.repo(name, token), verb, revision, rest, query, token))
        raise Refused(404, f"nothing at {path}")

    def _repo(self, repo: Repo, verb: str, revision: str, rest: str, query: dict[str, str], token: str | None) -> Any:
        if self.command == "GET" and verb in ("", "revision"):
            return repo.info(revision)
        if verb == "tree":
            return self.hub.tree(repo, revision, rest, query.get("recursive", "").lower() in ("true", "1"))
        if verb == "refs":
            tags = [{"name": tag, "ref": f"refs/tags/{tag}", "targetCommit": oid} for tag, oid in repo.tags.items()]
            main = {"name": "main", "ref": "refs/heads/main", "targetCommit": repo.head}
            return {"branches": [main], "tags": tags, "converts": [], "pullRequests": []}
        if verb == "paths-info":
            paths = self._paths()
            files = repo.at(revision)[1]
            return [files[path].entry(path) for path in paths if path in files]
        self.hub.may_write(repo.name, token)
        if verb == "preupload":
            return self.hub.preupload(repo, revision, json.loads(self.body))
        if verb == "commit":
            return self.hub.commit(repo, revision, [json.loads(line) for line in self.body.splitlines()])
        if verb == "tag":
            return self.hub.tag(repo, revision, json.loads(self.body)["tag"])
        raise Refused(404, f"nothing at {self.path}")

    def _paths(self) -> list[str]:
        if "json" in (self.headers.get("Content-Type") or ""):
            return list(json.loads(self.body)["paths"])
        return parse_qs(self.body.decode()).get("paths", [])

    def _resolve(self, repo: Repo, revision: str, path: str) -> None:
        oid, files = repo.at(revision)
        file = files.get(path)
        if file is None:
            raise Refused(404, "Entry not found", "EntryNotFound")
        if file.sha256 is None:
            return self._bytes(file.content, {"X-Repo-Commit": oid, "ETag": f'"{file.oid}"'})
        linked = {"X-Linked-Etag": f'"{file.sha256}"', "X-Linked-Size": str(file.size)}
        place = {"Location": f"{self.hub.store_url}/store/{file.sha256}"}
        self._answer(302, {"X-Repo-Commit": oid, "Content-Length": "0", **linked, **place}, b"")

    def _store(self, oid: str) -> None:
        if self.command == "PUT":
            if hashlib.sha256(self.body).hexdigest() != oid:
                raise Refused(400, "the content is not what its hash says")
            self.hub.store[oid] = self.body
            return self._answer(200, {"Content-Length": "0"}, b"")
        if oid not in self.hub.store:
            raise Refused(404, "no such object")
        self._bytes(self.hub.store[oid], {"ETag": f'"{oid}"'})

    def _bytes(self, content: bytes, headers: dict[str, str]) -> None:
        part = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range") or "")
        common = {"Accept-Ranges": "bytes", "Content-Type": "application/octet-stream", **headers}
        if part is None:
            return self._answer(200, {"Content-Length": str(len(content)), **common}, content)
        first, last = int(part[1]), min(int(part[2] or len(content)), len(content) - 1)
        if first > last:
            return self._answer(416, {"Content-Range": f"bytes */{len(content)}", "Content-Length": "0"}, b"")
        place = {"Content-Range": f"bytes {first}-{last}/{len(content)}", "Content-Length": str(last + 1 - first)}
        self._answer(206, {**place, **common}, content[first : last + 1])

    def _json(self, content: Any, status: int = 200, headers: dict[str, str] | None = None) -> None:
        data = json.dumps(content).encode()
        own = {"Content-Type": "application/json", "Content-Length": str(len(data))}
        self._answer(status, {**own, **(headers or {})}, data)

    def _answer(self, status: int, headers: dict[str, str], content: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def hub_server() -> Iterator[Hub]:
    """A Hub on two free ports of this machine, until the block ends."""
    hub = Hub()
    handler = type("HubHandler", (Handler,), {"hub": hub})
    servers = [ThreadingHTTPServer(("127.0.0.1", 0), handler) for _ in range(2)]
    hub.url, hub.store_url = (f"http://127.0.0.1:{server.server_address[1]}" for server in servers)
    threads = [threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True) for server in servers]
    for thread in threads:
        thread.start()
    try:
        yield hub
    finally:
        for server in servers:
            server.shutdown()
            server.server_close()
