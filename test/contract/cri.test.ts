import { afterAll, afterEach, beforeAll, describe } from "vitest";
import { describeCalls } from "./cri-calls.ts";
import { describeContainers } from "./cri-containers.ts";
import { createDriver, type Driver } from "./cri-driver.ts";
import { describeEvents } from "./cri-events.ts";
import { describeImages } from "./cri-images.ts";
import { describeSandboxes } from "./cri-sandboxes.ts";
import { describeStats } from "./cri-stats.ts";
import { readWhyNoCrio, startCrio } from "./crio-under-test.ts";
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
describe.skipIf(whyNoCrio)(`CRI: CRI-O${whyNoCrio === undefined ? "" : ` (skipped: ${whyNoCrio})`}`, () =>
  describeCri(startCrio),
);
