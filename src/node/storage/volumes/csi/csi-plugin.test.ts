import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { isRecord } from "../../../../api/object.ts";
import { CodedError } from "../../../../base/errors.ts";
import { VolumeOperationError } from "../volume-error.ts";
import {
  callsOf,
  createCsiRig,
  DRIVER,
  inline,
  listLeft,
  persistent,
  podOf,
  putAttachment,
  ROOT,
  setUp,
  sweep,
  tearDownPod,
} from "./__fixtures__/csi-rig.ts";

const hash = (text: string) => createHash("sha256").update(text).digest("hex");
const STAGING = `plugins/kubernetes.io/csi/${DRIVER}/${hash("vol-1")}`;
const ATTACHMENT = `csi-${hash(`vol-1${DRIVER}node-1`)}`;

describe("a persistent volume", () => {
  it("is staged, then published, in upstream's places, which say what was asked of whom", async () => {
    const rig = createCsiRig();
    const ready = await setUp(rig.plugin(), podOf("a"), persistent(1));
    const path = `${ROOT}/pods/a/volumes/kubernetes.io~csi/pv-1`;
    expect(ready).toEqual({ kind: "files", hostPath: `${path}/mount`, readOnly: false, relabel: false });
    expect(callsOf(rig.csi)).toEqual(["Stage ok", "Publish ok"]);
    expect(JSON.parse(rig.host.files.text(`${path}/vol_data.json`) ?? "")).toEqual({
      specVolID: "pv-1",
      volumeHandle: "vol-1",
      driverName: DRIVER,
      nodeName: "node-1",
      attachmentID: ATTACHMENT,
      volumeLifecycleMode: "Persistent",
    });
    expect(JSON.parse(rig.host.files.text(`${ROOT}/${STAGING}/vol_data.json`) ?? "")).toEqual({
      volumeHandle: "vol-1",
      driverName: DRIVER,
    });
    for (const directory of [path, `${ROOT}/${STAGING}`, `${path.slice(0, -5)}`]) {
      expect(await rig.host.files.stat(directory), directory).toMatchObject({ mode: 0o750 });
    }
  });

  it("asks nobody anything at the next set-up", async () => {
    const rig = createCsiRig();
    const plugin = rig.plugin();
    const first = await setUp(plugin, podOf("a"), persistent(1));
    const calls: string[] = [];
    rig.host.files.intercept(({ operation, path }) => void calls.push(`${operation} ${path}`));
    expect(await setUp(plugin, podOf("a"), persistent(1))).toEqual(first);
    expect(calls).toEqual([]);
    expect(callsOf(rig.csi)).toEqual(["Stage ok", "Publish ok"]);
  });

  it("is staged once for two pods, and unstaged after the last of them", async () => {
    const rig = createCsiRig();
    const plugin = rig.plugin();
    for (const uid of ["a", "b"]) await setUp(plugin, podOf(uid), persistent(1));
    await tearDownPod(plugin, rig.host, "a");
    await sweep(plugin, rig.host);
    expect(callsOf(rig.csi)).toEqual(["Stage ok", "Publish ok", "Publish ok", "Unpublish ok"]);
    expect(plugin.volumesInUse()).toEqual([]);
    await tearDownPod(plugin, rig.host, "b");
    await sweep(plugin, rig.host);
    expect(callsOf(rig.csi).slice(4)).toEqual(["Unpublish ok", "Unstage ok"]);
    expect(await listLeft(rig.host)).toEqual([]);
  });

  it("goes without staging where the driver has none", async () => {
    const rig = createCsiRig({ capabilities: [] });
    const plugin = rig.plugin();
    await setUp(plugin, podOf("a"), persistent(1));
    expect(rig.csi.calls[0]?.request).toMatchObject({ stagingPath: undefined });
    await tearDownPod(plugin, rig.host, "a");
    await sweep(plugin, rig.host);
    expect(callsOf(rig.csi)).toEqual(["Publish ok", "Unpublish ok"]);
    expect(await listLeft(rig.host)).toEqual([]);
  });

  it("waits for its driver, and soon looks again", async () => {
    const rig = createCsiRig();
    rig.isRegistered = false;
    const attempt = setUp(rig.plugin(), podOf("a"), persistent(1));
    await expect(attempt).rejects.toMatchObject({
      reason: "FailedMount",
      retryAfterMs: 500,
      message:
        'MountVolume.MountDevice failed for volume "pv-1" : kubernetes.io/csi: attacher.MountDevice failed to create ' +
        "newCsiDriverClient: driver name csi.example.com not found in the list of registered CSI drivers",
    });
    expect(await listLeft(rig.host)).toEqual([]);
  });

  it("is not torn down without its driver, and is after it has come back", async () => {
    const rig = createCsiRig();
    const plugin = rig.plugin();
    await setUp(plugin, podOf("a"), persistent(1));
    rig.isRegistered = false;
    await expect(tearDownPod(plugin, rig.host, "a")).rejects.toThrow(
      'UnmountVolume.TearDown failed for volume "pv-1" : kubernetes.io/csi: Unmounter.TearDownAt failed to get CSI client: ' +
        "driver name csi.example.com not found in the list of registered CSI drivers",
    );
    expect(rig.csi.published.size).toBe(1);
    rig.isRegistered = true;
    await tearDownPod(plugin, rig.host, "a");
    await sweep(plugin, rig.host);
    expect(await listLeft(rig.host)).toEqual([]);
  });

  it.each([
    [2, ["rejected", "rejected", "known", "known", "known", "known"]],
    [Number.POSITIVE_INFINITY, ["rejected", "rejected", "rejected", "rejected", "rejected", "known"]],
  ])("is not said to be out of use where what names it cannot be read, %i times", async (times, outcomes) => {
    const rig = createCsiRig();
    await setUp(rig.plugin(), podOf("a"), persistent(1));
    let failures = 0;
    const { files } = rig.host;
    const read: typeof files.read = async (path, maxBytes) => {
      if (path.endsWith("/vol_data.json") && failures++ < times)
        throw Object.assign(new Error("EIO: i/o error"), { code: "EIO" });
      return await files.read(path, maxBytes);
    };
    const restarted = rig.plugin({}, { files: { ...files, read } });
    const seen: string[] = [];
    for (const _outcome of outcomes) {
      seen.push(
        await restarted.load().then(
          () => "known",
          () => "rejected",
        ),
      );
    }
    expect(seen).toEqual(outcomes);
    expect(restarted.volumesInUse()).toEqual(times === 2 ? ["kubernetes.io/csi/csi.example.com^vol-1"] : []);
  });

  it("keeps what a driver left in a directory of its", async () => {
    const rig = createCsiRig({ capabilities: [] });
    const plugin = rig.plugin();
    await setUp(plugin, podOf("a"), persistent(1));
    rig.csi.faults.after = ({ rpc }) => {
      if (rpc === "NodeUnpublishVolume") {
        rig.host.files.put(`${ROOT}/pods/a/volumes/kubernetes.io~csi/pv-1/mount/file`, "data");
      }
    };
    await expect(tearDownPod(plugin, rig.host, "a")).rejects.toThrow("ENOTEMPTY");
    expect(rig.host.files.text(`${ROOT}/pods/a/volumes/kubernetes.io~csi/pv-1/mount/file`)).toBe("data");
  });

  it("for one pod is refused to a second while the first has it", async () => {
    const rig = createCsiRig();
    const plugin = rig.plugin();
    const source = persistent(1, { accessModes: ["ReadWriteOncePod"] });
    await setUp(plugin, podOf("a"), source);
    const message = "volume uses the ReadWriteOncePod access mode and is already in use by another pod";
    const refused = `MountVolume.SetUp failed for volume "pv-1" : ${message}`;
    await expect(setUp(plugin, podOf("b"), source)).rejects.toThrow(refused);
    // Also after a restart, when only the disk knows.
    await expect(setUp(rig.plugin(), podOf("b"), source)).rejects.toThrow(refused);
    await tearDownPod(plugin, rig.host, "a");
    await expect(setUp(plugin, podOf("b"), source)).resolves.toMatchObject({ kind: "files" });
  });
});

describe("a failure of the driver", () => {
  const fail = (wanted: string, code: string) => (call: { rpc: string }) => {
    if (call.rpc === wanted) throw new CodedError(code, "no luck");
  };

  it.each([
    ["NodeStageVolume", "MountVolume.MountDevice failed", "Internal"],
    ["NodePublishVolume", "MountVolume.SetUp failed", "Internal"],
  ])("%s is told in upstream's words, and leaves nothing in the pod's directory", async (rpc, words, code) => {
    const rig = createCsiRig();
    rig.csi.faults.before = fail(rpc, "internal");
    const plugin = rig.plugin();
    await expect(setUp(plugin, podOf("a"), persistent(1))).rejects.toThrow(
      `${words} for volume "pv-1" : rpc error: code = ${code} desc = no luck`,
    );
    expect((await listLeft(rig.host)).filter((path) => path.includes("pods/"))).toEqual([]);
    await tearDownPod(plugin, rig.host, "a");
    delete rig.csi.faults.before;
    await sweep(plugin, rig.host);
    expect(await listLeft(rig.host)).toEqual([]);
  });

  it.each(["NodeStageVolume", "NodePublishVolume"])("%s of which nobody knows the end is undone", async (rpc) => {
    const rig = createCsiRig();
    rig.csi.faults.after = fail(rpc, "deadline-exceeded");
    const plugin = rig.plugin();
    await expect(setUp(plugin, podOf("a"), persistent(1))).rejects.toThrow("code = DeadlineExceeded");
    delete rig.csi.faults.after;
    await tearDownPod(plugin, rig.host, "a");
    await sweep(plugin, rig.host);
    expect([rig.csi.staged.size, rig.csi.published.size]).toEqual([0, 0]);
    expect(await listLeft(rig.host)).toEqual([]);
  });

  it.each(["NodeStageVolume", "NodePublishVolume"])(
    "%s that comes after such a one does not hide what that may have left",
    async (rpc) => {
      const rig = createCsiRig({ isMounting: false });
      const plugin = rig.plugin();
      rig.csi.faults.after = fail(rpc, "deadline-exceeded");
      await expect(setUp(plugin, podOf("a"), persistent(1))).rejects.toThrow("DeadlineExceeded");
      rig.csi.faults.before = fail(rpc, "internal");
      await expect(setUp(plugin, podOf("a"), persistent(1))).rejects.toThrow("Internal");
      delete rig.csi.faults.before;
      delete rig.csi.faults.after;
      await tearDownPod(plugin, rig.host, "a");
      await sweep(plugin, rig.host);
      expect([rig.csi.staged.size, rig.csi.published.size]).toEqual([0, 0]);
    },
  );

  it("to unstage is repeated until it is done, with the volume in use until then", async () => {
    const rig = createCsiRig();
    rig.driverSpec = { attachRequired: true };
    putAttachment(rig, "vol-1", { attached: true });
    const plugin = rig.plugin();
    await setUp(plugin, podOf("a"), persistent(1));
    await tearDownPod(plugin, rig.host, "a");
    rig.csi.faults.before = fail("NodeUnstageVolume", "internal");
    await sweep(plugin, rig.host, 4_000);
    expect(callsOf(rig.csi).slice(3)).toEqual([
      "Unstage internal",
      "Unstage internal",
      "Unstage internal",
      "Unstage internal",
    ]);
    expect(plugin.volumesInUse()).toEqual([`kubernetes.io/csi/${DRIVER}^vol-1`]);
    delete rig.csi.faults.before;
    await sweep(plugin, rig.host);
    expect(plugin.volumesInUse()).toEqual([]);
  });

  it("that never answers holds up the pods of its volume alone, and has an end", async () => {
    const rig = createCsiRig();
    rig.csi.faults.before = async ({ rpc, request, signal }) => {
      if (rpc !== "NodeStageVolume" || request["volumeId"] !== "vol-1") return;
      await new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve()));
    };
    const plugin = rig.plugin();
    const hung = expect(setUp(plugin, podOf("a"), persistent(1))).rejects.toThrow(
      /^MountVolume\.MountDevice failed for volume "pv-1" : .*code = DeadlineExceeded/,
    );
    await setUp(plugin, podOf("b"), persistent(2));
    await rig.host.clock.advance(120_000);
    await hung;
  });

  it.each(["NodeStageVolume", "NodePublishVolume"])(
    "%s that never answers is given up when the pod is, and undone",
    async (wanted) => {
      const rig = createCsiRig();
      let ask = (): void => undefined;
      const asked = new Promise<void>((resolve) => {
        ask = resolve;
      });
      rig.csi.faults.after = async ({ rpc, signal }) => {
        if (rpc !== wanted) return;
        ask();
        await new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve()));
      };
      const plugin = rig.plugin();
      const controller = new AbortController();
      const hung = setUp(plugin, podOf("a"), persistent(1), controller.signal);
      // One of the same volume waits for it, and need not either.
      const waiting = setUp(plugin, podOf("b"), persistent(1), controller.signal);
      await asked;
      controller.abort();
      for (const attempt of [hung, waiting]) await expect(attempt).rejects.toMatchObject({ name: "AbortError" });
      for (const uid of ["a", "b"]) await tearDownPod(plugin, rig.host, uid);
      await sweep(plugin, rig.host, 10_000);
      expect([rig.csi.staged.size, rig.csi.published.size]).toEqual([0, 0]);
      expect(await listLeft(rig.host)).toEqual([]);
    },
  );

  it("never repeats a secret", async () => {
    const rig = createCsiRig();
    rig.secrets.set("default/key", { data: { password: Buffer.from("hunter2").toString("base64") } });
    const reference = { namespace: "default", name: "key" };
    rig.csi.faults.before = ({ request }) => {
      const { secrets } = request;
      throw new CodedError("internal", `wrong: ${isRecord(secrets) ? String(secrets["password"]) : ""}`);
    };
    for (const csi of [{ nodeStageSecretRef: reference }, { nodePublishSecretRef: reference }]) {
      const error: unknown = await setUp(rig.plugin(), podOf("a"), persistent(1, { csi })).catch((thrown) => thrown);
      expect(error).toBeInstanceOf(VolumeOperationError);
      for (let cause = error; cause instanceof Error; cause = cause.cause)
        expect(cause.message).not.toContain("hunter2");
    }
  });
});

describe("an inline volume", () => {
  it("is published under a handle of its own, without staging or attachment, and knows its pod", async () => {
    const rig = createCsiRig();
    rig.driverSpec = { volumeLifecycleModes: ["Ephemeral"], podInfoOnMount: true };
    const plugin = rig.plugin();
    const source = inline({ volumeAttributes: { size: "big" }, readOnly: true });
    await expect(setUp(plugin, podOf("a"), source)).resolves.toMatchObject({
      hostPath: `${ROOT}/pods/a/volumes/kubernetes.io~csi/data/mount`,
      readOnly: true,
    });
    expect(rig.csi.calls.at(-1)?.request).toMatchObject({
      volumeId: `csi-${hash("adata")}`,
      stagingPath: undefined,
      volumeContext: {
        size: "big",
        "csi.storage.k8s.io/pod.name": "pod-a",
        "csi.storage.k8s.io/pod.namespace": "default",
        "csi.storage.k8s.io/pod.uid": "a",
        "csi.storage.k8s.io/serviceAccount.name": "builder",
        "csi.storage.k8s.io/ephemeral": "true",
      },
    });
    expect(plugin.volumesInUse()).toEqual([]);
    await tearDownPod(plugin, rig.host, "a");
    expect(await listLeft(rig.host)).toEqual([]);
  });

  it.each([
    [undefined, 'volume mode "Ephemeral" not supported by driver csi.example.com (no CSIDriver object)'],
    [{}, 'volume mode "Ephemeral" not supported by driver csi.example.com (only supports ["Persistent"])'],
  ])("needs a driver that says it can: %j", async (spec, words) => {
    const rig = createCsiRig();
    rig.driverSpec = spec;
    const refused = `MountVolume.SetUp failed for volume "data" : kubernetes.io/csi: mounter.SetupAt failed to check volume lifecycle mode: ${words}`;
    await expect(setUp(rig.plugin(), podOf("a"), inline())).rejects.toThrow(refused);
  });
});

describe("a volume of a cloud", () => {
  const pv = { azureFile: { secretName: "account", shareName: "share", secretNamespace: "vault" } };

  it("is mounted by the driver that serves its kind, as the volume of its handle", async () => {
    const rig = createCsiRig({ name: "file.csi.azure.com", volumes: { "#account#share#pv-1#vault": {} } });
    rig.secrets.set("vault/account", { data: { key: "c2VjcmV0" } });
    const persistentVolume = { metadata: { name: "pv-1" }, spec: pv };
    const source = { kind: "persistent" as const, persistentVolume, claim: {}, readOnly: false };
    expect(rig.plugin().supports(source)).toBe(true);
    await setUp(rig.plugin(), podOf("a"), source);
    expect(rig.csi.calls.map(({ rpc, request }) => [rpc, request])).toMatchObject([
      ["NodeStageVolume", { volumeId: "#account#share#pv-1#vault", secrets: { key: "secret" } }],
      ["NodePublishVolume", { volumeId: "#account#share#pv-1#vault", volumeContext: { sharename: "share" } }],
    ]);
  });

  it("that the pod names itself is attached by what it is, staged, and left in its own directory", async () => {
    const rig = createCsiRig({ name: "disk.csi.azure.com", volumes: { "/sub/d": {} } });
    rig.driverSpec = { attachRequired: true };
    const created: unknown[] = [];
    const plugin = rig.plugin(
      { enableControllerAttachDetach: false },
      {
        objects: {
          ...rig.deps.objects,
          async createVolumeAttachment({ metadata, spec }) {
            created.push(spec.source);
            rig.attachments.set(metadata?.name ?? "", { metadata: metadata ?? {}, spec, status: { attached: true } });
          },
        },
      },
    );
    const azureDisk = { diskName: "d", diskURI: "/sub/d", readOnly: true };
    const source = { kind: "pod" as const, volume: { name: "data", azureDisk } };
    expect(plugin.supports(source)).toBe(true);
    const ready = await setUp(plugin, podOf("a"), source);
    const directory = `${ROOT}/pods/a/volumes/kubernetes.io~csi/~sub~d`;
    expect(ready).toMatchObject({ hostPath: `${directory}/mount`, readOnly: true });
    expect(created).toMatchObject([
      { inlineVolumeSpec: { csi: { driver: "disk.csi.azure.com", volumeHandle: "/sub/d" } } },
    ]);
    expect(callsOf(rig.csi)).toEqual(["Stage ok", "Publish ok"]);
    await tearDownPod(plugin, rig.host, "a");
    await sweep(plugin, rig.host);
    expect(await listLeft(rig.host)).toEqual([]);
  });

  it("that no driver serves says why", async () => {
    const rig = createCsiRig();
    const azureDisk = { diskName: "d", diskURI: "u", kind: "Dedicated" };
    const source = { kind: "pod" as const, volume: { name: "data", azureDisk } };
    await expect(setUp(rig.plugin(), podOf("a"), source)).rejects.toThrow("kind(Dedicated) is not supported");
  });
});
