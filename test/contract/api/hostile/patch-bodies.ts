import { CONTAINER, CORE, type HostileBody, list, MANY, MEBIBYTE, repeated } from "./hostile-body.ts";

const patch = (kind: string, name: string, body: () => unknown, path = `${CORE}/configmaps/target`): HostileBody => ({
  name: `patch: ${name}`,
  method: "PATCH",
  path,
  type: `application/${kind}`,
  body: () => {
    const made = body();
    return typeof made === "string" ? made : JSON.stringify(made);
  },
});
const JSON_PATCH = "json-patch+json";
const MERGE = "merge-patch+json";
const STRATEGIC = "strategic-merge-patch+json";
const APPLY = "apply-patch+yaml";
const POD = `${CORE}/pods/target`;
const DEPLOYMENT = "/apis/apps/v1/namespaces/default/deployments/target";
const applied = (name: string, query: string, spec: () => object, path: string): HostileBody =>
  patch(
    APPLY,
    name,
    () => ({ apiVersion: "v1", kind: "Pod", metadata: { name: "applied" }, spec: spec() }),
    `${path}?fieldManager=${query}`,
  );

/** Patches of all types, of the objects named `target`. */
export const PATCH_BODIES: readonly HostileBody[] = [
  patch(JSON_PATCH, "ten thousand operations", () =>
    list(10_000, (i) => ({ op: "add", path: `/data/k${i}`, value: "v" })),
  ),
  patch(JSON_PATCH, "fifty thousand operations", () =>
    list(50_000, (i) => ({ op: "add", path: `/data/k${i}`, value: "v" })),
  ),
  patch(JSON_PATCH, "tests", () => list(10_000, () => ({ op: "test", path: "", value: {} }))),
  patch(JSON_PATCH, "tests of all of it", () => [
    { op: "add", path: "/data/x", value: "x" },
    { op: "add", path: "/data/l", value: list(50_000, () => ({})) },
    ...list(9_000, () => ({ op: "test", path: "/data/l", value: [{}] })),
  ]),
  patch(JSON_PATCH, "copies of copies", () => [
    { op: "add", path: "/data", value: { a: "x" } },
    ...list(40, (i) => ({ op: "copy", from: "/data", path: `/data/k${i}` })),
  ]),
  patch(JSON_PATCH, "copies of much", () => [
    { op: "add", path: "/data/a", value: list(100_000, () => ({})) },
    ...list(9_000, (i) => ({ op: "copy", from: "/data/a", path: `/data/b${i}` })),
  ]),
  patch(JSON_PATCH, "moves of much", () => [
    { op: "add", path: "/data/a", value: list(100_000, () => ({})) },
    ...list(9_000, () => ({ op: "move", from: "/data/a", path: "/data/a" })),
  ]),
  patch(JSON_PATCH, "insertions at the beginning", () => [
    { op: "add", path: "/data/a", value: list(200_000, () => ({})) },
    ...list(9_990, () => ({ op: "add", path: "/data/a/0", value: 1 })),
  ]),
  patch(JSON_PATCH, "a path of two MiB", () => [{ op: "add", path: "/a".repeat(MEBIBYTE), value: 1 }]),
  patch(JSON_PATCH, "paths of a hundred KiB", () => list(20, () => ({ op: "remove", path: "/data".repeat(20_000) }))),
  patch(MERGE, "nine thousand deep", () => `{"data":${'{"a":'.repeat(9e3)}1${"}".repeat(9e3)}}`),
  patch(MERGE, "many fields", () => ({
    data: Object.fromEntries(list(150_000, () => ({})).map((_, i) => [`k${i}`, "v"])),
  })),
  patch(
    STRATEGIC,
    "containers",
    () => ({ spec: { containers: list(MANY, (i) => ({ name: `c${i}`, image: "i" })) } }),
    POD,
  ),
  patch(
    STRATEGIC,
    "deletions of containers",
    () => ({ spec: { containers: list(MANY, (i) => ({ name: `c${i}`, $patch: "delete" })) } }),
    POD,
  ),
  patch(
    STRATEGIC,
    "containers and their order",
    () => ({
      spec: {
        $setElementOrder: undefined,
        "$setElementOrder/containers": list(MANY, (i) => ({ name: `c${i}` })),
        containers: list(MANY, (i) => ({ name: `c${i}`, image: "i" })),
      },
    }),
    POD,
  ),
  patch(STRATEGIC, "finalizers", () => ({
    metadata: {
      finalizers: list(100_000, () => ({})).map((_, i) => `example.com/f${i}`),
      "$setElementOrder/finalizers": list(100_000, () => ({})).map((_, i) => `example.com/f${i}`),
    },
  })),
  patch(STRATEGIC, "deletions of finalizers", () => ({
    metadata: { "$deleteFromPrimitiveList/finalizers": list(100_000, () => ({})).map((_, i) => `example.com/f${i}`) },
  })),
  patch(
    STRATEGIC,
    "variables of a template",
    () => ({
      spec: {
        template: { spec: { containers: [{ name: "c", env: list(40_000, (i) => ({ name: `E${i}`, value: "v" })) }] } },
      },
    }),
    DEPLOYMENT,
  ),
  patch(STRATEGIC, "nine thousand deep", () => `{"metadata":${'{"a":'.repeat(9e3)}1${"}".repeat(9e3)}}`, POD),
  applied(
    "apply: containers",
    "a",
    () => ({ containers: list(MANY, (i) => ({ name: `c${i}`, image: "i" })) }),
    `${CORE}/pods/applied`,
  ),
  applied(
    "apply: volumes",
    "b",
    () => ({ containers: [CONTAINER], volumes: list(MANY, (i) => ({ name: `v${i}`, emptyDir: {} })) }),
    `${CORE}/pods/applied`,
  ),
  applied(
    "apply: ports",
    "c",
    () => ({ containers: [{ ...CONTAINER, ports: list(MANY, (i) => ({ containerPort: i + 1, protocol: "TCP" })) }] }),
    `${CORE}/pods/applied`,
  ),
  applied(
    "apply: ports of one number",
    "c",
    () => ({ containers: [{ ...CONTAINER, ports: list(MANY, () => ({ containerPort: 1, protocol: "TCP" })) }] }),
    `${CORE}/pods/applied`,
  ),
  applied(
    "apply: variables",
    "d",
    () => ({ containers: [{ ...CONTAINER, env: list(30_000, (i) => ({ name: `E${i}`, value: "v" })) }] }),
    `${CORE}/pods/applied`,
  ),
  patch(
    APPLY,
    "apply: finalizers",
    () => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "applied", finalizers: list(100_000, () => ({})).map((_, i) => `example.com/f${i}`) },
    }),
    `${CORE}/configmaps/applied?fieldManager=e`,
  ),
  patch(
    APPLY,
    "apply: data",
    () => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "applied" },
      data: Object.fromEntries(list(60_000, () => ({})).map((_, i) => [`k${i}`, "v"])),
    }),
    `${CORE}/configmaps/applied?fieldManager=f`,
  ),
  patch(
    APPLY,
    "apply: unknown fields",
    () => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "applied" },
      ...Object.fromEntries(list(150_000, () => ({})).map((_, i) => [`k${i}`, "v"])),
    }),
    `${CORE}/configmaps/applied?fieldManager=g`,
  ),
  patch(APPLY, "apply: dashes", () => repeated("- "), `${CORE}/configmaps/applied?fieldManager=h`),
];
