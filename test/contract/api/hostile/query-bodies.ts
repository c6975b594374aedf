import { CORE, type HostileBody, join } from "./hostile-body.ts";

const get = (name: string, path: string, query: () => string): HostileBody => ({
  name: `query: ${name}`,
  method: "GET",
  path: `${path}?${query()}`,
  body: () => "",
});

/** Queries of tens of kilobytes. */
export const QUERY_BODIES: readonly HostileBody[] = [
  get("label selectors", `${CORE}/pods`, () => `labelSelector=${join(6_000, (i) => `k${i}`)}`),
  get("field selectors", `${CORE}/pods`, () => `fieldSelector=${join(2_000, (i) => `metadata.name!=k${i}`)}`),
  get("commas", `${CORE}/pods`, () => `labelSelector=${",".repeat(40_000)}`),
  get("parentheses", `${CORE}/pods`, () => `labelSelector=a+in+(${"(".repeat(40_000)}`),
  get("parameters", `${CORE}/pods`, () => join(8_000, (i) => `a${i}=b`, "&")),
  { name: "path: slashes", method: "GET", path: `/apis/${"/".repeat(50_000)}x`, body: () => "" },
  get("a continue token", `${CORE}/pods`, () => `limit=1&continue=${"QUFB".repeat(10_000)}`),
];
