/** Files are read synchronously. After this long the event loop gets a turn. */
const SLICE_MS = 5;

/**
 * The returned function is awaited between readings. It waits for nothing but a turn of the event loop after each slice
 * of work.
 */
export function createPauses(): () => Promise<void> {
  let sliceEnds = performance.now() + SLICE_MS;
  return async () => {
    if (performance.now() < sliceEnds) return;
    await new Promise<void>((resolve) => setImmediate(resolve));
    sliceEnds = performance.now() + SLICE_MS;
  };
}
