import type { Dirent } from "node:fs";
import type { FileType } from "../../file-type.ts";

type TypeQuestions = Pick<
  Dirent,
  "isFile" | "isDirectory" | "isSymbolicLink" | "isSocket" | "isCharacterDevice" | "isBlockDevice"
>;

/** Maps what Node.js says of a file, or of a directory's entry, to the port's names of types. */
export function typeOf(entry: TypeQuestions): FileType {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "directory";
  if (entry.isSymbolicLink()) return "link";
  if (entry.isSocket()) return "socket";
  if (entry.isCharacterDevice()) return "character-device";
  return entry.isBlockDevice() ? "block-device" : "other";
}
