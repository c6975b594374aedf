import { afterAll, afterEach, beforeAll, describe } from "vitest";
import { describeCalls } from "./csi-calls.ts";
import { describeMounts } from "./csi-mounts.ts";
import {
  CAPABILITIES,
  type CsiUnderTest,
  startDriverProcess,
  startMemoryDriver,
  startSocketDriver,
} from "./csi-under-test.ts";
import { describeVolumes } from "./csi-volumes.ts";

/** One suite for every driver that tests of the node agent run on. */
function describeCsi<Driver extends CsiUnderTest>(
  start: () => Promise<Driver>,
  describeMore: (current: () => Driver) => void = () => undefined,
): void {
  let driver: Driver | undefined;
  const current = () => {
    if (driver === undefined) throw new Error("the driver did not start");
    return driver;
  };
  beforeAll(async () => {
    driver = await start();
  });
  afterEach(() => {
    driver?.mend();
    driver?.configure({ capabilities: CAPABILITIES, maxVolumes: 0, topology: {} });
  });
  afterAll(async () => await driver?.dispose());

  describeCalls(current);
  describeVolumes(current);
  describeMore(current);
}

describe("CSI: the fake driver", () => describeCsi(startMemoryDriver));
describe("CSI: the fake driver behind a socket", () => describeCsi(startSocketDriver));

const whyNot = process.getuid?.() === 0 ? undefined : "mounting needs root";
if (whyNot) console.warn(`SKIPPED: the CSI contract on a driver that mounts, every case of it: ${whyNot}`);
describe.skipIf(whyNot)("CSI: a driver's process", () => describeCsi(startDriverProcess, describeMounts));
