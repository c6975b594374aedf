import { X509Certificate } from "node:crypto";
import { messageOf } from "../../../base/errors.ts";

/** Boundaries, each a line of its own. */
const BOUNDARY = /^-----(BEGIN|END) (.+)-----\s*$/;

interface PemBlock {
  readonly label: string;
  readonly hasHeaders: boolean;
  readonly bytes: Buffer;
}

/** Why the base64 of PEM is no certificate request; undefined when it looks like one. Whoever signs it reads it. */
export function whyNoRequest(request: string): string | undefined {
  const label = blocksOf(request)[0]?.label ?? "";
  return label === "CERTIFICATE REQUEST" ? undefined : "PEM block type must be CERTIFICATE REQUEST";
}

/** Why the base64 of PEM is no certificate with its chain; undefined when it is one. Text between the blocks is allowed. */
export function whyNoCertificates(certificates: string): string | undefined {
  const blocks = blocksOf(certificates);
  for (const { label, hasHeaders, bytes } of blocks) {
    if (label !== "CERTIFICATE") return `only CERTIFICATE PEM blocks are allowed, found "${label}"`;
    if (hasHeaders) return "no PEM block headers are permitted";
    try {
      new X509Certificate(bytes);
    } catch (error) {
      return messageOf(error);
    }
  }
  return blocks.length === 0 ? "must contain at least one CERTIFICATE PEM block" : undefined;
}

/** Line by line, and so in one pass, whatever somebody sends. A block that does not end is none. */
function blocksOf(base64: string): PemBlock[] {
  const blocks: PemBlock[] = [];
  let open: { label: string; lines: string[] } | undefined;
  for (const line of Buffer.from(base64, "base64").toString("latin1").split("\n")) {
    const [, side, label = ""] = BOUNDARY.exec(line) ?? [];
    if (side === "BEGIN") {
      open = { label, lines: [] };
    } else if (side === "END") {
      if (open?.label === label) blocks.push(blockOf(label, open.lines));
      open = undefined;
    } else {
      open?.lines.push(line);
    }
  }
  return blocks;
}

function blockOf(label: string, lines: readonly string[]): PemBlock {
  return { label, hasHeaders: lines.some((line) => line.includes(":")), bytes: Buffer.from(lines.join(""), "base64") };
}
