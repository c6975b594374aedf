/**
 * The text without the characters at its end that are this one. A pattern for it (`/x+$/`) would be tried anew from each
 * of them, which takes the square of the time.
 */
export function trimRight(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end--;
  return text.slice(0, end);
}
