/**
 * Names that need only fit into a path: roles, and what other objects are called in references. What is wrong with it;
 * empty when nothing is.
 */
export function checkPathSegment(text: string): string[] {
  if (text === "." || text === "..") return [`may not be '${text}'`];
  return ["/", "%"]
    .filter((character) => text.includes(character))
    .map((character) => `may not contain '${character}'`);
}
