# SPDX-License-Identifier: BSD-3-Clause
"""What the bench checks and builds: what it refuses, how it reads what tools say, a real build of a faulty module."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from emulation.features.check import Name
from emulation.features.check.build import LANE, Target, build, lane_target, pick, read, release, stock_targets
from emulation.features.check.subject import Kind, Module, examine, find, in_order, qdisc_name, with_suites
from emulation.lane.errors import Misuse
from emulation.setup import kernel

FAULTY = """// SPDX-License-Identifier: GPL-2.0-only
#include <linux/module.h>
#include <linux/version.h>
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#error "too old a kernel"
#endif
static __be32 address;
static int __init faulty_init(void)
{
\tint unused;

\taddress = 1;
\treturn 0;
}
module_init(faulty_init);
MODULE_DESCRIPTION("Faults that tools see");
MODULE_LICENSE("GPL");
"""


def folder(at: Path, **files: str) -> Path:
    """A folder with these files; a name's __ is a dot."""
    at.mkdir(exist_ok=True)
    for name, text in files.items():
        (at / name.replace("__", ".")).write_text(text)
    return at


def test_a_qdisc_that_needs_classes_is_known(tmp_path: Path) -> None:
    plain, classful = tmp_path / "sch_plain.ko", tmp_path / "sch_many.ko"
    plain.write_bytes(b"\0name=sch_plain\0register_qdisc\0")
    classful.write_bytes(b"\0name=sch_many\0register_qdisc\0qdisc_class_hash_init\0")
    assert [examine(path).classful for path in (plain, classful)] == [False, True]


def test_a_folder_builds_what_make_says_it_builds(tmp_path: Path) -> None:
    """Also where a Makefile serves both a person and the kernel, and where there are folders below."""
    text = "ifneq ($(KERNELRELEASE),)\nobj-m := one.o sub/\nobj-m += two-too.o\nelse\nall:\n\tmake -C /nowhere\nendif\n"
    top = folder(tmp_path / "top", Makefile=text, one__c="", notes__txt="")
    folder(top / "sub", Kbuild="obj-m := three.o\n", three__c="", three__h="")
    subject = find(top)
    assert subject.modules == ("one", "two_too", "three")
    subject.copy(tmp_path / "copy")
    copied = {str(file.relative_to(tmp_path / "copy")) for file in (tmp_path / "copy").rglob("*") if file.is_file()}
    assert copied == {"Makefile", "one.c", "sub/Kbuild", "sub/three.c", "sub/three.h"}
    assert find(top, "two-too").modules == ("two_too",)


def test_a_c_file_gets_a_kbuild_of_its_own(tmp_path: Path) -> None:
    """And has the headers beside it."""
    top = folder(tmp_path / "top", one__c="", two__c="", one__h="")
    subject = find(top / "one.c")
    subject.copy(tmp_path / "copy")
    assert sorted(os.listdir(tmp_path / "copy")) == ["Kbuild", "one.c", "one.h"]
    assert (tmp_path / "copy" / "Kbuild").read_text() == "obj-m := one.o\n"


def test_suites_are_compiled_with_the_files_that_they_test(tmp_path: Path) -> None:
    """A second copy to the same place leaves what did not change to make."""
    top, suites = folder(tmp_path / "top", Kbuild="obj-m := one.o\n", one__c="one", two__c="two"), tmp_path / "suites"
    tested, copy = with_suites(find(top), folder(suites, one__c="", three__c="")), tmp_path / "copy"
    tested.copy(copy, tested=True)
    assert (copy / "one.c").read_text() == f'one\n#include "{suites}/one.c"\n'
    os.utime(copy / "two.c", ns=(1, 1))
    tested.copy(copy)
    assert (copy / "one.c").read_text() == "one"
    assert (copy / "two.c").stat().st_mtime_ns == 1
    with pytest.raises(Misuse, match=r"no C file there has the path of one"):
        with_suites(find(top), folder(tmp_path / "none", three__c=""))


@pytest.mark.parametrize(
    ("files", "module", "said"),
    [
        ({}, None, "neither a Kbuild file nor a Makefile is there"),
        ({"one__c": ""}, None, "name the C file if there is only one"),
        ({"Kbuild": "obj-m := one.o\n"}, None, "there is no C file in it"),
        ({"Kbuild": "obj-y := one.o\n", "one__c": ""}, None, "it builds no module: obj-m is empty"),
        ({"Kbuild": "ifeq (\n", "one__c": ""}, None, "make does not understand it"),
        ({"Kbuild": "obj-m := one.o\n", "one__c": ""}, "two", "builds no module 'two'; it builds: one"),
    ],
)
def test_what_cannot_be_checked_is_refused(tmp_path: Path, files: dict[str, str], module: str, said: str) -> None:
    with pytest.raises(Misuse, match=said):
        find(folder(tmp_path / "top", **files), module)


def test_a_qdiscs_name_comes_from_its_alias_or_its_source_or_its_module(tmp_path: Path) -> None:
    source = folder(tmp_path, a__c='static struct Qdisc_ops x_ops __read_mostly = {\n\t.id = "other",\n};\n') / "a.c"
    assert qdisc_name("sch_mine", ["net-sch-named"], [source]) == "named"
    assert qdisc_name("sch_mine", ["of-something"], [source]) == "other"
    assert qdisc_name("sch_mine", [], []) == "mine"


def test_what_a_module_needs_comes_before_it() -> None:
    def module(name: str, *needs: str) -> Module:
        return Module(name, Path(f"{name}.ko"), Kind.OTHER, needs)

    built = {m.name: m for m in (module("a", "b", "c"), module("b", "c", "nf_nat"), module("c"))}
    assert [m.name for m in in_order(built, "a")] == ["c", "b", "a"]


GCC = """\
  CC [M]  /x/source/a.o
/x/source/a.c: In function 'f':
/x/source/a.c:6:25: warning: unused variable 'unused' [-Wunused-variable]
    6 |         int unused;
      |             ^~~~~~
In file included from ./include/linux/kernel.h:28,
                 from /x/source/a.c:2:
././include/linux/compiler_types.h:543:45: error: call to '__compiletime_assert_688' declared with attribute error: min
  543 |         _compiletime_assert(condition, msg, __compiletime_assert_, __COUNTER__)
      |                                             ^
./include/linux/minmax.h:105:25: note: in expansion of macro '__careful_cmp'
  105 | #define min(x, y)       __careful_cmp(min, x, y)
/x/source/a.c:7:47: note: in expansion of macro 'min'
    7 |         return min(a, 3u);
./include/net/tcp.h:11:1: warning: something of the kernel's own
ERROR: modpost: "nowhere" [/x/source/a.ko] undefined!
WARNING: modpost: missing MODULE_DESCRIPTION() in /x/source/a.o
/x/source/a.o: warning: objtool: f() falls through to next function g()
make[1]: *** [scripts/Makefile.modpost:145: Module.symvers] Error 1
"""

SPARSE = """\
  CHECK   /x/source/a.c
/x/source/a.c:12:17: warning: incorrect type in assignment (different base types)
/x/source/a.c:12:17:    expected restricted __be32 static [toplevel] address
/x/source/a.c:12:17:    got int
./include/linux/slab.h:9:1: error: something of the kernel's own
"""


def test_what_gcc_and_modpost_say_is_read() -> None:
    """A message that arises in a kernel macro is about the line that uses it."""
    said = list(read(GCC.splitlines(), "/x/source"))
    assert [(one.name, one.where, one.text) for one in said] == [
        (Name.WARNING, "a.c:6", "unused variable 'unused' [-Wunused-variable]"),
        (Name.COMPILE_ERROR, "a.c:7", "min"),
        (Name.COMPILE_ERROR, "", '"nowhere" [a.ko] undefined!'),
        (Name.WARNING, "", "missing MODULE_DESCRIPTION() in a.o"),
        (Name.WARNING, "a.o", "objtool: f() falls through to next function g()"),
    ]
    assert said[0].console == ("    6 |         int unused;", "      |             ^~~~~~")


def test_what_sparse_says_is_read_with_what_it_expected() -> None:
    (said,) = read(SPARSE.splitlines(), "/x/source", Name.SPARSE)
    assert (said.name, said.where) == (Name.SPARSE, "a.c:12")
    assert said.console[1] == "a.c:12:17:    got int"


def test_kernels_are_picked_by_the_beginning_of_their_release(tmp_path: Path) -> None:
    targets = [Target(name, tmp_path) for name in ("6.1.0-9-amd64", "6.1.0-56-amd64", "6.12.117+deb12-amd64")]
    assert pick(targets, ["6.12"]) == targets[2:]
    assert pick(targets, ["6.1.0-9", "6.1"]) == targets[:2]
    with pytest.raises(ValueError, match=r"kernel 6\.13 are not installed; there are: 6\.1\.0-9-amd64, "):
        pick(targets, ["6.13"])


def test_headers_are_called_as_the_kernel_calls_itself(tmp_path: Path) -> None:
    """Debian writes another number into the headers than `uname -r` tells."""
    folder(tmp_path / "include").joinpath("config").mkdir()
    (tmp_path / "include/config/kernel.release").write_text("6.9.0\n")
    assert release(tmp_path) == "6.9.0"
    assert release(tmp_path / "linux-headers-6.1.0-56-amd64") == "6.1.0-56-amd64"


@pytest.fixture(scope="module")
def lane_kernel() -> kernel.Kernel:
    return kernel.obtain()


@pytest.mark.slow
def test_a_faulty_module_is_built_and_its_faults_are_found(tmp_path: Path, lane_kernel: kernel.Kernel) -> None:
    """Each tool's finding is there once, though several kernels show it; an error of one kernel names that one."""
    source = folder(tmp_path / "faulty", Kbuild="obj-m := faulty.o\n", faulty__c=FAULTY.replace("\tint", "        int"))
    targets = [lane_target(lane_kernel), *stock_targets()]
    report = build(find(source), targets, tmp_path / "scratch")
    found = [(finding.name, finding.where, finding.text.split(" [")[0]) for finding in report.findings]
    old = [target.name for target in targets if target.name.startswith(("5.", "6.0.", "6.1."))]
    new = [target.name for target in targets if target.name not in old]
    only = f" ({', '.join(new)})" if old else ""
    assert (Name.SPARSE, "faulty.c:12", f"incorrect type in assignment (different base types){only}") in found
    assert [finding[0] for finding in found].count(Name.WARNING) == 1
    errors = [finding for finding in found if finding[0] == Name.COMPILE_ERROR]
    expected = f'#error "too old a kernel" ({", ".join(old)})'
    assert errors == ([(Name.COMPILE_ERROR, "faulty.c:5", expected)] if old else [])
    assert any(note.startswith("checkpatch: faulty.c:10: ") for note in report.notes)
    built = {target: set(modules) for target, modules in report.data["modules"].items()}
    assert built == {target.name: set() if target.name in old else {"faulty"} for target in targets}
    module = examine(Path(report.data["modules"]["uml"]["faulty"]))
    assert (module.name, module.kind, module.needs) == ("faulty", Kind.OTHER, ())
    few = [target for target in targets if target.name in (LANE, *old)]
    unasked = build(find(source), few, tmp_path / "again", optional=old)
    assert not any(one.name is Name.COMPILE_ERROR for one in unasked.findings)
    meant = [note for note in unasked.notes if not note.startswith("checkpatch: ")]
    assert meant == [f'it is not meant for {name}: faulty.c:5: #error "too old a kernel"' for name in old]
    assert str(tmp_path).encode() not in module.path.read_bytes().replace(str(source).encode(), b"")


@pytest.mark.slow
def test_strictly_checkpatchs_opinions_are_findings(tmp_path: Path, lane_kernel: kernel.Kernel) -> None:
    source = folder(tmp_path / "top", one__c='#include <linux/module.h>\nMODULE_LICENSE("GPL");\n') / "one.c"
    report = build(find(source), [lane_target(lane_kernel)], tmp_path / "scratch", strict=True)
    said = [(finding.where, finding.text) for finding in report.findings if finding.name is Name.CHECKPATCH]
    assert said == [("one.c:1", "WARNING: Missing or malformed SPDX-License-Identifier tag in line 1")]
    assert report.notes == ()


def test_what_make_itself_refuses_is_an_error(tmp_path: Path, lane_kernel: kernel.Kernel) -> None:
    """No compiler says anything of a file that is not there."""
    source = folder(tmp_path / "top", Kbuild="obj-m := one.o\none-y := missing.o\n", other__c="\n")
    report = build(find(source), [lane_target(lane_kernel)], tmp_path / "scratch")
    (finding,) = report.findings
    assert finding.name is Name.COMPILE_ERROR
    assert "missing.o" in finding.text + "".join(finding.console)
