import { describe, expect, it } from "vitest";
import { CORE_KINDS, EVENT_KINDS } from "./core-kinds.ts";

describe("core/v1", () => {
  it("is served as upstream serves it", () => {
    const rows = CORE_KINDS.map(({ plural, kind, shortNames, namespaced, categories, subresources }) => {
      const parts = subresources.map(({ name }) => name).sort();
      return [
        plural,
        kind,
        shortNames.join(),
        namespaced ? "namespaced" : "cluster",
        categories.join(),
        parts.join(" "),
      ];
    });
    expect(rows).toEqual([
      ["bindings", "Binding", "", "namespaced", "", ""],
      ["componentstatuses", "ComponentStatus", "cs", "cluster", "", ""],
      ["configmaps", "ConfigMap", "cm", "namespaced", "", ""],
      ["endpoints", "Endpoints", "ep", "namespaced", "", ""],
      ["events", "Event", "ev", "namespaced", "", ""],
      ["limitranges", "LimitRange", "limits", "namespaced", "", ""],
      ["namespaces", "Namespace", "ns", "cluster", "", "finalize status"],
      ["nodes", "Node", "no", "cluster", "", "proxy status"],
      ["persistentvolumeclaims", "PersistentVolumeClaim", "pvc", "namespaced", "", "status"],
      ["persistentvolumes", "PersistentVolume", "pv", "cluster", "", "status"],
      [
        "pods",
        "Pod",
        "po",
        "namespaced",
        "all",
        "attach binding ephemeralcontainers eviction exec log portforward proxy resize status",
      ],
      ["podtemplates", "PodTemplate", "", "namespaced", "", ""],
      ["replicationcontrollers", "ReplicationController", "rc", "namespaced", "all", "scale status"],
      ["resourcequotas", "ResourceQuota", "quota", "namespaced", "", "status"],
      ["secrets", "Secret", "", "namespaced", "", ""],
      ["serviceaccounts", "ServiceAccount", "sa", "namespaced", "", "token"],
      ["services", "Service", "svc", "namespaced", "all", "proxy status"],
    ]);
  });

  it.each(["PodTemplate", "Pod", "Node", "Event", "Secret"])("%s has a schema with fields", (kind) => {
    const row = CORE_KINDS.find((candidate) => candidate.kind === kind);
    expect(row?.schema.node).toMatchObject({ kind: "struct" });
    expect(row?.schema.definition).toBe(`io.k8s.api.core.v1.${kind}`);
  });

  it.each([...CORE_KINDS, ...EVENT_KINDS].map((row) => [`${row.group}/${row.plural}`, row] as const))(
    "%s takes an empty object without a crash, and leaves it as it is",
    (_name, row) => {
      const decoded = row.schema.decode({});
      const sent = {
        ...Object(decoded.value),
        apiVersion: row.group === "" ? "v1" : `${row.group}/v1`,
        kind: row.kind,
        metadata: {},
      };
      const before = structuredClone(sent);
      const { strategy } = row;
      const defaulted = strategy.default?.(sent) ?? sent;
      const prepared = strategy.prepareCreate?.(defaulted) ?? defaulted;
      const updated = strategy.prepareUpdate?.(defaulted, prepared) ?? defaulted;
      for (const { take, validateUpdate } of row.subresources) {
        const taken = take?.(defaulted, prepared) ?? prepared;
        expect(validateUpdate?.(taken, prepared) ?? []).toBeInstanceOf(Array);
      }
      expect(strategy.validate?.(updated) ?? []).toBeInstanceOf(Array);
      expect(strategy.validateUpdate?.(updated, updated) ?? []).toEqual([]);
      for (const read of Object.values(strategy.fields ?? {})) expect(typeof read(updated)).toBe("string");
      expect(strategy.default?.(defaulted) ?? defaulted).toEqual(defaulted);
      expect(sent).toEqual(before);
    },
  );
});
