import { afterEach, describe, expect, it } from "vitest";
import type { Pod } from "../../../api/gen/types.ts";
import { MINUTE, SECOND } from "../../../base/clock.ts";
import { fileError } from "../../../host/file-error.ts";
import { CHECKPOINT, createClaimRig, DRIVER, makeClaim, makeContainer, makePod } from "./__fixtures__/claim-rig.ts";

type Rig = Awaited<ReturnType<typeof createClaimRig>>;
const rigs: Rig[] = [];
afterEach(async () => {
  const ended = rigs.splice(0);
  for (const { stop } of ended) await stop();
  for (const { host } of ended) expect(host.clock.pendingTimers).toBe(0);
});

async function startRig(host?: Rig["host"]): Promise<Rig> {
  const rig = await createClaimRig(host);
  rigs.push(rig);
  return rig;
}

const namesOf = (rig: Rig, pod: Pod, container = makeContainer({ name: "gpu" })) => {
  const devices = rig.cdiDevicesOf(pod, container);
  return devices.ok ? devices.names : devices.error;
};

const DEVICE = {
  poolName: "pool",
  deviceName: "gpu",
  shareId: undefined,
  requestNames: ["gpu"],
  cdiDeviceIds: ["example.com/device=gpu"],
};

describe("the claims of a pod", () => {
  it("are prepared by one call of each driver, and given back when the pod has ended", async () => {
    const rig = await startRig();
    const { fake } = await rig.register();
    const { fake: other } = await rig.register({ driver: "nic.example.com" });
    for (const name of ["gpu", "more"]) rig.claims.set(name, makeClaim(name));
    rig.claims.set("nic", makeClaim("nic", { drivers: ["nic.example.com", DRIVER] }));
    const pod = makePod(["gpu", "more", "nic"]);
    await rig.prepare(pod);
    expect(fake.calls).toEqual([["NodePrepareResources", "gpu", "more", "nic"]]);
    expect(other.calls).toEqual([["NodePrepareResources", "nic"]]);
    expect(namesOf(rig, pod)).toEqual(["example.com/device=gpu"]);
    await rig.prepare(pod);
    expect(fake.calls).toHaveLength(1);
    const page = await rig.metrics.render();
    expect(page).toContain('dra_resource_claims_in_use{driver_name="<any>"} 3');
    expect(page).toContain('dra_resource_claims_in_use{driver_name="nic.example.com"} 1');
    expect(page).toContain(
      'dra_operations_duration_seconds_count{operation_name="PrepareResources",is_error="false"} 2',
    );

    await rig.unprepare(pod);
    await rig.unprepare(pod);
    expect(fake.calls.slice(1)).toEqual([["NodeUnprepareResources", "gpu", "more", "nic"]]);
    expect([...fake.prepared.keys(), ...other.prepared.keys()]).toEqual([]);
  });

  it("cost a pod without claims neither a call nor a file", async () => {
    const rig = await startRig();
    const { fake } = await rig.register();
    await rig.prepare(makePod([]));
    await rig.unprepare(makePod([]));
    await rig.host.clock.advance(2 * MINUTE);
    expect(fake.calls).toEqual([]);
    expect(await rig.host.files.stat(CHECKPOINT)).toBeUndefined();
    expect(await rig.metrics.render()).not.toContain("dra_operations_duration_seconds_count");
  });

  it("that several pods use are prepared once, at the same time too, and given back by the last", async () => {
    const rig = await startRig();
    const { fake } = await rig.register();
    rig.claims.set("gpu", makeClaim("gpu", { reservedFor: ["uid-1", "uid-2"] }));
    const [first, second] = [makePod(["gpu"], "uid-1"), makePod(["gpu"], "uid-2")];
    await Promise.all([rig.prepare(first), rig.prepare(second)]);
    await rig.unprepare(first);
    expect(fake.calls).toEqual([["NodePrepareResources", "gpu"]]);
    await rig.unprepare(second);
    expect(fake.calls.at(-1)).toEqual(["NodeUnprepareResources", "gpu"]);
  });

  it("made of a template must be the pod's own", async () => {
    const rig = await startRig();
    await rig.register();
    const pod = makePod([]);
    const spec = { containers: [], resourceClaims: [{ name: "gpu", resourceClaimTemplateName: "t" }] };
    const templated = { ...pod, spec };
    await expect(rig.prepare(templated)).rejects.toThrow('pod "default/web": ResourceClaim not created yet');
    rig.statuses.set("uid-1", { resourceClaimStatuses: [{ name: "gpu", resourceClaimName: "web-gpu" }] });
    rig.claims.set("web-gpu", makeClaim("web-gpu", { ownerUid: "another" }));
    await expect(rig.prepare(templated)).rejects.toThrow(
      "ResourceClaim default/web-gpu was not created for Pod default/web (Pod is not owner)",
    );
    rig.claims.set("web-gpu", makeClaim("web-gpu", { ownerUid: "uid-1" }));
    await rig.prepare(templated);
    expect(namesOf(rig, templated)).toEqual(["example.com/device=web-gpu"]);
    rig.statuses.set("uid-1", { resourceClaimStatuses: [{ name: "gpu" }] });
    await rig.prepare({ ...templated, metadata: { ...pod.metadata, uid: "uid-1" } });
  });

  it.each([
    ["is not there", undefined, 'fetch ResourceClaim gpu: resourceclaims "gpu" not found'],
    [
      "is of others",
      makeClaim("gpu", { reservedFor: ["x"] }),
      "pod web (uid-1) is not allowed to use ResourceClaim gpu",
    ],
    [
      "has no devices yet",
      { ...makeClaim("gpu"), status: { reservedFor: [{ resource: "pods", name: "web", uid: "uid-1" }] } },
      "ResourceClaim gpu: not allocated",
    ],
    [
      "has an unknown driver",
      makeClaim("gpu", { drivers: ["x.example.com"] }),
      "DRA driver x.example.com is not registered",
    ],
  ])("are not prepared where one %s, and nothing is left behind", async (_why, claim, message) => {
    const rig = await startRig();
    const { fake } = await rig.register();
    if (claim !== undefined) rig.claims.set("gpu", claim);
    await expect(rig.prepare(makePod(["gpu"]))).rejects.toThrow(message);
    await rig.unprepare(makePod(["gpu"]));
    expect(fake.calls).toEqual([]);
    expect(await rig.host.files.stat(CHECKPOINT)).toBeUndefined();
  });

  it("wait for those of an earlier claim of that name", async () => {
    const rig = await startRig();
    await rig.register();
    rig.claims.set("gpu", makeClaim("gpu", { uid: "old", reservedFor: ["uid-1"] }));
    await rig.prepare(makePod(["gpu"]));
    rig.claims.set("gpu", makeClaim("gpu", { uid: "new", reservedFor: ["uid-2"] }));
    await expect(rig.prepare(makePod(["gpu"], "uid-2"))).rejects.toThrow("different UID old still exists");
    await rig.unprepare(makePod(["gpu"]));
    await rig.prepare(makePod(["gpu"], "uid-2"));
  });

  it("give a container the devices of the request that it names, and of extended resources", async () => {
    const rig = await startRig();
    const device = (deviceName: string, ...requestNames: string[]) => ({
      poolName: "pool",
      deviceName,
      shareId: undefined,
      requestNames,
      cdiDeviceIds: [`example.com/device=${deviceName}`],
    });
    await rig.register({ devicesOf: () => [device("a", "gpu"), device("b", "nic/fast"), device("c")] });
    rig.claims.set("gpu", makeClaim("gpu", { request: "nic/fast" }));
    const pod = makePod(["gpu"]);
    await rig.prepare(pod);
    const ask = (request?: string) => namesOf(rig, pod, makeContainer({ name: "gpu", ...(request && { request }) }));
    const [a, b, c] = ["a", "b", "c"].map((name) => `example.com/device=${name}`);
    expect([ask(), ask("gpu"), ask("nic")]).toEqual([
      [a, b, c],
      [a, c],
      [b, c],
    ]);
    expect(namesOf(rig, pod, { name: "other" })).toEqual([]);
    const requestMappings = [{ containerName: "main", requestName: "gpu", resourceName: "example.com/gpu" }];
    rig.statuses.set("uid-1", { extendedResourceClaimStatus: { resourceClaimName: "gpu", requestMappings } });
    const extended = { name: "main", resources: { requests: { "example.com/gpu": "1" } } };
    expect(namesOf(rig, pod, extended)).toEqual([a, c]);
    expect(namesOf(rig, pod, { ...extended, name: "side" })).toEqual([]);
  });
});

describe("a driver", () => {
  it.each([
    ["says nothing of a claim", {}, "NodePrepareResources skipped 1 ResourceClaims"],
    ["answers about another claim", { other: {} }, "NodePrepareResources returned result for unknown claim UID other"],
    ["fails", { "uid-of-gpu": { error: "no power" } }, "NodePrepareResources failed for ResourceClaim gpu: no power"],
    [
      "gives a device of no request",
      { "uid-of-gpu": { devices: [{ ...DEVICE, requestNames: ["x"] }] } },
      "no request of the claim",
    ],
    [
      "gives a device by no name",
      { "uid-of-gpu": { devices: [{ ...DEVICE, cdiDeviceIds: ["/dev/mem"] }] } },
      "invalid CDI device ID",
    ],
    [
      "gives too much",
      { "uid-of-gpu": { devices: Array.from({ length: 129 }, () => DEVICE) } },
      "129 devices are more than 128",
    ],
    [
      "has too long a name",
      { "uid-of-gpu": { devices: [{ ...DEVICE, poolName: "p".repeat(2_000) }] } },
      "a name that is too long",
    ],
  ])("that %s is not believed, and asked again", async (_how, answers, message) => {
    const rig = await startRig();
    const { fake } = await rig.register();
    rig.claims.set("gpu", makeClaim("gpu"));
    const pod = makePod(["gpu"]);
    fake.faults.prepareAnswers = () => answers;
    await expect(rig.prepare(pod)).rejects.toThrow(message);
    expect(namesOf(rig, pod)).toEqual([]);
    delete fake.faults.prepareAnswers;
    await rig.prepare(pod);
    expect(namesOf(rig, pod)).toEqual(["example.com/device=gpu"]);
  });

  it("that hangs is given up after 45 seconds, and holds up no pod of others", async () => {
    const rig = await startRig();
    const { fake } = await rig.register();
    await rig.register({ driver: "nic.example.com" });
    rig.claims.set("gpu", makeClaim("gpu"));
    rig.claims.set("nic", makeClaim("nic", { drivers: ["nic.example.com"], reservedFor: ["uid-2"] }));
    fake.faults.before = async () => await new Promise(() => undefined);
    const hanging = rig.prepare(makePod(["gpu"])).catch((error: unknown) => String(error));
    await rig.prepare(makePod(["nic"], "uid-2"));
    await rig.host.clock.advance(45 * SECOND);
    expect(await hanging).toContain("NodePrepareResources: ");
    expect(await rig.metrics.render()).toContain('grpc_status_code="DeadlineExceeded"} 1');
  });

  it.each([
    ["fails", { "uid-of-gpu": "busy" }, "NodeUnprepareResources failed for ResourceClaim gpu: busy"],
    ["says nothing", {}, "NodeUnprepareResources skipped 1 ResourceClaims"],
  ])("that %s to take a claim back is asked again", async (_how, answers, message) => {
    const rig = await startRig();
    const { fake } = await rig.register();
    rig.claims.set("gpu", makeClaim("gpu"));
    await rig.prepare(makePod(["gpu"]));
    fake.faults.unprepareAnswers = () => answers;
    await expect(rig.unprepare(makePod(["gpu"]))).rejects.toThrow(message);
    delete fake.faults.unprepareAnswers;
    await rig.unprepare(makePod(["gpu"]));
    expect(fake.prepared.size).toBe(0);
  });

  it("that comes wakes the pods that wait for it", async () => {
    const rig = await startRig();
    rig.claims.set("gpu", makeClaim("gpu"));
    await expect(rig.prepare(makePod(["gpu"]))).rejects.toThrow("is not registered");
    expect(rig.changed).toEqual([]);
    await rig.register();
    expect(rig.changed).toEqual(["uid-1"]);
    await rig.prepare(makePod(["gpu"]));
  });
});

describe("what the disk keeps", () => {
  it("lets the next agent start containers in a sandbox, and give claims back", async () => {
    const before = await startRig();
    before.claims.set("gpu", makeClaim("gpu"));
    await before.register();
    await before.prepare(makePod(["gpu"]));
    await before.stop();
    const after = await startRig(before.host);
    const { fake } = await after.register();
    await after.prepare(makePod(["gpu"]), true);
    expect(namesOf(after, makePod(["gpu"]))).toEqual(["example.com/device=gpu"]);
    expect(fake.calls).toEqual([]);
    await after.unprepare(makePod(["gpu"]));
    expect(fake.calls).toEqual([["NodeUnprepareResources", "gpu"]]);
  });

  it("is used to give back what pods had that went meanwhile", async () => {
    const before = await startRig();
    for (const name of ["gpu", "kept"]) before.claims.set(name, makeClaim(name, { reservedFor: ["uid-1", "uid-2"] }));
    await before.register();
    await before.prepare(makePod(["gpu"]));
    await before.prepare(makePod(["kept"], "uid-2"));
    await before.stop();
    const after = await startRig(before.host);
    after.active.add("uid-2");
    const { fake } = await after.register();
    fake.faults.unprepareAnswers = () => ({ "uid-of-gpu": "busy" });
    await after.host.clock.advance(MINUTE);
    delete fake.faults.unprepareAnswers;
    await after.host.clock.advance(MINUTE);
    expect(fake.calls).toEqual([
      ["NodeUnprepareResources", "gpu"],
      ["NodeUnprepareResources", "gpu"],
    ]);
    expect(namesOf(after, makePod(["gpu"]))).toContain("unable to get claim info");
  });

  it("may be torn: the claims of pods that are here are prepared again", async () => {
    const before = await startRig();
    before.claims.set("gpu", makeClaim("gpu"));
    await before.register();
    await before.prepare(makePod(["gpu"]));
    const text = (await before.host.files.read(CHECKPOINT, 10_000)).toString();
    before.host.files.put(CHECKPOINT, text.slice(0, -20));
    await before.stop();
    const after = await startRig(before.host);
    expect(after.errors).toHaveLength(1);
    after.claims.set("gpu", makeClaim("gpu"));
    const { fake } = await after.register();
    await after.prepare(makePod(["gpu"]), true);
    expect(fake.calls).toEqual([["NodePrepareResources", "gpu"]]);
  });

  it("may be full: no pod starts without its claims on it, and a pod ends nevertheless", async () => {
    const rig = await startRig();
    rig.claims.set("gpu", makeClaim("gpu"));
    const { fake } = await rig.register();
    const { files, clock } = rig.host;
    let isFull = true;
    const free = files.intercept(({ operation, path }) => {
      if (isFull && operation === "writeAtomically") throw fileError("ENOSPC", operation, path);
    });
    await expect(rig.prepare(makePod(["gpu"]))).rejects.toThrow("checkpoint ResourceClaim cache: ENOSPC");
    expect(fake.calls).toEqual([]);
    isFull = false;
    await rig.prepare(makePod(["gpu"]));
    isFull = true;
    await rig.unprepare(makePod(["gpu"]));
    expect(fake.prepared.size).toBe(0);
    free();
    await clock.advance(MINUTE);
    expect((await files.read(CHECKPOINT, 10_000)).toString()).toContain('ClaimInfoStateList\\":[]');
  });
});
