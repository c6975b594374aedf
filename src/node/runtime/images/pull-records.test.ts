import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { silentLog } from "../../../base/log.ts";
import { createMetrics } from "../../../base/metrics.ts";
import { createFakeCri } from "../../../cri/fake/create-fake-cri.ts";
import { ImageStatusRequest } from "../../../cri/gen/cri-v1.ts";
import { createFakeHost, type FakeHost } from "../../../host/fake/create-fake-host.ts";
import { type CredentialSource, hashCredentials, type PullCredentials } from "./pull-credentials.ts";
import { ImagePullError } from "./pull-image.ts";
import { createPullRecords } from "./pull-records.ts";
import type { VerificationPolicy } from "./verification-policy.ts";

const NEVER = new AbortController().signal;
const ROOT = "/var/lib/kubelet/image_manager";
const IMAGE = "r.example/team/app:1";
const REF = "sha256:1234";

const secret = (name: string, hash = `hash-of-${name}`, uid = `uid-of-${name}`): PullCredentials => ({
  credentials: { username: "u", password: "p", identityToken: "" },
  hash,
  source: { kind: "secret", uid, namespace: "ns", name },
});
const account = (name: string): PullCredentials => ({
  ...secret(name),
  source: { kind: "serviceAccount", uid: `uid-of-${name}`, namespace: "ns", name },
});
const ofNode: PullCredentials = { ...secret("n"), source: { kind: "node" } satisfies CredentialSource };
const fileOf = (kind: string, key: string) =>
  `${ROOT}/${kind}/sha256-${createHash("sha256").update(key).digest("hex")}`;

interface RigOptions {
  readonly host?: FakeHost;
  readonly policy?: Partial<VerificationPolicy>;
}

/** The same host again: another life of the node agent. */
function createRig({ host = createFakeHost(), policy = {} }: RigOptions = {}) {
  const cri = createFakeCri({ clock: host.clock });
  const metrics = createMetrics();
  const records = createPullRecords(
    { files: host.files, images: cri.images, clock: host.clock, log: silentLog, metrics },
    {
      rootDirectory: "/var/lib/kubelet",
      policy: { name: "NeverVerifyPreloadedImages", allowlist: [], ...policy },
    },
  );
  const mayUse = async (credentials: readonly PullCredentials[], { image = IMAGE, imageRef = REF } = {}) =>
    !(await records.mustPull({ image, imageRef }, async () => credentials, NEVER));
  const pull = async (used: PullCredentials | undefined, { image = IMAGE, imageRef = REF } = {}) =>
    await records.recordPull(image, async () => ({ imageRef, used }), NEVER);
  const read = async (kind: string, key: string) => {
    const text = await host.files.read(fileOf(kind, key), 10_000).catch(() => undefined);
    return text?.toString();
  };
  return { cri, host, mayUse, metrics, pull, read, records };
}

describe("an image on the machine", () => {
  it.each<[how: string, used: PullCredentials | undefined, who: readonly PullCredentials[], may: boolean]>([
    ["without credentials", undefined, [], true],
    ["with the node's", ofNode, [], true],
    ["with a secret, for nobody else", secret("a"), [], false],
    ["with a secret, for another one", secret("a"), [secret("b")], false],
    ["with a secret, for the same", secret("a"), [secret("b"), secret("a")], true],
    ["with a secret, for a copy of it", secret("a"), [secret("copy", "hash-of-a")], true],
    ["with a secret, for the same with other content", secret("a"), [secret("a", "rotated")], true],
    ["with a secret, for one of that name made anew", secret("a"), [secret("a", "x", "uid-2")], false],
    ["with a secret, for the node's own of that content", secret("a"), [{ ...ofNode, hash: "hash-of-a" }], false],
    ["with an account, for the same", account("a"), [account("a")], true],
    ["with an account, for another one", account("a"), [account("b")], false],
    ["with an account, for a secret", account("a"), [secret("a")], false],
  ])("that was pulled %s", async (_how, used, who, may) => {
    const first = createRig();
    await first.pull(used);
    expect(await first.mayUse(who)).toBe(may);
    expect(await createRig({ host: first.host }).mayUse(who)).toBe(may);
  });

  it("is for everybody whose credentials opened it, one after another", async () => {
    const { mayUse, pull } = createRig();
    await pull(secret("a"));
    await pull(secret("b"));
    await pull(account("c"));
    expect(
      await Promise.all([[secret("a")], [secret("b")], [account("c")], [secret("d")]].map((who) => mayUse(who))),
    ).toEqual([true, true, true, false]);
    await pull(undefined);
    expect(await mayUse([])).toBe(true);
  });

  it("is for each of its names apart, and for all tags of one", async () => {
    const { mayUse, pull } = createRig();
    await pull(secret("a"));
    expect(await mayUse([secret("a")], { image: "r.example/team/app@sha256:0123456789abcdef0123456789abcdef" })).toBe(
      true,
    );
    expect(await mayUse([secret("a")], { image: "r.example/other:1" })).toBe(false);
  });

  it.each<[policy: VerificationPolicy["name"], preloaded: boolean, pulled: boolean]>([
    ["NeverVerify", true, true],
    ["NeverVerifyPreloadedImages", true, false],
    ["AlwaysVerify", false, false],
  ])("under the policy %s", async (name, preloaded, pulled) => {
    const { mayUse, pull } = createRig({ policy: { name } });
    expect(await mayUse([])).toBe(preloaded);
    await pull(secret("a"));
    expect(await mayUse([])).toBe(pulled);
  });

  it.each<[image: string, may: boolean]>([
    ["r.example/app:1", true],
    ["r.example/app/more:1", false],
    ["r.example/team/app", true],
    ["r.example/teams/app", false],
  ])("by an allow list: %s %s", async (image, may) => {
    const policy = { name: "NeverVerifyAllowlistedImages", allowlist: ["r.example/app", "r.example/team/*"] } as const;
    expect(await createRig({ policy }).mayUse([], { image })).toBe(may);
  });

  it("asks for credentials only where they decide", async () => {
    const { pull, records } = createRig();
    await pull(undefined);
    const fail = async () => {
      throw new Error("the API server does not answer");
    };
    expect(await records.mustPull({ image: IMAGE, imageRef: REF }, fail, NEVER)).toBe(false);
    await pull(secret("b"), { image: "r.example/b", imageRef: "sha256:b" });
    expect(await records.mustPull({ image: "r.example/b", imageRef: "sha256:b" }, fail, NEVER)).toBe(true);
  });
});

describe("records", () => {
  it("are written as a Go kubelet writes them", async () => {
    const { pull, read } = createRig();
    await pull(secret("b"));
    await pull(secret("a"));
    await pull(account("c"));
    const written = await read("pulled", REF);
    expect(written?.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/, "TIME")).toBe(
      '{"kind":"ImagePulledRecord","apiVersion":"kubelet.config.k8s.io/v1beta1","lastUpdatedTime":"TIME","imageRef":"sha256:1234","credentialMapping":{"r.example/team/app":{"kubernetesSecrets":[{"uid":"uid-of-a","namespace":"ns","name":"a","credentialHash":"hash-of-a"},{"uid":"uid-of-b","namespace":"ns","name":"b","credentialHash":"hash-of-b"}],"kubernetesServiceAccounts":[{"uid":"uid-of-c","namespace":"ns","name":"c"}]}}}\n',
    );
  });

  it("note the intent before the pull, and not after it", async () => {
    const { read, records } = createRig();
    const during = await records.recordPull(
      IMAGE,
      async () => ({ imageRef: (await read("pulling", IMAGE)) ?? "", used: undefined }),
      NEVER,
    );
    expect(during.imageRef).toBe(
      `{"kind":"ImagePullIntent","apiVersion":"kubelet.config.k8s.io/v1beta1","image":"${IMAGE}"}\n`,
    );
    expect(await read("pulling", IMAGE)).toBeUndefined();
  });

  it("keep the intent while another pull of the image goes on", async () => {
    const { pull, read, records } = createRig();
    let finish = () => undefined;
    const slow = records.recordPull(
      IMAGE,
      async () => {
        await new Promise<void>((resolve) => {
          finish = () => void resolve();
        });
        return { imageRef: REF, used: undefined };
      },
      NEVER,
    );
    await pull(secret("a"));
    expect(await read("pulling", IMAGE)).toBeDefined();
    finish();
    await slow;
    expect(await read("pulling", IMAGE)).toBeUndefined();
  });

  it.each<[how: string, error: Error, stays: boolean]>([
    ["was refused", new ImagePullError("denied", { isUncertain: false, told: undefined }), false],
    ["got no answer", new ImagePullError("gone", { isUncertain: true, told: undefined }), true],
    ["was given up", new Error("aborted"), true],
  ])("of a pull that %s: the image may have come nevertheless: %s", async (_how, error, stays) => {
    const { mayUse, read, records } = createRig();
    const pull = async () => await Promise.reject(error);
    await expect(records.recordPull(IMAGE, pull, NEVER)).rejects.toBe(error);
    expect((await read("pulling", IMAGE)) !== undefined).toBe(stays);
    expect(await mayUse([])).toBe(!stays);
  });

  it("of a pull that the node agent did not survive: nobody may use the image, under any name, without a pull", async () => {
    const host = createFakeHost();
    const dead = createRig({ host });
    void dead.records.recordPull(IMAGE, async () => await new Promise(() => undefined), NEVER);
    await host.clock.settle();
    const next = createRig({ host });
    next.cri.addImage({ ref: IMAGE });
    const request = ImageStatusRequest.fromPartial({ image: { image: IMAGE } });
    const id = (await next.cri.images.imageStatus(request)).image?.id ?? "";
    expect(await next.mayUse([], { image: "r.example/another/name:1", imageRef: id })).toBe(false);
    expect(await next.mayUse([secret("a")], { imageRef: id })).toBe(false);
    await next.pull(secret("a"), { imageRef: id });
    expect(await next.mayUse([secret("a")], { imageRef: id })).toBe(true);
    expect(await next.read("pulling", IMAGE)).toBeUndefined();
  });

  const older = (imageRef: string, more = "") =>
    `{"kind":"ImagePulledRecord","apiVersion":"kubelet.config.k8s.io/v1alpha1","lastUpdatedTime":"2024-10-21T12:26:40Z","imageRef":"${imageRef}","credentialMapping":{"r.example/team/app":{"nodePodsAccessible":true${more}}}}`;
  const write = async (host: FakeHost, path: string, text: string) => {
    await host.files.makeDirectory(`${ROOT}/pulled`, 0o700);
    await host.files.writeAtomically(path, text, 0o600);
  };

  it("of an older version count, and are written anew", async () => {
    const { host, mayUse, read } = createRig();
    await write(host, fileOf("pulled", REF), older(REF));
    expect(await mayUse([])).toBe(true);
    expect(await read("pulled", REF)).toContain(
      '"kubelet.config.k8s.io/v1beta1","lastUpdatedTime":"2024-10-21T12:26:40Z"',
    );
  });

  it.each([
    ["torn", '{"kind":"Image'],
    ["of another image", older("sha256:other")],
    ["with a field that nobody knows", older(REF, ',"onlyOnSundays":true')],
  ])("that cannot be read (%s) allow nothing, and are made anew by a pull", async (_what, text) => {
    const { host, mayUse, pull } = createRig();
    await write(host, fileOf("pulled", REF), text);
    expect(await mayUse([secret("a")])).toBe(false);
    await pull(secret("a"));
    expect(await mayUse([secret("a")])).toBe(true);
  });

  it("of images that are gone are forgotten, but for those that may have come since the list", async () => {
    const { host, mayUse, metrics, pull, read, records } = createRig();
    await pull(secret("a"));
    await pull(secret("a"), { imageRef: "sha256:kept" });
    await host.clock.advance(10_000);
    const listedAt = host.clock.now();
    await host.clock.advance(10_000);
    await pull(secret("a"), { imageRef: "sha256:new" });
    await records.prune(["sha256:kept"], listedAt);
    expect([await read("pulled", REF), await mayUse([])]).toEqual([undefined, true]);
    expect(await mayUse([], { imageRef: "sha256:kept" })).toBe(false);
    expect(await mayUse([], { imageRef: "sha256:new" })).toBe(false);
    const text = await metrics.render();
    expect(text).toContain("kubelet_imagemanager_ondisk_pulledrecords 2");
    expect(text).toContain('kubelet_imagemanager_image_mustpull_checks_total{result="mustAuthenticate"} 2');
  });

  it("of a pull again after the list are kept, although they say nothing new", async () => {
    const { host, mayUse, pull, records } = createRig();
    await pull(secret("a"));
    await host.clock.advance(10_000);
    const listedAt = host.clock.now();
    await host.clock.advance(1_000);
    await pull(secret("a"));
    await records.prune([], listedAt);
    expect(await mayUse([])).toBe(false);
  });
});

it("hashes credentials as Go does", () => {
  // sha256 of {"username":"u","password":"p\u003c\u0026\u003e","email":"e"}
  const text = '{"username":"u","password":"p\\u003c\\u0026\\u003e","email":"e"}';
  expect(hashCredentials({ username: "u", password: "p<&>", email: "e" })).toBe(
    createHash("sha256").update(text).digest("hex"),
  );
});
