/** A field of a request; empty where there is none. */
export function readText(request: unknown, field: string): string {
  const value: unknown = typeof request === "object" && request !== null ? Reflect.get(request, field) : undefined;
  return typeof value === "string" ? value : "";
}
