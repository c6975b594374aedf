/** Adds to what is remembered, as the newest. Beyond the bound the oldest is forgotten. */
export function rememberNewest(remembered: Set<string>, text: string, max: number): void {
  remembered.delete(text);
  remembered.add(text);
  const [oldest] = remembered;
  if (remembered.size > max && oldest !== undefined) remembered.delete(oldest);
}
