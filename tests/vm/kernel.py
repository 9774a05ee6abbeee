# SPDX-License-Identifier: BSD-2-Clause
"""Prepares a kernel package for QEMU: an image that starts fast, and an initrd."""
import gzip
import lzma
import pathlib
import shutil
import struct
import subprocess

from debian import need_commands

HERE = pathlib.Path(__file__).resolve().parent
MODULES = ("virtio_pci", "virtio_console", "9pnet_virtio", "9p")


def decompress(data):
    """The content of an xz, gzip, zstd or lz4 stream; what follows its end is ignored."""
    if data.startswith(b"\xfd7zXZ"):
        return lzma.LZMADecompressor().decompress(data)
    if data.startswith(b"\x1f\x8b"):
        return gzip.zlib.decompressobj(31).decompress(data)
    for magic, tool in ((b"\x28\xb5\x2f\xfd", "zstd"), (b"\x02\x21\x4c\x18", "lz4")):
        if data.startswith(magic):
            need_commands(tool)
            return subprocess.run([tool, "-dcq"], input=data, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, check=False).stdout
    return data


def bootable(image):
    """What QEMU starts fastest: a kernel that need not decompress itself in the emulator.

    x86-64's bzImage holds an ELF file (Documentation/arch/x86/boot.rst: setup_sects at
    0x1f1, payload_offset at 0x248, payload_length at 0x24c); QEMU starts that by its PVH
    note. aarch64's zboot image is a PE file with "zimg", offset and size of the payload.
    """
    if image[0x202:0x206] == b"HdrS":
        offset, size = struct.unpack_from("<II", image, 0x248)
        offset += (image[0x1f1] + 1) * 512
        inside = decompress(image[offset:offset + size])
        return inside if inside.startswith(b"\x7fELF") else image
    if image[4:8] == b"zimg":
        offset, size = struct.unpack_from("<II", image, 8)
        return decompress(image[offset:offset + size])
    return decompress(image)


def copy_modules(tree, release, target):
    """Copies the modules that the machine starts with; "order" lists them."""
    base = tree / "usr"  # lib is a link into it
    subprocess.run(["depmod", "-b", base, release], check=True, stderr=subprocess.DEVNULL)
    shown = subprocess.run(
        ["modprobe", "-d", base, "-S", release, "-a", "--show-depends", *MODULES],
        capture_output=True, text=True, check=True).stdout
    target.mkdir()
    order = []
    for line in shown.splitlines():
        kind, _, path = line.partition(" ")
        path = pathlib.Path(path.strip())
        name = path.name.partition(".ko")[0] + ".ko"
        if kind == "insmod" and name not in order:
            order.append(name)
            (target / name).write_bytes(decompress(path.read_bytes()))
    (target / "order").write_text("".join(f"{name}\n" for name in order))


def make_initrd(tree, release, busybox, ret):
    """The first file system: busybox, the modules and init."""
    folder = ret.with_name("initrd.files")
    for name in ("bin", "dev", "proc", "sys", "new", "job"):
        (folder / name).mkdir(parents=True)
    copy_modules(tree, release, folder / "modules")
    shutil.copy(busybox, folder / "bin/busybox")
    shutil.copy(HERE / "init", folder / "init")
    (folder / "init").chmod(0o755)
    names = "\n".join(str(path.relative_to(folder)) for path in sorted(folder.rglob("*")))
    with open(ret, "wb") as out:
        subprocess.run(["cpio", "-o", "-H", "newc", "--quiet", "-R", "0:0"], input=names.encode(),
                       cwd=folder, stdout=out, check=True)
    shutil.rmtree(folder)
