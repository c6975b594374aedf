/** Words that differ more are another word. */
const MAX_DISTANCE = 3;

/** Finds the word that was meant by a misspelt one, whatever its case; undefined where none is near. */
export function findNearestWord(word: string, known: readonly string[]): string | undefined {
  const distances = known.map((one) => ({ one, distance: computeDistance(word.toLowerCase(), one.toLowerCase()) }));
  const [nearest] = distances.toSorted((a, b) => a.distance - b.distance);
  // Little remains of a short word when three letters differ.
  const limit = Math.min(MAX_DISTANCE, Math.ceil(word.length / 3));
  return nearest !== undefined && nearest.distance <= limit ? nearest.one : undefined;
}

/** The number of letters to insert, remove or replace, by Levenshtein. */
function computeDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...b].entries()) {
      const replaced = (row[j] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
