/** A boundary, which is a line of its own. */
const BOUNDARY = /^-----(BEGIN|END) (.+)-----\s*$/;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** The content between two boundaries. */
export interface PemBlock {
  /** The label of the boundaries: `CERTIFICATE`. */
  readonly label: string;
  readonly hasHeaders: boolean;
  readonly bytes: Buffer;
}

/**
 * Finds the blocks of a text as Go's encoding/pem does. A block that does not end, or is no base64, is left out, and
 * there may be any text between blocks. It reads line by line in one pass, whatever a client sends.
 */
export function findPemBlocks(text: string): PemBlock[] {
  const blocks: PemBlock[] = [];
  let open: { label: string; lines: string[] } | undefined;
  for (const line of text.split("\n")) {
    const [, side, label = ""] = BOUNDARY.exec(line) ?? [];
    if (side === "BEGIN") {
      open = { label, lines: [] };
    } else if (side === "END") {
      if (open?.label === label) blocks.push(...blockOf(label, open.lines));
      open = undefined;
    } else {
      open?.lines.push(line);
    }
  }
  return blocks;
}

/** The block of these lines, if they are one. Headers come first, each with a colon; the rest is base64. */
function blockOf(label: string, lines: readonly string[]): PemBlock[] {
  const firstOther = lines.findIndex((line) => !line.includes(":"));
  const headerCount = firstOther < 0 ? lines.length : firstOther;
  const base64 = lines
    .slice(headerCount)
    .join("")
    .replace(/[ \t\r]/g, "");
  if (base64.length % 4 !== 0 || !BASE64.test(base64)) return [];
  return [{ label, hasHeaders: headerCount > 0, bytes: Buffer.from(base64, "base64") }];
}
