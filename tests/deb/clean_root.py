# SPDX-License-Identifier: BSD-2-Clause
"""Root file systems with the essential packages of Debian and few others.

copied() copies the files and dpkg's records of packages from this machine, which takes a
second or two and no network; fetched() gets a fresh root from mmdebstrap.
"""
import os
import pathlib
import platform
import re
import shutil
import subprocess

RECORDS = pathlib.Path("/var/lib/dpkg")
FIELDS = ("binary:Package", "db:Status-Status", "Essential", "Provides", "Pre-Depends", "Depends")
LEFT_OUT = ("/usr/share/doc/", "/usr/share/man/", "/usr/share/locale/", "/usr/share/info/")
MERGED = ("bin", "sbin", "lib", "lib64")  # links into usr, which belong to no package
ENTER = """
for name in dev proc sys; do
	mount --rbind "/$name" "$0/$name" || exit 125
done
exec chroot "$0" "$@"
"""
CANNOT_ENTER = 125


class Unavailable(Exception):
    """A root cannot be created or entered here; the text says why, in one line."""


def names_in(relations):
    """[[name or another name], ...] of a field such as "a (>= 1), b | c"."""
    return [[re.split(r"[\s:(]", name.strip(), maxsplit=1)[0] for name in group.split("|")]
            for group in relations.split(",") if group.strip()]


class Installed:
    """The packages that this machine's dpkg knows."""

    def __init__(self):
        if not shutil.which("dpkg-query"):
            raise Unavailable("no dpkg here")
        listed = subprocess.run(["dpkg-query", "-W", "-f", "\t".join(f"${{{name}}}" for name in FIELDS) + "\n"],
                                capture_output=True, text=True, check=True).stdout
        self.files, self.needs, self.essential, self.provider = {}, {}, [], {}
        for line in listed.splitlines():
            package, status, essential, provides, *needs = line.split("\t")
            name = package.partition(":")[0]
            if status != "installed":
                continue
            self.files[name] = package
            self.needs[name] = [group for relations in needs for group in names_in(relations)]
            if essential == "yes":
                self.essential.append(name)
            for (other,) in names_in(provides):
                self.provider.setdefault(other, name)

    def closure(self, names):
        """These packages and all that they depend on."""
        found, todo = set(), list(names)
        while todo:
            name = todo.pop()
            if name in found:
                continue
            if name not in self.files:
                raise Unavailable(f"the package {name} is not installed here")
            found.add(name)
            for group in self.needs[name]:
                here = [self.provider.get(other, other) if other not in self.files else other
                        for other in group]
                todo += [other for other in here if other in self.files][:1]
        return sorted(found)


class Root:
    def __init__(self, folder):
        self.folder = folder

    def run(self, *command):
        """Runs a command inside, with private mounts."""
        own = [] if os.geteuid() == 0 else ["--map-root-user"]
        done = subprocess.run(
            ["unshare", "--mount", *own, "sh", "-c", ENTER, str(self.folder), *command],
            capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/tmp", "LC_ALL": "C.UTF-8"})
        if done.returncode == CANNOT_ENTER or done.stderr.startswith("unshare:"):
            raise Unavailable(f"no root can be entered here: {done.stderr.strip().splitlines()[0]}")
        return done

    def listing(self):
        """{path: description} of everything; without the times of folders, which new files change."""
        found = {}
        for folder, folders, files in os.walk(self.folder):
            for name in (*folders, *files):
                path = pathlib.Path(folder, name)
                status = path.lstat()
                what = (status.st_mode, status.st_uid, status.st_gid)
                if path.is_symlink():
                    what += (os.readlink(path),)
                elif path.is_file():
                    what += (status.st_size, status.st_mtime_ns)
                found["/" + str(path.relative_to(self.folder))] = what
        return found


def copy_files(folder, lists):
    """The files in the package lists that exist on this machine and can be read."""
    paths = sorted({path for one in lists for path in one.read_text(encoding="utf-8").splitlines()
                    if path != "/." and not path.startswith(LEFT_OUT)
                    and (os.path.islink(path) or os.access(path, os.R_OK))})
    with subprocess.Popen(["tar", "-C", "/", "--no-recursion", "--null", "-T", "-", "-c"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        with subprocess.Popen(["tar", "-C", folder, "--keep-directory-symlink", "-xp"],
                              stdin=writer.stdout) as reader:
            writer.stdin.write("\0".join(path[1:] for path in paths).encode())
            writer.stdin.close()
            reader.wait()
    if reader.returncode != 0 or writer.wait() != 0:
        raise Unavailable("tar cannot copy the files of packages")


def copy_records(folder, packages, names):
    """Writes dpkg's records for these packages only."""
    records = folder / "var/lib/dpkg"
    for name in ("info", "updates", "triggers", "alternatives", "parts"):
        (records / name).mkdir(parents=True, exist_ok=True)
    for package in packages:
        for path in (RECORDS / "info").glob(f"{package}.*"):
            shutil.copy(path, records / "info")
    shutil.copy(RECORDS / "info/format", records / "info")
    stanzas = (RECORDS / "status").read_text(encoding="utf-8").split("\n\n")
    wanted = [stanza for stanza in stanzas
              if (re.match(r"Package: (\S+)", stanza) or ["", ""])[1] in names]
    (records / "status").write_text("\n\n".join(wanted) + "\n\n", encoding="utf-8")
    (folder / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/sh\n", encoding="ascii")
    (folder / "etc/group").write_text("root:x:0:\n", encoding="ascii")


def copied(folder, names):
    installed = Installed()
    names = installed.closure([*installed.essential, *names])
    packages = [installed.files[name] for name in names]
    for name in MERGED:
        if pathlib.Path("/", name).is_symlink():
            (folder / "usr" / name).mkdir(parents=True)
            (folder / name).symlink_to(f"usr/{name}")
    copy_files(folder, [path for package in packages
                        for path in (RECORDS / "info").glob(f"{package}.list")])
    for name in ("dev", "etc", "proc", "root", "sys", "tmp", "var/cache/ldconfig", "var/log"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    copy_records(folder, packages, set(names))
    return Root(folder)


def sources():
    """Where this machine's apt gets packages, as lines of sources.list."""
    listed = subprocess.run(
        ["apt-get", "indextargets", "--format", "deb $(SITE) $(RELEASE) $(COMPONENT)",
         "Created-By: Packages"], capture_output=True, text=True, check=False).stdout
    return sorted(set(listed.splitlines()))


def fetched(folder, names):
    if os.geteuid() != 0:
        raise Unavailable("only root may make a root of packages that are fetched")
    suite = platform.freedesktop_os_release()["VERSION_CODENAME"]
    done = subprocess.run(["mmdebstrap", "--quiet", "--variant=essential",
                           f"--include={','.join(names)}", suite, folder, *sources()],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Unavailable(f"mmdebstrap: {done.stderr.strip().splitlines()[-1]}")
    return Root(folder)
