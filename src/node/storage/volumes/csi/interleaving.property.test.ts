import fc from "fast-check";
import { expect, it } from "vitest";
import { sleep } from "../../../../base/abort.ts";
import { CodedError } from "../../../../base/errors.ts";
import { type CsiRig, createCsiRig, listLeft, persistent, podOf, setUp, tearDownPod } from "./__fixtures__/csi-rig.ts";
import { createMortalAgent, type MortalAgent } from "./__fixtures__/mortal-agent.ts";

const PODS = ["a", "b", "c"];
const VOLUMES = [1, 2];
/** The second volume is a block device. */
const MODES = ["Filesystem", "Block"];

type Step =
  | { readonly kind: "set-up"; readonly pod: number; readonly volume: number }
  | { readonly kind: "tear-down"; readonly pod: number }
  | { readonly kind: "wait"; readonly ms: number }
  | { readonly kind: "restart" };

/** What becomes of a call of the driver: how long it takes, and whether it fails before or after its effect. */
interface Fate {
  readonly delayMs: number;
  readonly failure: "none" | "before" | "after" | "refused";
}

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("set-up" as const), pod: fc.nat(2), volume: fc.nat(1) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("tear-down" as const), pod: fc.nat(2) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("wait" as const), ms: fc.nat(3_000) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("restart" as const) }) },
);
const fate = fc.record({
  delayMs: fc.constantFrom(0, 0, 100, 1_000),
  failure: fc.constantFrom<Fate["failure"]>("none", "none", "none", "before", "after", "refused"),
});

/** Pods that come and go on an agent that may die at any moment. A pod's own steps come one after another. */
class BusyNode {
  readonly rig: CsiRig;
  /** Whose set-up has ended well, and whose tear-down has not begun since. */
  readonly ready = new Set<string>();
  private agent: MortalAgent;
  private stopping = new AbortController();
  private lines = new Map<string, Promise<void>>();

  constructor(fates: readonly Fate[]) {
    // Nothing is mounted for others to see: what we account for is all that protects a volume.
    this.rig = createCsiRig({ isMounting: false });
    let calls = 0;
    const { faults } = this.rig.csi;
    const drawn = new Map<object, Fate>();
    faults.before = async ({ request }) => {
      const next = fates[calls++ % Math.max(1, fates.length)] ?? { delayMs: 0, failure: "none" };
      drawn.set(request, next);
      if (next.delayMs > 0) await sleep(this.rig.host.clock, next.delayMs);
      if (next.failure === "before") throw new CodedError("unavailable", "no luck before");
      if (next.failure === "refused") throw new CodedError("internal", "refused");
    };
    faults.after = ({ request }) => {
      if (drawn.get(request)?.failure === "after") throw new CodedError("deadline-exceeded", "no luck after");
    };
    this.agent = this.start();
  }

  async take(next: Step): Promise<void> {
    if (next.kind === "wait") return await this.rig.host.clock.advance(next.ms);
    if (next.kind === "restart") return this.restart();
    const pod = PODS[next.pod] ?? "";
    if (next.kind === "set-up") this.queue(pod, async () => await this.setUp(pod, next.volume));
    else this.queue(pod, async () => await this.tearDown(pod));
  }

  restart(): void {
    this.agent.kill();
    this.stopping.abort();
    this.lines.clear();
    // What they have is on the disk, but for the next agent they are not ready before it has looked.
    this.agent = this.start();
  }

  heal(): void {
    delete this.rig.csi.faults.before;
    delete this.rig.csi.faults.after;
  }

  queueTearDown(pod: string): void {
    this.queue(pod, async () => await this.tearDown(pod));
  }

  private start(): MortalAgent {
    this.stopping = new AbortController();
    const agent = createMortalAgent(this.rig);
    void agent.survive(agent.plugin.run(this.stopping.signal));
    return agent;
  }

  private queue(pod: string, work: () => Promise<void>): void {
    const { agent } = this;
    const before = this.lines.get(pod) ?? Promise.resolve();
    const line = before.then(async () => {
      if (!agent.isDead()) await agent.survive(work()).catch(() => undefined);
    });
    this.lines.set(pod, line);
  }

  private async setUp(pod: string, index: number): Promise<void> {
    const source = persistent(VOLUMES[index] ?? 1, { volumeMode: MODES[index] ?? "" });
    await setUp(this.agent.plugin, podOf(pod), source);
    this.ready.add(`${pod}/${index}`);
  }

  private async tearDown(pod: string): Promise<void> {
    for (const index of VOLUMES.keys()) this.ready.delete(`${pod}/${index}`);
    await tearDownPod(this.agent.plugin, this.rig.host, pod);
  }
}

function expectSound({ rig, ready }: BusyNode): void {
  const refusals = rig.csi.calls.filter(
    ({ outcome }) => outcome === "failed-precondition" || outcome === "already-exists" || outcome === "not-found",
  );
  // Unstaged while published, published while not staged, staged or published twice in different ways.
  expect(refusals.map(({ rpc, outcome }) => `${rpc} ${outcome}`)).toEqual([]);
  for (const use of ready) {
    const [pod = "", index = ""] = use.split("/");
    const path = index === "0" ? `/pods/${pod}/volumes/kubernetes.io~csi/pv-1/mount` : `/publish/pv-2/${pod}`;
    const target = [...rig.csi.published.keys()].find((key) => key.endsWith(path));
    expect(target, `${use} is ready, but not published`).toBeDefined();
    const stagingPath = rig.csi.published.get(target ?? "")?.stagingPath ?? "";
    expect(rig.csi.staged.has(stagingPath), `${use} is ready, but not staged`).toBe(true);
  }
}

it("whatever comes between: nothing is unstaged while a pod has it, and in the end nothing is left", async () => {
  const cases = fc.asyncProperty(
    fc.array(step, { minLength: 1, maxLength: 25 }),
    fc.array(fate, { maxLength: 12 }),
    async (steps, fates) => {
      const node = new BusyNode(fates);
      for (const next of steps) {
        await node.take(next);
        await node.rig.host.clock.settle();
        expectSound(node);
      }
      node.heal();
      for (let round = 0; round < 3; round++) {
        for (const pod of PODS) node.queueTearDown(pod);
        await node.rig.host.clock.advance(400_000);
        expectSound(node);
      }
      node.restart();
      for (const pod of PODS) node.queueTearDown(pod);
      await node.rig.host.clock.advance(400_000);
      expect([node.rig.csi.staged.size, node.rig.csi.published.size]).toEqual([0, 0]);
      expect(await listLeft(node.rig.host)).toEqual([]);
    },
  );
  await fc.assert(cases, { numRuns: 150 });
}, 60_000);
