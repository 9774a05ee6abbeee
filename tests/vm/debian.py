# SPDX-License-Identifier: BSD-2-Clause
"""Debian packages of any CPU, unpacked into a folder.

apt resolves and fetches with lists and settings of its own, so nothing of this machine
changes and root is not needed. No script of a package is run.
"""
import os
import pathlib
import shutil
import subprocess

MIRROR_VARIABLE = "WICK_DEBIAN_MIRROR"
# Where Debian has one folder for /bin and /usr/bin since version 12, packages do not yet.
MERGED = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")


class Unavailable(Exception):
    """Something is not available here; the text says why, in one line."""


def need_commands(*names):
    for name in names:
        if not shutil.which(name):
            raise Unavailable(f"{name} is not installed (scripts/install-deps vm)")


def last_line(text):
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return lines[-1] if lines else "no message"


def mirror():
    """The address from which this machine's apt gets Debian."""
    if os.environ.get(MIRROR_VARIABLE):
        return os.environ[MIRROR_VARIABLE]
    if not shutil.which("apt-get"):
        raise Unavailable(f"no apt-get here, and {MIRROR_VARIABLE} is not set")
    sites = subprocess.run(["apt-get", "indextargets", "--format", "$(SITE)"],
                           capture_output=True, text=True, check=False).stdout.split()
    for site in sites:
        if site.rstrip("/").endswith("/debian"):
            return site
    raise Unavailable(f"apt has no address of Debian; set {MIRROR_VARIABLE}")


class Apt:
    """apt for one CPU and one suite, with all its state in a folder."""

    def __init__(self, folder, cpu, suite):
        self.folder = folder
        self.archives = folder / "archives"
        for name in ("lists/partial", "archives/partial"):
            (folder / name).mkdir(parents=True)
        (folder / "status").touch()
        (folder / "sources.list").write_text(f"deb {mirror()} {suite} main\n")
        settings = {
            "Dir::State": folder, "Dir::State::status": folder / "status",
            "Dir::State::lists": folder / "lists", "Dir::Cache": folder,
            "Dir::Cache::archives": self.archives,
            "Dir::Etc::sourcelist": folder / "sources.list",
            "Dir::Etc::sourceparts": "/dev/null", "Dir::Etc::preferencesparts": "/dev/null",
            "APT::Architecture": cpu, "APT::Architectures": cpu, "APT::Sandbox::User": "",
            "APT::Install-Recommends": "false", "Acquire::Languages": "none",
            "Acquire::Retries": "5", "APT::Update::Error-Mode": "any",
            # A container's settings may throw away what was fetched.
            "DPkg::Post-Invoke": "", "APT::Keep-Downloaded-Packages": "true",
        }
        self.command = ["apt-get", "-q", "-y"]
        for key, value in settings.items():
            self.command += ["-o", f"{key}={value}"]

    def run(self, *words):
        done = subprocess.run([*self.command, *words], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, check=False,
                              env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})
        if done.returncode != 0:
            raise Unavailable(f"apt-get {words[0]}: {last_line(done.stderr)}")

    def fetch(self, packages):
        """The files of the packages and of all their dependencies."""
        self.run("update")
        self.run("install", "--download-only", *packages)
        return sorted(self.archives.glob("*.deb"))


def unpack(archive, root):
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", archive],
                          stdout=subprocess.PIPE) as reader:
        done = subprocess.run(["tar", "-x", "--keep-directory-symlink", "--no-same-owner", "-C",
                               root], stdin=reader.stdout, capture_output=True, text=True,
                              check=False)
    if done.returncode != 0 or reader.returncode != 0:
        raise Unavailable(f"unpacking {archive.name}: {last_line(done.stderr)}")


def make_links_relative(root):
    """Makes absolute links relative: they lead out of the folder when a compiler follows them."""
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            path = pathlib.Path(folder, name)
            if path.is_symlink() and os.path.isabs(os.readlink(path)):
                target = root / os.readlink(path).lstrip("/")
                path.unlink()
                path.symlink_to(os.path.relpath(target, folder))


def unpack_packages(root, cpu, suite, packages):
    """Creates the folder root with packages and their dependencies."""
    work = root.with_name(root.name + ".apt")
    shutil.rmtree(work, ignore_errors=True)
    try:
        archives = Apt(work, cpu, suite).fetch(packages)
        for name in MERGED:
            (root / "usr" / name).mkdir(parents=True)
            (root / name).symlink_to(f"usr/{name}")
        for archive in archives:
            unpack(archive, root)
        make_links_relative(root)
    finally:
        shutil.rmtree(work, ignore_errors=True)
