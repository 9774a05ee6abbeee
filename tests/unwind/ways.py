# SPDX-License-Identifier: BSD-2-Clause
"""The ways in which the stepped program is compiled, for the CPU it is compiled for.

The tests compile it themselves, or find it compiled in the folder WICK_STEPPED,
so that programs for another CPU can be built where the compilers are.
"""
import pathlib
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
COMPILERS = ("gcc", "clang")
LEVELS = ("-O0", "-O1", "-O2", "-O3", "-Os")
POINTERS = ("-fomit-frame-pointer", "-fno-omit-frame-pointer")
EXTRAS = (("-Wl,-z,now", "-fstack-protector-all"), ("-fstack-clash-protection",), ("-flto",),
          ("-no-pie", "-fno-pie"))
# Static programs are not stepped on aarch64: their start-up loops for ever on exclusive
# loads and stores, since a step clears the monitor.
EXTRAS_OF = {"aarch64": (("-mbranch-protection=standard",),),
             "x86_64": (("-fcf-protection=full",), ("-mno-red-zone",), ("-static",))}


def ways(machine, thorough):
    """[(compiler, [option...])]"""
    found = []
    for compiler in COMPILERS:
        for level in LEVELS:
            found += [(compiler, [level, pointers]) for pointers in POINTERS]
        for extra in ((), *EXTRAS, *EXTRAS_OF.get(machine, ())):
            found += [(compiler, [level, *extra]) for level in (LEVELS if thorough else ("-O2",))]
    return found


def name_of(compiler, options):
    """The name of a program's file."""
    return compiler + "".join(options).replace("=", "-").replace(",", "-")


def compile_way(command, options, program):
    """Compiles; returns None, or why it was not possible."""
    made = subprocess.run([*command, "-g0", *options, HERE / "stepped.c", "-o", program],
                          capture_output=True, text=True, check=False)
    if made.returncode == 0:
        return None
    lines = made.stderr.splitlines()
    return lines[0] if lines else f"status {made.returncode}"


def compile_all(machine, thorough, commands, folder):
    """Compiles in every way. commands is {compiler: command}; a failure leaves its reason in a file."""
    folder.mkdir(parents=True, exist_ok=True)
    for compiler, options in ways(machine, thorough):
        program = folder / name_of(compiler, options)
        reason = program.with_name(program.name + ".reason")
        reason.unlink(missing_ok=True)
        if program.exists() and program.stat().st_mtime > (HERE / "stepped.c").stat().st_mtime:
            continue
        program.unlink(missing_ok=True)
        try:
            failure = compile_way(commands[compiler], options, program)
        except OSError as error:
            failure = str(error)
        if failure:
            reason.write_text(failure)
