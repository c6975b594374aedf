import { describe, expect, it } from "vitest";
import type { Pod, Secret } from "../../../api/gen/types.ts";
import { CodedError } from "../../../base/errors.ts";
import { createTimeline } from "../../../base/timeline.ts";
import { createFakeCri } from "../../../cri/fake/create-fake-cri.ts";
import { PullImageRequest } from "../../../cri/gen/cri-v1.ts";
import { createFakeClock } from "../../../host/fake/fake-clock.ts";
import { openImages } from "./__fixtures__/open-images.ts";
import type { FoundPullSecrets } from "./find-credentials.ts";
import { createImageEnsurer } from "./image-ensurer.ts";

const NEVER = new AbortController().signal;
const IMAGE = "r.example/team/app:1";

function makeSecret(auths: Record<string, string>, name = "pull"): Secret {
  const entries = Object.entries(auths).map(([host, password]) => [host, { username: "bob", password }]);
  const text = JSON.stringify({ auths: Object.fromEntries(entries) });
  const data = { ".dockerconfigjson": Buffer.from(text).toString("base64") };
  return { metadata: { name }, type: "kubernetes.io/dockerconfigjson", data };
}

interface RigOptions {
  secrets?: () => Promise<FoundPullSecrets> | FoundPullSecrets;
  /** The registry lets in who has this password; undefined: everybody. */
  password?: string | undefined;
  imagePullSecrets?: Array<{ name?: string }>;
}

function createRig({ secrets, password, imagePullSecrets = [{ name: "pull" }] }: RigOptions) {
  const clock = createFakeClock();
  const timeline = createTimeline(clock);
  const requests: PullImageRequest[] = [];
  const asked: Pod[] = [];
  const cri = createFakeCri({
    clock,
    registry: [{ ref: IMAGE }],
    faults: {
      before({ rpc, request }) {
        if (rpc !== "pullImage") return;
        const pull = PullImageRequest.fromPartial(typeof request === "object" && request !== null ? request : {});
        requests.push(pull);
        const { auth } = pull;
        if (password === undefined || auth?.password === password) return;
        // As careless a message as a registry or a runtime could make.
        const header = Buffer.from(`${auth?.username}:${auth?.password}`).toString("base64");
        throw new CodedError("unknown", `denied: ${auth?.password} (Basic ${header}, Bearer ${auth?.identityToken})`);
      },
    },
  });
  const pullSecrets = async (pod: Pod) => {
    asked.push(pod);
    return (await secrets?.()) ?? { secrets: [], missing: [] };
  };
  const ensurer = createImageEnsurer(
    { ...openImages({ clock }), images: cri.images, timeline, ...(secrets ? { pullSecrets } : {}) },
    { parallelPulls: 1 },
  );
  const pod: Pod = {
    metadata: { uid: "u1", name: "web", namespace: "ns" },
    spec: { containers: [], imagePullSecrets },
  };
  const ensure = async (image = IMAGE) => await ensurer.ensureImage(pod, { name: "main", image }, NEVER);
  const events = () => timeline.read("u1").map(({ reason, message }) => `${reason}: ${message}`);
  return { asked, cri, ensure, events, passwords: () => requests.map(({ auth }) => auth?.password) };
}

const secretsOf = (...secrets: Secret[]) => ({ secrets: () => ({ secrets, missing: [] }) });

describe("a pull", () => {
  it.each<{ why: string; rig: RigOptions; tried: Array<string | undefined>; works: boolean }>([
    { why: "without secrets goes without credentials", rig: {}, tried: [undefined], works: true },
    {
      why: "whose secrets are for other registries goes without",
      rig: secretsOf(makeSecret({ "other.example": "x" })),
      tried: [undefined],
      works: true,
    },
    {
      why: "tries each that fits until one opens",
      rig: {
        ...secretsOf(
          makeSecret({ "r.example": "old", "r.example/team": "wrong", "other.example": "x" }),
          makeSecret({ "r.example": "new" }),
        ),
        password: "new",
      },
      tried: ["wrong", "old", "new"],
      works: true,
    },
    {
      why: "stops at the first that opens, and never goes without",
      rig: { ...secretsOf(makeSecret({ "r.example": "right", "*.example": "other" })), password: "right" },
      tried: ["right"],
      works: true,
    },
    {
      why: "fails when none opens, without a try with no credentials",
      rig: { ...secretsOf(makeSecret({ "r.example": "wrong" })), password: "right" },
      tried: ["wrong"],
      works: false,
    },
  ])("$why", async ({ rig: options, tried, works }) => {
    const rig = createRig(options);
    expect("imageRef" in (await rig.ensure())).toBe(works);
    expect(rig.passwords()).toEqual(tried);
  });

  it("is the only thing that asks for secrets, and only for a pod that names some", async () => {
    const present = createRig(secretsOf());
    present.cri.addImage({ ref: IMAGE });
    await present.ensure();
    const unnamed = createRig({ ...secretsOf(), imagePullSecrets: [] });
    await unnamed.ensure();
    expect([present.asked, unnamed.asked]).toEqual([[], []]);
  });

  it("goes on without the secrets that are missing or cannot be read, and says so", async () => {
    const bad: Secret = { ...makeSecret({}, "bad"), data: { ".dockerconfigjson": "%" } };
    const rig = createRig({
      secrets: () => ({ secrets: [bad, makeSecret({ "r.example": "right" })], missing: ["a", "b"] }),
      password: "right",
    });
    expect(await rig.ensure()).toHaveProperty("imageRef");
    expect(rig.events().slice(0, 2)).toEqual([
      "FailedToRetrieveImagePullSecret: Unable to retrieve some image pull secrets (a, b); attempting to pull the image may not succeed.",
      "FailedToRetrieveImagePullSecret: Unable to use image pull secret bad: it is not a JSON object; attempting to pull the image may not succeed.",
    ]);
  });

  it("whose secrets cannot be asked for fails, and backs off as any other", async () => {
    const rig = createRig({
      secrets: () => {
        throw new Error("the server does not answer");
      },
    });
    expect(await rig.ensure()).toMatchObject({ reason: "ErrImagePull", message: "the server does not answer" });
    expect(await rig.ensure()).toMatchObject({ reason: "ImagePullBackOff" });
    expect(rig.passwords()).toEqual([]);
  });
});

it("CVE-2020-8564: no credential appears in an event or an error, whatever the runtime says", async () => {
  const token: Secret = {
    ...makeSecret({}),
    data: {
      ".dockerconfigjson": Buffer.from(
        JSON.stringify({ auths: { "r.example": { identitytoken: "canary-token" } } }),
      ).toString("base64"),
    },
  };
  const secrets = secretsOf(makeSecret({ "r.example": "canary-one", "*.example": "canary-one-and-two" }), token);
  const rig = createRig({ ...secrets, password: "right" });
  const failed = await rig.ensure();
  expect(rig.passwords()).toEqual(["canary-one", "", "canary-one-and-two"]);
  const said = JSON.stringify([failed, rig.events()]);
  expect(said).toContain("denied: [redacted] (Basic [redacted], Bearer ");
  expect(said).not.toContain("canary");
  for (const password of ["canary-one", "canary-one-and-two"]) {
    expect(said).not.toContain(Buffer.from(`bob:${password}`).toString("base64"));
  }
});
