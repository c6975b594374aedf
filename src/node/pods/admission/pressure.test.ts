import { expect, it } from "vitest";
import type { Pod } from "../../../api/gen/types.ts";
import { CONFIG_SOURCE_ANNOTATION } from "../../../api/well-known.ts";
import { createPressureHandler } from "./pressure.ts";

const NONE = { memory: false, disk: false, pid: false };
const MEMORY_TAINT = "node.kubernetes.io/memory-pressure";

const podOf = (spec: Partial<NonNullable<Pod["spec"]>> = {}, source = "api"): Pod => ({
  metadata: { uid: "u", name: "p", annotations: { [CONFIG_SOURCE_ANNOTATION]: source } },
  spec: { containers: [{ name: "main" }], ...spec },
});
const requesting = { containers: [{ name: "main", resources: { requests: { cpu: "1m" } } }] };
const tolerating = (key: string) => ({ tolerations: [{ key, operator: "Exists" as const }] });

const refusal = (...conditions: string[]) => ({
  reason: "Evicted",
  message: `The node had condition: [${conditions.join(" ")}]. `,
});

it.each<[string, Partial<typeof NONE>, Pod, object | undefined]>([
  ["nothing is short", {}, podOf(), undefined],
  ["memory, best effort", { memory: true }, podOf(), refusal("MemoryPressure")],
  ["memory, burstable", { memory: true }, podOf(requesting), undefined],
  ["memory, tolerated", { memory: true }, podOf(tolerating(MEMORY_TAINT)), undefined],
  [
    "memory, another tolerated",
    { memory: true },
    podOf(tolerating("node.kubernetes.io/disk-pressure")),
    refusal("MemoryPressure"),
  ],
  ["disk, burstable", { disk: true }, podOf(requesting), refusal("DiskPressure")],
  ["processes, burstable", { pid: true }, podOf(requesting), refusal("PIDPressure")],
  [
    "memory and disk, tolerated",
    { memory: true, disk: true },
    podOf(tolerating(MEMORY_TAINT)),
    refusal("MemoryPressure", "DiskPressure"),
  ],
  ["everything, static", { memory: true, disk: true, pid: true }, podOf({}, "file"), undefined],
  ["everything, critical", { memory: true, disk: true, pid: true }, podOf({ priority: 2_000_000_000 }), undefined],
])("%s", (_what, pressure, pod, expected) => {
  const admit = createPressureHandler({ pressure: () => ({ ...NONE, ...pressure }), isRunning: () => false });
  expect(admit(pod)).toEqual(expected);
});

it("a pod that runs already is not ended by the next node agent's admission", () => {
  const pressure = () => ({ memory: true, disk: true, pid: true });
  const admit = createPressureHandler({ pressure, isRunning: (uid) => uid === "u" });
  expect(admit(podOf())).toBeUndefined();
});
