"""Compiles the GPU kernels for a base architecture: the form that serves where NVRTC is not installed.

    make_kernels.py FOLDER

An old NVRTC is taken on purpose: the text that it writes is understood by every driver since. FOLDER
holds the sources; their order stands in `compile.rs` beside it.
"""

import ctypes
import pathlib
import re
import sys
import zlib

ARCHITECTURE = "compute_70"


def library():
    import nvidia.cuda_nvrtc

    folder = pathlib.Path(nvidia.cuda_nvrtc.__path__[0]) / "lib"
    return ctypes.CDLL(str(next(folder.glob("libnvrtc.so.*"))))


def fingerprint(source):
    """FNV-1a of 64 bits, as the program computes it."""
    found = 0xCBF29CE484222325
    for byte in source:
        found = ((found ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return found


def compiled(source):
    nvrtc, program = library(), ctypes.c_void_p()
    check = lambda code, what: code == 0 or sys.exit(f"{what} failed with {code}")
    check(nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"magnon.cu", 0, None, None), "creating")
    options = [f"--gpu-architecture={ARCHITECTURE}".encode(), b"--std=c++17"]
    code = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    size = ctypes.c_size_t()
    if code != 0:
        nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        nvrtc.nvrtcGetProgramLog(program, log)
        sys.exit(log.value.decode())
    check(nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size)), "measuring")
    text = ctypes.create_string_buffer(size.value)
    check(nvrtc.nvrtcGetPTX(program, text), "reading")
    return text.value


def main():
    folder = pathlib.Path(sys.argv[1])
    order = re.findall(r'include_str!\("kernels/([^"]+)"\)', (folder.parent / "compile.rs").read_text())
    source = b"".join((folder / name).read_bytes() for name in order)
    text = compiled(source)
    head = f"// magnon kernels {fingerprint(source):016x}\n".encode()
    packed = zlib.compress(head + text, 9)
    (folder / "general.ptx.zz").write_bytes(packed)
    print(f"{len(text)} bytes of {ARCHITECTURE}, {len(packed)} packed")


main()
