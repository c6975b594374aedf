/**
 * The problems of a name that only has to fit into a path, such as the names of roles and names in references; empty
 * for a valid one.
 */
export function checkPathSegment(text: string): string[] {
  if (text === "." || text === "..") return [`may not be '${text}'`];
  return ["/", "%"]
    .filter((character) => text.includes(character))
    .map((character) => `may not contain '${character}'`);
}
