import { expect, it } from "vitest";
import type { Node } from "../../../api/gen/types.ts";
import { createMetrics } from "../../../base/metrics.ts";
import { createFakeClock } from "../../../host/fake/fake-clock.ts";
import { createNodeStartup } from "./node-startup.ts";

const node = (ready: string): Node => ({ status: { conditions: [{ type: "Ready", status: ready }] } });

function setUp({ bootedBeforeMs }: { bootedBeforeMs: number | undefined }) {
  const clock = createFakeClock();
  const metrics = createMetrics();
  const booted = bootedBeforeMs === undefined ? undefined : clock.now() - bootedBeforeMs;
  const startup = createNodeStartup({ clock, metrics, bootedAt: async () => booted });
  const values = async () => {
    const lines = (await metrics.render()).split("\n").filter((line) => line.startsWith("kubelet_node_startup"));
    return lines.map((line) => line.replace("kubelet_node_startup", "").replace("duration_seconds", ""));
  };
  return { clock, startup, values };
}

it("tells how long each step of a new node took, once", async () => {
  const { clock, startup, values } = setUp({ bootedBeforeMs: 20_000 });
  await clock.advance(1_000);
  startup.attempted();
  await clock.advance(2_000);
  startup.attempted();
  await startup.created();
  startup.observe(node("False"));
  await clock.advance(4_000);
  startup.observe(node("True"));
  await clock.advance(60_000);
  startup.observe(node("True"));
  await startup.created();
  expect(await values()).toEqual([
    "_pre_kubelet_ 20",
    "_pre_registration_ 1",
    "_registration_ 2",
    "_post_registration_ 4",
    "_ 27",
  ]);
});

it("says nothing of a node that there was already", async () => {
  const { clock, startup, values } = setUp({ bootedBeforeMs: 20_000 });
  startup.attempted();
  await clock.advance(2_000);
  startup.observe(node("True"));
  expect((await values()).every((value) => value.endsWith(" 0"))).toBe(true);
});

it("leaves out what begins with the machine where nobody knows when that was", async () => {
  const { clock, startup, values } = setUp({ bootedBeforeMs: undefined });
  startup.attempted();
  await clock.advance(2_000);
  await startup.created();
  startup.observe(node("True"));
  expect(await values()).toEqual(expect.arrayContaining(["_pre_kubelet_ 0", "_registration_ 2", "_ 0"]));
});
