/** Resolves when everything else that waits has had its turn. */
export async function nextTurn(): Promise<void> {
  await new Promise<void>((resolve) => setImmediate(resolve));
}
