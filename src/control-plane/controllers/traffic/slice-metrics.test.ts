import { expect, test } from "vitest";
import { createMetrics } from "../../../base/metrics.ts";
import { createSliceMetrics } from "./slice-metrics.ts";

test("syncs are counted by how they end, and changes by what they are", async () => {
  const metrics = createMetrics();
  const counted = createSliceMetrics(metrics);
  const slice = { addressType: "IPv4", endpoints: [] };
  await counted.sync(async () => {
    await Promise.resolve();
    counted.changed({ create: [slice, slice], update: [], remove: [slice] });
  });
  const refused = async () => await Promise.reject(new Error("refused"));
  await expect(counted.sync(refused)).rejects.toThrow("refused");
  const text = await metrics.render();
  for (const line of [
    'endpoint_slice_controller_syncs{result="success"} 1',
    'endpoint_slice_controller_syncs{result="error"} 1',
    'endpoint_slice_controller_changes{operation="create"} 2',
    'endpoint_slice_controller_changes{operation="delete"} 1',
  ]) {
    expect(text).toContain(`${line}\n`);
  }
  expect(text).not.toContain('operation="update"');
});
