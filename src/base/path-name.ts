const MAX_LENGTH = 253;

/** Says whether a text can be the name of a file or directory, and no path that leads elsewhere. */
export function isPathName(text: unknown): text is string {
  if (typeof text !== "string" || text === "" || text === "." || text === "..") return false;
  return text.length <= MAX_LENGTH && !/[/\0]/.test(text);
}
