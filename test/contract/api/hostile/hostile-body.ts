/** A request that is meant to keep the server busy. */
export interface HostileBody {
  readonly name: string;
  readonly method?: "POST" | "PUT" | "PATCH" | "GET" | "DELETE";
  readonly path: string;
  /** Default JSON. */
  readonly type?: string;
  body(): Buffer | string;
}

export const CORE = "/api/v1/namespaces/default";
export const MEBIBYTE = 1024 * 1024;
export const MANY = 20_000;

export const join = (count: number, text: (index: number) => string, separator = ",") =>
  Array.from({ length: count }, (_, index) => text(index)).join(separator);
export const list = (count: number, item: (index: number) => object) =>
  Array.from({ length: count }, (_, i) => item(i));
export const NAMED = { generateName: "hostile-" };

/** The unit as often as it fits into so many bytes. */
export const repeated = (unit: string, bytes = MEBIBYTE - 64) => unit.repeat(Math.floor(bytes / unit.length));

/** A container of a pod that is valid. */
export const CONTAINER = { name: "c", image: "i" };

/** The schema or value within so many others. */
export const nested = (depth: number, inner: object, wrap: (inner: object) => object) => {
  let schema = inner;
  for (let level = 0; level < depth; level++) schema = wrap(schema);
  return schema;
};
