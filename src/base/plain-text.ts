/**
 * What a terminal acts upon, or shows in another order than it stands: control characters with the escape among them, and
 * those that turn the direction of writing or are not seen.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const ACTIVE = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** Shows text of strangers as one line that no terminal acts upon: `\n`, `\u001b` and the like stand for themselves. */
export function toPlainText(text: string): string {
  return text.replace(ACTIVE, (character) => {
    if (character === "\n") return "\\n";
    if (character === "\t") return "\\t";
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

/** The same for text of several lines, whose ends stay. */
export function toPlainLines(text: string): string {
  return text.split("\n").map(toPlainText).join("\n");
}
