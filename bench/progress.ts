const LINE_EVERY_MS = 10_000;

/**
 * Says how far the bench is, on the standard error: the report goes to the standard output. On a terminal it is one line
 * that overwrites itself; elsewhere a line with the time that has passed, at most every ten seconds. An empty text takes the line away.
 */
export function createProgress(): (text: string) => void {
  if (process.stderr.isTTY) return (text) => void process.stderr.write(`\r\u001b[K${text}`);
  const startedAt = performance.now();
  let said = Number.NEGATIVE_INFINITY;
  return (text) => {
    const now = performance.now();
    if (text === "" || now - said < LINE_EVERY_MS) return;
    said = now;
    process.stderr.write(`${Math.round((now - startedAt) / 1_000)} s: ${text}\n`);
  };
}
