import { describe, expect, it } from "vitest";
import { notFoundError } from "../../../api/api-error.ts";
import type { Container, Pod, Service } from "../../../api/gen/types.ts";
import { CONFIG_SOURCE_ANNOTATION } from "../../../api/well-known.ts";
import { type EnvironmentRefs, resolveEnvironmentRefs } from "./environment-refs.ts";

const API: Service = {
  metadata: { namespace: "default", name: "kubernetes" },
  spec: { clusterIP: "10.96.0.1", ports: [{ port: 443 }] },
};
const WEB: Service = {
  metadata: { namespace: "ns", name: "web" },
  spec: { clusterIP: "10.96.0.2", ports: [{ port: 80 }] },
};

function createRig({ hasSynced = true } = {}) {
  const asked: string[] = [];
  const answer = async (plural: string, namespace: string, name: string) => {
    asked.push(`${plural} ${namespace}/${name}`);
    if (name === "gone") throw notFoundError({ group: "", resource: plural }, name);
    if (name === "broken") throw new Error("connection refused");
    return { metadata: { name } };
  };
  const refs: EnvironmentRefs = {
    secret: async (namespace, name) => await answer("secrets", namespace, name),
    configMap: async (namespace, name) => await answer("configmaps", namespace, name),
    services: () => ({
      hasSynced,
      list: (namespace) => [API, WEB].filter(({ metadata }) => hasSynced && metadata?.namespace === namespace),
    }),
  };
  const resolve = async (
    container: Partial<Container>,
    pod: Partial<Pod> = {},
    signal = new AbortController().signal,
  ) =>
    await resolveEnvironmentRefs(
      { metadata: { namespace: "ns", name: "web", uid: "u1" }, spec: { containers: [] }, ...pod },
      { name: "main", ...container },
      refs,
      signal,
    );
  return { asked, refs, resolve };
}

const NAMES: Partial<Container> = {
  envFrom: [{ secretRef: { name: "gone", optional: true } }, { configMapRef: { name: "a" } }, {}],
  env: [
    { name: "A", valueFrom: { secretKeyRef: { name: "s", key: "1" } } },
    { name: "B", valueFrom: { secretKeyRef: { name: "s", key: "2" } } },
    { name: "C", valueFrom: { configMapKeyRef: { name: "broken", key: "1" } } },
    { name: "D", value: "beside", valueFrom: { secretKeyRef: { name: "unused", key: "1" } } },
    { name: "E", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
  ],
};

describe("resolveEnvironmentRefs", () => {
  it("asks for each object once, and for nothing that is not used", async () => {
    const { asked, resolve } = createRig();
    await resolve(NAMES);
    expect(asked.toSorted()).toEqual(["configmaps ns/a", "configmaps ns/broken", "secrets ns/gone", "secrets ns/s"]);
    asked.length = 0;
    await resolve({});
    expect(asked).toEqual([]);
  });

  it("notes in its place what could not be had, in kubelet's words", async () => {
    const resolved = await createRig().resolve(NAMES);
    expect(resolved).toMatchObject({
      ok: true,
      objects: {
        secrets: new Map<string, object>([
          ["gone", { state: "missing", error: 'secret "gone" not found' }],
          ["s", { state: "found", object: { metadata: { name: "s" } } }],
        ]),
        configMaps: new Map<string, object>([
          ["a", { state: "found", object: { metadata: { name: "a" } } }],
          ["broken", { state: "failed", error: "connection refused" }],
        ]),
      },
    });
  });

  it("takes a reference without a name for one to nothing", async () => {
    const { asked, resolve } = createRig();
    const resolved = await resolve({ envFrom: [{ secretRef: {} }] });
    expect(resolved).toMatchObject({
      objects: { secrets: new Map([["", { state: "missing", error: 'secret "" not found' }]]) },
    });
    expect(asked).toEqual([]);
  });

  it.each([
    [undefined, ["KUBERNETES", "WEB"]],
    [true, ["KUBERNETES", "WEB"]],
    [false, ["KUBERNETES"]],
  ])("with enableServiceLinks %o shows %o", async (enableServiceLinks, expected) => {
    const spec = { containers: [], ...(enableServiceLinks === undefined ? {} : { enableServiceLinks }) };
    const resolved = await createRig().resolve({}, { spec });
    const variables = resolved.ok ? resolved.serviceVariables : [];
    expect(variables.flatMap(({ name }) => /^([A-Z]+)_SERVICE_HOST$/.exec(name)?.[1] ?? [])).toEqual(expected);
  });

  it("waits for the services, but not with a static pod, which may be what serves them", async () => {
    const { resolve } = createRig({ hasSynced: false });
    expect(await resolve({})).toEqual({
      ok: false,
      error: "services have not yet been read at least once, cannot construct envvars",
    });
    const annotations = { [CONFIG_SOURCE_ANNOTATION]: "file" };
    expect(await resolve({}, { metadata: { annotations } })).toMatchObject({ ok: true, serviceVariables: [] });
  });

  it("is aborted, not failed, when the signal fires", async () => {
    const { resolve } = createRig();
    const controller = new AbortController();
    controller.abort();
    await expect(resolve(NAMES, {}, controller.signal)).rejects.toMatchObject({ name: "AbortError" });
  });
});
