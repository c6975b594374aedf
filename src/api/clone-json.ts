/**
 * Makes a deep copy of a value from JSON: objects, arrays, text, numbers. It is several times as fast as
 * `structuredClone`, which converts its argument to bytes and back; every write of a pod makes a few copies.
 */
export function cloneJson<T>(value: T): T {
  return cloneValue(value) as T;
}

function cloneValue(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(cloneValue);
  const copy: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    // A plain assignment would set the copy's prototype.
    if (name === "__proto__") Object.defineProperty(copy, name, { ...PLAIN, value: cloneValue(member) });
    else copy[name] = cloneValue(member);
  }
  return copy;
}

const PLAIN = { configurable: true, enumerable: true, writable: true };
