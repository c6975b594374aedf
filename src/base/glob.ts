type Step = "any-run" | ((character: string) => boolean);

/**
 * Matches a whole text. `*` matches any run of characters, `?` matches one, `[a-z]` and `[^a-z]` match one of a set,
 * and `\` takes the next character as it is, as Go's `path.Match` reads one part of a path. A broken pattern matches
 * nothing. The work is bounded by the product of the two lengths, whatever the pattern, because tenants write it.
 */
export function matchesGlob(pattern: string, text: string): boolean {
  const steps = parseGlob(pattern);
  if (steps === undefined) return false;
  let step = 0;
  let at = 0;
  /** The place to go on from if the text after the last `*` does not fit: the `*` then takes one character more. */
  let retry: { step: number; at: number } | undefined;
  while (at < text.length) {
    const current = steps[step];
    if (current === "any-run") {
      retry = { step: step + 1, at };
      step++;
    } else if (current?.(text.charAt(at)) === true) {
      step++;
      at++;
    } else if (retry !== undefined) {
      retry = { step: retry.step, at: retry.at + 1 };
      ({ step, at } = retry);
    } else {
      return false;
    }
  }
  return steps.slice(step).every((rest) => rest === "any-run");
}

/** Returns undefined for a set that is not closed, or a `\` at the end. */
function parseGlob(pattern: string): Step[] | undefined {
  const steps: Step[] = [];
  const tokens = pattern.match(/\\.|\[\^?(?:\\.|[^\]\\])+\]|./gs) ?? [];
  for (const token of tokens) {
    if (token === "[" || token === "\\") return undefined;
    if (token === "*") steps.push("any-run");
    else if (token === "?") steps.push(() => true);
    else if (token.startsWith("[")) steps.push(characterSet(token.slice(1, -1)));
    else steps.push((character) => character === token.replace(/^\\/, ""));
  }
  return steps;
}

function characterSet(text: string): Step {
  const isNegated = text.startsWith("^");
  const ranges = [...(isNegated ? text.slice(1) : text).matchAll(/(\\?.)(?:-(\\?.))?/gs)].map(
    ([, low = "", high = low]) => ({ low: low.slice(-1), high: high.slice(-1) }),
  );
  return (character) => ranges.some(({ low, high }) => low <= character && character <= high) !== isNegated;
}
