/**
 * The program of the pause image: it waits for signals, reaps the orphans that a shared PID namespace gives it, and
 * ends on SIGTERM or SIGINT. A whole ELF file of some 250 bytes, because a sandbox's start time is every pod's.
 *
 * It blocks its three signals and takes them one by one, so that it needs no handlers; blocked signals also reach PID 1,
 * for which the kernel drops those that it does not handle.
 *
 *     start:  rt_sigprocmask(SIG_BLOCK, &mask, NULL, 8)
 *     wait:   signal = rt_sigtimedwait(&mask, NULL, NULL, 8)
 *             if signal == SIGCHLD goto reap
 *             if signal < 0 goto wait            // interrupted
 *             exit_group(0)
 *     reap:   if wait4(-1, NULL, WNOHANG, NULL) > 0 goto reap
 *             goto wait
 */
export type Architecture = "amd64" | "arm64";

const ELF_HEADER_BYTES = 64;
const PROGRAM_HEADER_BYTES = 56;
const LOAD_ADDRESS = 0x400000n;
const MACHINE: Record<Architecture, number> = { amd64: 62, arm64: 183 };

const SIGINT = 2;
const SIGTERM = 15;
const SIGCHLD = 17;
const SIGNAL_MASK = [SIGINT, SIGTERM, SIGCHLD].reduce((mask, signal) => mask | (1n << BigInt(signal - 1)), 0n);

/** Computes the executable: one segment that holds the headers, the code and, at its end, the signal mask. */
export function computePauseProgram(architecture: Architecture): Buffer {
  const code = architecture === "amd64" ? amd64Code() : arm64Code();
  const mask = Buffer.alloc(8);
  mask.writeBigUInt64LE(SIGNAL_MASK);
  const body = Buffer.concat([code, mask]);
  return Buffer.concat([elfHeader(architecture), programHeader(body.length), body]);
}

function elfHeader(architecture: Architecture): Buffer {
  const header = Buffer.alloc(ELF_HEADER_BYTES);
  header.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]); // "\x7fELF", 64-bit, little-endian, version 1
  header.writeUInt16LE(2, 16); // an executable with fixed addresses
  header.writeUInt16LE(MACHINE[architecture], 18);
  header.writeUInt32LE(1, 20);
  header.writeBigUInt64LE(LOAD_ADDRESS + BigInt(ELF_HEADER_BYTES + PROGRAM_HEADER_BYTES), 24); // entry point
  header.writeBigUInt64LE(BigInt(ELF_HEADER_BYTES), 32); // program headers follow
  header.writeUInt16LE(ELF_HEADER_BYTES, 52);
  header.writeUInt16LE(PROGRAM_HEADER_BYTES, 54);
  header.writeUInt16LE(1, 56); // one program header
  return header;
}

function programHeader(bodyBytes: number): Buffer {
  const size = BigInt(ELF_HEADER_BYTES + PROGRAM_HEADER_BYTES + bodyBytes);
  const header = Buffer.alloc(PROGRAM_HEADER_BYTES);
  header.writeUInt32LE(1, 0); // PT_LOAD
  header.writeUInt32LE(5, 4); // readable, executable
  header.writeBigUInt64LE(LOAD_ADDRESS, 16);
  header.writeBigUInt64LE(LOAD_ADDRESS, 24);
  header.writeBigUInt64LE(size, 32);
  header.writeBigUInt64LE(size, 40);
  header.writeBigUInt64LE(0x10000n, 48); // 64 KiB pages exist on arm64
  return header;
}

/**
 * Returns the code for amd64. Offsets in the listing's comments count from the start of the code; the mask lies at
 * 0x60.
 */
function amd64Code(): Buffer {
  return fromListing(`
    b8 0e 00 00 00        00 start: mov  eax, 14       ; rt_sigprocmask
    31 ff                 05        xor  edi, edi      ; SIG_BLOCK
    48 8d 35 52 00 00 00  07        lea  rsi, [mask]
    31 d2                 0e        xor  edx, edx
    41 ba 08 00 00 00     10        mov  r10d, 8
    0f 05                 16        syscall
    b8 80 00 00 00        18 wait:  mov  eax, 128      ; rt_sigtimedwait
    48 8d 3d 3c 00 00 00  1d        lea  rdi, [mask]
    31 f6                 24        xor  esi, esi
    31 d2                 26        xor  edx, edx
    41 ba 08 00 00 00     28        mov  r10d, 8
    0f 05                 2e        syscall
    83 f8 11              30        cmp  eax, 17       ; SIGCHLD
    74 0d                 33        je   reap
    85 c0                 35        test eax, eax
    78 df                 37        js   wait
    b8 e7 00 00 00        39        mov  eax, 231      ; exit_group
    31 ff                 3e        xor  edi, edi
    0f 05                 40        syscall
    b8 3d 00 00 00        42 reap:  mov  eax, 61       ; wait4
    bf ff ff ff ff        47        mov  edi, -1
    31 f6                 4c        xor  esi, esi
    ba 01 00 00 00        4e        mov  edx, 1        ; WNOHANG
    45 31 d2              53        xor  r10d, r10d
    0f 05                 56        syscall
    85 c0                 58        test eax, eax
    7f e6                 5a        jg   reap
    eb ba                 5c        jmp  wait
    66 90                 5e        nop
  `);
}

/** Returns the code for arm64. Instructions are little-endian words; the mask lies at 0x70. */
function arm64Code(): Buffer {
  const words = fromListing(`
    d2 80 10 e8  00 start: mov  x8, #135       ; rt_sigprocmask
    d2 80 00 00  04        mov  x0, #0         ; SIG_BLOCK
    10 00 03 41  08        adr  x1, mask
    d2 80 00 02  0c        mov  x2, #0
    d2 80 01 03  10        mov  x3, #8
    d4 00 00 01  14        svc  #0
    d2 80 11 28  18 wait:  mov  x8, #137       ; rt_sigtimedwait
    10 00 02 a0  1c        adr  x0, mask
    d2 80 00 01  20        mov  x1, #0
    d2 80 00 02  24        mov  x2, #0
    d2 80 01 03  28        mov  x3, #8
    d4 00 00 01  2c        svc  #0
    71 00 44 1f  30        cmp  w0, #17        ; SIGCHLD
    54 00 00 c0  34        b.eq reap
    37 ff ff 00  38        tbnz w0, #31, wait
    d2 80 0b c8  3c        mov  x8, #94        ; exit_group
    d2 80 00 00  40        mov  x0, #0
    d4 00 00 01  44        svc  #0
    d5 03 20 1f  48        nop
    d2 80 20 88  4c reap:  mov  x8, #260       ; wait4
    92 80 00 00  50        mov  x0, #-1
    d2 80 00 01  54        mov  x1, #0
    d2 80 00 22  58        mov  x2, #1         ; WNOHANG
    d2 80 00 03  5c        mov  x3, #0
    d4 00 00 01  60        svc  #0
    71 00 00 1f  64        cmp  w0, #0
    54 ff ff 2c  68        b.gt reap
    17 ff ff eb  6c        b    wait
  `);
  return words.swap32();
}

/** Reads a listing: takes the leading pairs of hexadecimal digits of each line, up to the offset column. */
function fromListing(listing: string): Buffer {
  const bytes = listing
    .split("\n")
    .map((line) => /^\s*((?:[0-9a-f]{2} )+)\s*[0-9a-f]{2} /.exec(line)?.[1] ?? "")
    .join("");
  return Buffer.from(bytes.replaceAll(" ", ""), "hex");
}
