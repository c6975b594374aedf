/**
 * A path without detours: no empty parts, none that mean "here" or "up", however they are escaped. Escapes and a slash at
 * the end stay as they are. "" stays "".
 */
export function cleanPath(path: string): string {
  const kept: string[] = [];
  for (const part of path.split("/")) {
    const plain = part.replaceAll(/%2e/gi, ".");
    if (plain === "..") kept.pop();
    else if (plain !== "" && plain !== ".") kept.push(part);
  }
  const cleaned = kept.map((part) => `/${part}`).join("");
  return path.endsWith("/") ? `${cleaned}/` : cleaned;
}

/** The path as the proxied server reads it: without detours and escapes. Undefined where the escapes are none. */
export function readPlainPath(path: string): string | undefined {
  try {
    return cleanPath(decodeURIComponent(cleanPath(path)));
  } catch {
    return undefined;
  }
}
