import { describe, expect, it } from "vitest";
import type { Pod } from "../../../../api/gen/types.ts";
import type { VolumeSource } from "../volume-plugin.ts";
import {
  type CsiRig,
  callsOf,
  createCsiRig,
  DRIVER,
  inline,
  listLeft,
  persistent,
  podOf,
  putAttachment,
  setUp,
  sweep,
  tearDownPod,
} from "./__fixtures__/csi-rig.ts";
import { createMortalAgent } from "./__fixtures__/mortal-agent.ts";

interface Scenario {
  readonly name: string;
  readonly source: VolumeSource;
  readonly prepare?: (rig: CsiRig) => void;
  readonly attachesItself?: boolean;
}

const device: Partial<NonNullable<Pod["spec"]>> = {
  containers: [{ name: "main", volumeDevices: [{ name: "data", devicePath: "/dev/data" }] }],
};

const SCENARIOS: Scenario[] = [
  { name: "files", source: persistent(1) },
  { name: "block", source: persistent(1, { volumeMode: "Block" }) },
  {
    name: "inline",
    source: inline(),
    prepare: (rig) => Object.assign(rig, { driverSpec: { volumeLifecycleModes: ["Ephemeral"], podInfoOnMount: true } }),
  },
  {
    name: "attached by ourselves",
    source: persistent(1),
    attachesItself: true,
    prepare(rig) {
      rig.driverSpec = { attachRequired: true };
      const create = rig.deps.objects.createVolumeAttachment;
      rig.deps.objects.createVolumeAttachment = async (attachment, signal) => {
        await create({ ...attachment, status: { attached: true } }, signal);
      };
    },
  },
];

const MAX_STEPS = 400;

function newRig({ prepare }: Scenario): CsiRig {
  const rig = createCsiRig();
  prepare?.(rig);
  return rig;
}

function optionsOf({ attachesItself = false }: Scenario) {
  return { enableControllerAttachDetach: !attachesItself };
}

async function expectNothingLeft(rig: CsiRig, at: string): Promise<void> {
  expect([...rig.csi.staged.keys()], at).toEqual([]);
  expect([...rig.csi.published.keys()], at).toEqual([]);
  expect([...rig.attachments.keys()], at).toEqual([]);
  expect(await listLeft(rig.host), at).toEqual([]);
}

describe.each(SCENARIOS)("an agent that dies while it sets up $name", (scenario) => {
  it("leaves what the next one finishes, and undoes", async () => {
    for (let step = 1; step < MAX_STEPS; step++) {
      const rig = newRig(scenario);
      const options = optionsOf(scenario);
      const agent = createMortalAgent(rig, step, options);
      const outcome = await agent.survive(setUp(agent.plugin, podOf("a", device), scenario.source));
      const next = rig.plugin(options);
      await setUp(next, podOf("a", device), scenario.source);
      // Twice the same is none the worse, which is what drivers promise; in another way they refuse.
      expect(
        callsOf(rig.csi).filter((call) => !call.endsWith(" ok")),
        `step ${step}`,
      ).toEqual([]);
      await tearDownPod(next, rig.host, "a");
      await sweep(next, rig.host);
      await expectNothingLeft(rig, `step ${step}`);
      if (outcome !== "dead") return;
    }
    expect.unreachable("it never got to the end");
  });

  it("leaves what the next one undoes, if the pod is gone by then", async () => {
    for (let step = 1; step < MAX_STEPS; step++) {
      const rig = newRig(scenario);
      const options = optionsOf(scenario);
      const agent = createMortalAgent(rig, step, options);
      const outcome = await agent.survive(setUp(agent.plugin, podOf("a", device), scenario.source));
      const next = rig.plugin(options);
      await tearDownPod(next, rig.host, "a");
      await sweep(next, rig.host);
      await expectNothingLeft(rig, `step ${step}`);
      if (outcome !== "dead") return;
    }
    expect.unreachable("it never got to the end");
  });
});

describe.each(SCENARIOS)("an agent that dies while it tears down $name", (scenario) => {
  it("leaves what the next one finishes", async () => {
    for (let step = 1; step < MAX_STEPS; step++) {
      const rig = newRig(scenario);
      const options = optionsOf(scenario);
      await setUp(rig.plugin(options), podOf("a", device), scenario.source);
      const agent = createMortalAgent(rig, step, options);
      const outcome = await agent.survive(
        tearDownPod(agent.plugin, rig.host, "a").then(async () => await sweep(agent.plugin, rig.host)),
      );
      const next = rig.plugin(options);
      await tearDownPod(next, rig.host, "a");
      await sweep(next, rig.host);
      await expectNothingLeft(rig, `step ${step}`);
      if (outcome !== "dead") return;
    }
    expect.unreachable("it never got to the end");
  });
});

describe("the next agent", () => {
  it("unstages nothing that a pod of the last one has", async () => {
    for (const volumeMode of ["Filesystem", "Block"]) {
      const rig = createCsiRig();
      await setUp(rig.plugin(), podOf("a", device), persistent(1, { volumeMode }));
      const next = rig.plugin();
      await sweep(next, rig.host, 1_000);
      expect(callsOf(rig.csi)).toEqual(["Stage ok", "Publish ok"]);
      expect(next.volumesInUse()).toEqual([`kubernetes.io/csi/${DRIVER}^vol-1`]);
    }
  });

  it("does not take a volume for unused because it cannot read whose it is", async () => {
    const rig = createCsiRig();
    await setUp(rig.plugin(), podOf("a"), persistent(1));
    rig.host.files.put("/var/lib/kubelet/pods/a/volumes/kubernetes.io~csi/pv-1/vol_data.json", "{");
    await sweep(rig.plugin(), rig.host, 1_000);
    expect(rig.csi.calls.map(({ rpc }) => rpc)).not.toContain("NodeUnstageVolume");
  });

  it("removes a device's directory that was only begun", async () => {
    const rig = createCsiRig();
    await rig.host.files.makeDirectory(`/var/lib/kubelet/plugins/kubernetes.io/csi/${DRIVER}/abc/globalmount`, 0o750);
    await rig.plugin().load();
    expect(await rig.host.files.stat(`/var/lib/kubelet/plugins/kubernetes.io/csi/${DRIVER}/abc`)).toBeUndefined();
  });

  it("knows what was staged when the machine, and with it all mounts, has gone", async () => {
    const rig = createCsiRig();
    rig.driverSpec = { attachRequired: true };
    putAttachment(rig, "vol-1", { attached: true });
    await setUp(rig.plugin(), podOf("a"), persistent(1));
    for (const { path } of rig.host.mounts.mounted()) if (path !== "/") rig.host.mounts.drop(path);
    rig.csi.reboot();
    const next = rig.plugin();
    await setUp(next, podOf("a"), persistent(1));
    expect([rig.csi.staged.size, rig.csi.published.size]).toEqual([1, 1]);
    await tearDownPod(next, rig.host, "a");
    await sweep(next, rig.host);
    expect(await listLeft(rig.host)).toEqual([]);
  });
});
