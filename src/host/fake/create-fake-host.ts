import { createSeededRandom } from "../../base/random.ts";
import type { Host } from "../port.ts";
import { createFakeCgroups, type FakeCgroups } from "./fake-cgroups.ts";
import { createFakeClock, type FakeClock } from "./fake-clock.ts";
import { createFakeFiles, type FakeFiles } from "./fake-files.ts";
import { createFakeHttp, type FakeHttp } from "./fake-http.ts";
import { createFakeLogind, type FakeLogind } from "./fake-logind.ts";
import { createFakeMachine, type FakeMachine } from "./fake-machine.ts";
import { createFakeMounts, type FakeMounts } from "./fake-mounts.ts";
import { createFakeProbes, type FakeProbes } from "./fake-probes.ts";
import { createFakeProc, type FakeProc } from "./fake-proc.ts";
import { createFakePrograms, type FakePrograms } from "./fake-programs.ts";
import { createFakeSystemd, type FakeSystemd } from "./fake-systemd.ts";
import { createMemoryTree } from "./memory-tree.ts";

/**
 * A machine in memory that outlives the node agents started on it. A test that crashes one agent and starts the next
 * hands both the same host.
 */
export interface FakeHost extends Host {
  readonly clock: FakeClock;
  readonly files: FakeFiles;
  readonly http: FakeHttp;
  readonly machine: FakeMachine;
  readonly mounts: FakeMounts;
  readonly probes: FakeProbes;
  readonly programs: FakePrograms;
  readonly logind: FakeLogind;
  readonly systemd: FakeSystemd;
  readonly cgroups: FakeCgroups;
  readonly proc: FakeProc;
}

/** `clock` defaults to a new one, and `seed`, of the randomness, to 1. */
export function createFakeHost(options: { clock?: FakeClock; seed?: number } = {}): FakeHost {
  const clock = options.clock ?? createFakeClock();
  const tree = createMemoryTree(() => clock.now());
  const machine = createFakeMachine();
  const hugepageSizes = () => machine.facts.hugepages.map(({ pageSizeBytes }) => pageSizeBytes);
  return {
    clock,
    random: createSeededRandom(options.seed ?? 1),
    files: createFakeFiles(tree),
    http: createFakeHttp(clock),
    machine,
    mounts: createFakeMounts({ clock, tree, hugepageSizes }),
    probes: createFakeProbes(clock),
    programs: createFakePrograms(clock),
    logind: createFakeLogind(),
    systemd: createFakeSystemd(),
    cgroups: createFakeCgroups(),
    proc: createFakeProc(),
  };
}
