import { readFile } from "node:fs/promises";
import type { MountEntry } from "../../mounts-port.ts";

const TABLE = "/proc/self/mountinfo";

let running: Promise<unknown> | undefined;
let next: Promise<MountEntry[]> | undefined;

/**
 * This process's mount table. Reading it asks no file system anything, so a file system that hangs does no harm. With
 * thousands of mounts it takes milliseconds. Callers that ask during a reading share the next one, which is as new as
 * they need it.
 */
export async function readMountTable(): Promise<MountEntry[]> {
  if (next !== undefined) return await next;
  const before = running?.then(nothing, nothing);
  const reading = (async () => {
    await before;
    next = undefined;
    return parseMountTable(await readFile(TABLE, "utf8"));
  })();
  if (before !== undefined) next = reading;
  running = reading;
  return await reading;
}

const nothing = () => undefined;

/** Parses the text of mountinfo (proc_pid_mountinfo(5)). Lines of another form are passed over. */
export function parseMountTable(text: string): MountEntry[] {
  return text.split("\n").flatMap((line) => parseLine(line) ?? []);
}

function parseLine(line: string): MountEntry | undefined {
  const fields = line.split(" ");
  // Some optional fields stand between the fixed ones and this mark.
  const mark = fields.indexOf("-", 6);
  const [id, parentId, device, root, path, options] = fields;
  if (mark === -1 || options === undefined) return undefined;
  const [type = "", source = "", fileSystemOptions = ""] = fields.slice(mark + 1);
  const optional = fields.slice(6, mark);
  const peerGroup = numberOf("shared", optional);
  return {
    id: Number(id),
    parentId: Number(parentId),
    device: device ?? "",
    root: unescapeOctal(root ?? ""),
    path: unescapeOctal(path ?? ""),
    type: unescapeOctal(type),
    source: unescapeOctal(source),
    options: [...new Set([...options.split(","), ...fileSystemOptions.split(",")])].filter(Boolean).map(unescapeOctal),
    propagation: peerGroup !== undefined ? "shared" : numberOf("master", optional) !== undefined ? "slave" : "private",
    ...(peerGroup === undefined ? {} : { peerGroup }),
  };
}

/** The number of an optional field: `shared:7`. */
function numberOf(name: string, fields: readonly string[]): number | undefined {
  const field = fields.find((candidate) => candidate.startsWith(`${name}:`));
  return field === undefined ? undefined : Number(field.slice(name.length + 1));
}

/** The kernel writes space, tab, newline, backslash and `#` as `\040`: each stands for one byte, all of them ASCII. */
function unescapeOctal(text: string): string {
  if (!text.includes("\\")) return text;
  return text.replace(/\\([0-7]{3})/g, (_match, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}
