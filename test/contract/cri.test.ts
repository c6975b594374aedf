import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { describeCalls } from "./cri-calls.ts";
import { describeContainers } from "./cri-containers.ts";
import { createDriver, type Driver } from "./cri-driver.ts";
import { describeEvents } from "./cri-events.ts";
import { describeImages } from "./cri-images.ts";
import { describeSandboxes } from "./cri-sandboxes.ts";
import { describeStats } from "./cri-stats.ts";
import { DIFFERENT_ON_CRIO, readWhyNoCrio, startCrio } from "./crio-under-test.ts";
import {
  type RuntimeUnderTest,
  readWhyNoContainerd,
  startFakeRuntime,
  startRealRuntime,
} from "./runtime-under-test.ts";

/** One suite, two runtimes: what a case relies on is true of both, or the node agent must not rely on it. */
function describeCri(start: () => Promise<RuntimeUnderTest>): void {
  let runtime: RuntimeUnderTest | undefined;
  let driver: Driver | undefined;
  const current = () => {
    if (driver === undefined) throw new Error("the runtime did not start");
    return driver;
  };
  beforeAll(async () => {
    runtime = await start();
    driver = createDriver(runtime);
  });
  afterEach(async () => await driver?.removeAll());
  afterAll(async () => await runtime?.dispose());

  describeCalls(current);
  describeSandboxes(current);
  describeContainers(current);
  describeImages(current);
  describeEvents(current);
  describeStats(current);
}

describe("CRI: the fake runtime", () => describeCri(startFakeRuntime));

const whyNot = await readWhyNoContainerd();
if (whyNot) console.warn(`SKIPPED: the CRI contract on real containerd, every case of it: ${whyNot}`);
describe.skipIf(whyNot)("CRI: containerd", () => describeCri(startRealRuntime));

const whyNoCrio = await readWhyNoCrio();
describe.skipIf(whyNoCrio)(`CRI: CRI-O${whyNoCrio === undefined ? "" : ` (skipped: ${whyNoCrio})`}`, () => {
  const met = new Set<string>();
  beforeEach(({ task, skip }) => {
    met.add(task.name);
    const difference = DIFFERENT_ON_CRIO.get(task.name);
    if (difference !== undefined) skip(difference);
  });
  describeCri(startCrio);

  it("differs in no case that there is not", () => {
    expect([...DIFFERENT_ON_CRIO.keys()].filter((name) => !met.has(name))).toEqual([]);
  });
});
