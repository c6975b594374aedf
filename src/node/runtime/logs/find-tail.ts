import type { OpenedFile } from "../../../host/opened-file.ts";

const BLOCK_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

/**
 * Finds where the last `lines` lines of the first `sizeBytes` of a file begin. A last line without a newline is
 * included, but not counted (staging/src/k8s.io/cri-client/pkg/logs/tail.go).
 */
export async function findTailStart(
  file: Pick<OpenedFile, "read">,
  { lines, sizeBytes }: { lines: number; sizeBytes: number },
): Promise<number> {
  let newlines = 0;
  for (let end = sizeBytes; end > 0; ) {
    const start = Math.max(0, end - BLOCK_BYTES);
    const block = await file.read(start, end - start);
    for (let at = block.lastIndexOf(NEWLINE); at >= 0; at = at === 0 ? -1 : block.lastIndexOf(NEWLINE, at - 1)) {
      if (++newlines > lines) return start + at + 1;
    }
    end = start;
  }
  return 0;
}
