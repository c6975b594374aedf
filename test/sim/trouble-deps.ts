import type { FakeCri } from "../../src/cri/fake/create-fake-cri.ts";
import type { FakeHost } from "../../src/host/fake/create-fake-host.ts";
import type { ApiPods } from "./api/api-pods.ts";
import type { Dice } from "./dice.ts";
import type { Faults } from "./faults.ts";
import type { Trace } from "./trace.ts";

/** What the troubles that containers make are made of: the machine, the runtime, the pods, and who is told of it. */
export interface TroubleDeps {
  host: FakeHost;
  cri: FakeCri;
  pods: ApiPods;
  faults: Faults;
  trace: Trace;
  dice: Dice;
}
