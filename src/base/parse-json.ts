/** Parses what may be no JSON; undefined where it is none. The parser's message is dropped: it would quote the text. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
