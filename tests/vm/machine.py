# SPDX-License-Identifier: BSD-2-Clause
"""A machine with another CPU: its root file system and kernel in a cache, and QEMU to run it.

A cache entry is filled under a temporary name and renamed when it is complete; a lock
allows one process at a time to fill it. The name of an entry contains a hash of its recipe.
Entries of other recipes are removed when they have not been used for a day.
"""
import contextlib
import fcntl
import hashlib
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

import debian
import kernel
from debian import Unavailable, need_commands

HERE = pathlib.Path(__file__).resolve().parent
TIME_LIMIT, MACHINE_DIED = 124, 125  # exit statuses beside those of the command
KEPT_S = 24 * 3600  # two checkouts with different recipes do not take turns at fetching

USERLAND = "bookworm"  # whatever the kernel is
KERNELS = {"bullseye": "5.10", "bookworm": "6.1", "trixie": "6.12"}
PACKAGES = ("bash", "binutils", "busybox-static", "coreutils", "dash", "findutils", "grep",
            "libc-bin", "mawk", "mount", "openssl", "procps", "python3", "python3-pytest", "sed", "util-linux",
            "libc6-dev", "libstdc++-12-dev", "libcmocka-dev", "libiberty-dev", "libjansson-dev",
            "libbpf-dev", "liblzma-dev", "libxxhash-dev", "libzstd-dev", "zlib1g-dev")


class Cpu:
    """What differs between CPUs: names, the machine that QEMU emulates, and the kernel's command line."""

    def __init__(self, name, triple, emulator, line):
        self.name = name            # Debian's
        self.triple = triple        # the compiler's
        self.uname = triple.split("-", maxsplit=1)[0]
        self.emulator = emulator
        self.line = line


CPUS = {
    # The time stamp counter of the emulator counts nanoseconds. Left to measure it by
    # itself, a kernel on a busy host comes out far off.
    "amd64": Cpu("amd64", "x86_64-linux-gnu", ["qemu-system-x86_64", "-M", "q35", "-cpu", "max"],
                 "console=ttyS0 tsc_early_khz=1000000 tsc=reliable no_timer_check vsyscall=xonly"),
    "arm64": Cpu("arm64", "aarch64-linux-gnu",
                 ["qemu-system-aarch64", "-M", "virt", "-cpu", "cortex-a76"],
                 "console=ttyAMA0"),
}


def other_cpu():
    """The CPU that this machine does not have."""
    return CPUS["amd64" if os.uname().machine == "aarch64" else "arm64"]


def default_cache():
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(base, "wick", "vm")


def note(text):
    print(f"vm: {text}", file=sys.stderr, flush=True)


class Cache:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder).resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.used = []  # open folders of entries, locked until this process ends

    @contextlib.contextmanager
    def locked(self):
        with open(self.folder / "lock", "w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def entry(self, kind, parts, fill):
        """The folder of an entry; fill(folder) creates it if it does not exist."""
        key = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]
        path = self.folder / f"{kind}-{key}"
        with self.locked():
            if not path.is_dir():
                self.fill(path, kind, fill)
            self.use(path)
            self.prune(kind, path)
        return path

    def fill(self, path, kind, fill):
        fresh = path.with_name(f"{path.name}.new")
        shutil.rmtree(fresh, ignore_errors=True)
        note(f"unpacking {kind} into {self.folder}")
        try:
            fill(fresh)
            fresh.rename(path)
        except subprocess.CalledProcessError as error:
            raise Unavailable(f"{error.cmd[0]} failed with status {error.returncode}") from None
        finally:
            shutil.rmtree(fresh, ignore_errors=True)

    def use(self, path):
        """Keeps others from removing an entry as long as this process lives."""
        os.utime(path)  # ctime, in truth: mtime is that of an unpacked folder
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(folder, fcntl.LOCK_SH)
        self.used.append(folder)

    def close(self):
        while self.used:
            os.close(self.used.pop())

    def prune(self, kind, kept):
        """Removes what killed processes left behind, and entries that are no longer used."""
        for path in self.folder.glob(f"{kind}-*"):
            if path == kept or not path.is_dir():
                continue
            if path.suffix == "" and time.time() - path.stat().st_ctime < KEPT_S:
                continue
            folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
            try:
                fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
                dead = path.with_name(f"{path.name}.old")  # no half entry under a good name
                path.rename(dead)
                shutil.rmtree(dead, ignore_errors=True)
            except BlockingIOError:
                pass  # a machine runs from it
            finally:
                os.close(folder)

    def root(self, cpu):
        """The root file system, in which a cross compiler also looks for headers."""
        need_commands("apt-get", "dpkg-deb", "tar")

        def fill(folder):
            debian.unpack_packages(folder, cpu.name, USERLAND, PACKAGES)
            # Compiling modules of Python at each import takes seconds in the emulator. A host
            # with another version of Python compiles in vain.
            python = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
            subprocess.run([python, "-m", "compileall", "-q", "-j0", "-x", "/test/",
                            "-s", folder, "-p", "/", *folder.glob("usr/lib/python3*")],
                           stdout=subprocess.DEVNULL, check=False)

        recipe = (HERE / "debian.py").read_text()
        return self.entry(f"root-{cpu.name}", [recipe, USERLAND, *PACKAGES], fill)

    def kernel(self, cpu, suite):
        """A folder with image, initrd and release."""
        root = self.root(cpu)
        need_commands("depmod", "modprobe", "cpio")

        def fill(folder):
            tree = folder / "tree"
            debian.unpack_packages(tree, cpu.name, suite, [f"linux-image-{cpu.name}"])
            images = list(tree.glob("boot/vmlinuz-*"))
            if not images:
                raise Unavailable(f"{suite} has no kernel image for {cpu.name}")
            release = images[0].name.removeprefix("vmlinuz-")
            (folder / "image").write_bytes(kernel.bootable(images[0].read_bytes()))
            kernel.make_initrd(tree, release, root / "usr/bin/busybox", folder / "initrd")
            (folder / "release").write_text(release + "\n")
            shutil.rmtree(tree)

        recipe = [(HERE / name).read_text() for name in ("debian.py", "kernel.py", "init")]
        return self.entry(f"kernel-{cpu.name}-{suite}", recipe, fill)

    def release(self, cpu, suite):
        """The kernel's name for itself."""
        return (self.kernel(cpu, suite) / "release").read_text().strip()


# Running

class Settings:
    """How a machine is run."""

    suite = USERLAND
    cpus = 1
    memory_mb = 2048
    timeout_s = 600
    icount = False   # guest time follows instructions: rates are exact, a busy host does no harm
    verbose = False  # the kernel's console, after the run


def need_emulator(cpu):
    need_commands(cpu.emulator[0], "setpriv")


def emulator_command(cpu, settings, shares):
    command = [*cpu.emulator, "-smp", str(settings.cpus), "-m", str(settings.memory_mb),
               "-nodefaults", "-display", "none", "-no-reboot"]
    if settings.icount:
        command += ["-icount", "shift=1,align=off,sleep=on"]
    for tag, path, options in shares:
        path = str(path).replace(",", ",,")
        command += ["-virtfs", f"local,path={path},mount_tag={tag},security_model=none,"
                    f"multidevs=remap{options}"]
    return command


RUNNING = set()


def stop_all():
    for process in list(RUNNING):
        process.kill()


def run_emulator(command, settings, output):
    """Runs QEMU. Returns its status, or TIME_LIMIT if it had to be ended."""
    # The guest's port is standard input and output; it closes at the end of the input.
    reader, writer = os.pipe()
    try:
        # No emulator outlives this process, however that ends.
        with subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *command], stdin=reader,
                              stdout=output) as process:
            RUNNING.add(process)
            try:
                return process.wait(settings.timeout_s)
            except subprocess.TimeoutExpired:
                process.kill()
                return TIME_LIMIT
            except BaseException:
                process.kill()
                raise
            finally:
                RUNNING.discard(process)
    finally:
        os.close(reader)
        os.close(writer)


def read_if_there(path):
    return path.read_text(errors="replace") if path.exists() else ""


def run(cache, cpu, settings, folder, script, output=None):
    """Runs a bash script in the machine, in folder, which is shared at its own path.

    Returns the exit status of the script, TIME_LIMIT or MACHINE_DIED. Its output, both
    streams in one, goes to output (standard output when None).
    """
    need_emulator(cpu)
    root, booted = cache.root(cpu), cache.kernel(cpu, settings.suite)
    with tempfile.TemporaryDirectory(prefix="wick-vm-") as temporary:
        job = pathlib.Path(temporary)
        (job / "folder").write_text(f"{folder}\n")
        (job / "command").write_text(f"cd {shlex.quote(str(folder))} || exit 125\n{script}\n")
        command = emulator_command(cpu, settings, (
            ("usr", root / "usr", ",readonly=on"), ("job", job, ""), ("work", folder, "")))
        command += ["-kernel", booted / "image", "-initrd", booted / "initrd", "-append",
                    "panic=-1 mitigations=off random.trust_cpu=on nokaslr loglevel=4 " + cpu.line,
                    "-serial", f"file:{job}/console", "-device", "virtio-serial",
                    "-chardev", "stdio,id=output,signal=off",
                    "-device", "virtserialport,chardev=output"]
        ended = run_emulator(command, settings, output)
        console = read_if_there(job / "console")
        if settings.verbose:
            sys.stderr.write(console)
        status = read_if_there(job / "status").strip()
        if status.isdigit():
            return int(status)
        if ended == TIME_LIMIT:
            note(f"the time limit of {settings.timeout_s} s was reached")
            return TIME_LIMIT
        note(f"the machine died (emulator status {ended}); the end of its console:")
        sys.stderr.write("\n".join(console.splitlines()[-20:]) + "\n")
        return MACHINE_DIED
