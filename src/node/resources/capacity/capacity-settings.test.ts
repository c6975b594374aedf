import { expect, it } from "vitest";
import { composeConfiguration } from "../../../config/compose-configuration.ts";
import { createCapacitySettings } from "./capacity-settings.ts";

const HEAD = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n";

it.each([
  [undefined, { "memory.available": "1Gi" }],
  [false, { "memory.available": "1Gi" }],
  [true, {}],
])("hard thresholds are kept back unless they are to be ignored: %s", (ignoresEvictionThresholds, expected) => {
  const file = { path: "/k.yaml", text: `${HEAD}evictionHard: {memory.available: 1Gi}` };
  const { configuration: kubelet } = composeConfiguration({ file, dropIns: [], flags: new Map() });
  const config = { kubelet, ...(ignoresEvictionThresholds !== undefined && { ignoresEvictionThresholds }) };
  expect(createCapacitySettings(config).reservations.evictionHard).toEqual(expected);
});
