import { expect, test } from "vitest";
import type { APIService } from "../../api/gen/types.ts";
import { APPS_KINDS } from "../kinds/apps/apps-kinds.ts";
import { METRICS_KINDS } from "../kinds/metrics/metrics-kinds.ts";
import { planRegistrations } from "./local-registrations.ts";

const NOW = Date.parse("2026-01-02T03:04:05Z");
const MANAGED = "kube-aggregator.kubernetes.io/automanaged";
const available = { conditions: [{ type: "Available", status: "True", reason: "Local" }] };

function registered(
  name: string,
  changes: Partial<APIService["spec"]> = {},
  labels: Record<string, string> = { [MANAGED]: "true" },
): APIService {
  const [version = "", ...group] = name.split(".");
  const spec = { group: group.join("."), version, groupPriorityMinimum: 1000, versionPriority: 100, ...changes };
  return { metadata: { name, labels }, spec, status: available };
}

const [apps] = APPS_KINDS;
const kinds = [...(apps ? [apps, { ...apps, group: "stable.example.com" }] : []), ...METRICS_KINDS];
const plan = (existing: readonly APIService[]) => {
  return planRegistrations(existing, { kinds, isOwn: ({ group }) => group === "apps", now: NOW });
};

test("each group and version has its registration, with upstream's priorities and labels", () => {
  const { create, ...rest } = plan([]);
  expect(create.map(({ metadata, spec }) => [metadata?.name, metadata?.labels, spec])).toEqual([
    [
      "v1.apps",
      { [MANAGED]: "onstart" },
      { group: "apps", version: "v1", groupPriorityMinimum: 17_800, versionPriority: 15 },
    ],
    [
      "v1.stable.example.com",
      { [MANAGED]: "true" },
      { group: "stable.example.com", version: "v1", groupPriorityMinimum: 1000, versionPriority: 100 },
    ],
  ]);
  expect(rest).toEqual({ restore: [], tell: [], remove: [] });
});

const METRICS = "v1beta1.metrics.k8s.io";
const all = ["v1.apps", "v1.stable.example.com"].map((name) => registered(name));
const service = { namespace: "a", name: "b", port: 443 };

test("what is registered already, and what others register, is left alone", () => {
  const others = [registered("v1.other.example.com", { service }), registered("v2.mine.example.com", {}, {})];
  expect(plan([...all, ...others])).toEqual({ create: [], restore: [], tell: [], remove: [] });
});

test("a service of others may answer for metrics and custom resources, and never for our own groups", () => {
  const given = [...all, registered(METRICS)].map(({ metadata }) => registered(metadata?.name ?? "", { service }));
  const { restore, ...rest } = plan(given);
  expect(restore.map(({ metadata, spec }) => [metadata?.name, spec?.service])).toEqual([["v1.apps", undefined]]);
  expect(rest).toEqual({ create: [], tell: [], remove: [] });
});

test("a registration of ours goes with the custom resources that it was for", () => {
  expect(plan([...all, registered("v1.gone.example.com")]).remove).toEqual(["v1.gone.example.com"]);
});

test("that of metrics is left to who installs a metrics-server, and ours of before goes", () => {
  expect(plan([...all, registered(METRICS)]).remove).toEqual([METRICS]);
  expect(plan([...all, registered(METRICS, {}, { "app.kubernetes.io/managed-by": "Helm" })]).remove).toEqual([]);
});

test("one that became local is available", () => {
  const untold = { ...registered("v1.apps"), status: {} };
  expect(plan([untold]).tell).toMatchObject([
    { status: { conditions: [{ type: "Available", status: "True", lastTransitionTime: "2026-01-02T03:04:05Z" }] } },
  ]);
});
