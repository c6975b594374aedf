import { describe, expect, it } from "vitest";
import type { Container, ObjectMeta, Pod, PodSecurityContext, SecurityContext } from "../../../api/gen/types.ts";
import { SecurityProfile_ProfileType as ProfileType } from "../../../cri/gen/cri-v1.ts";
import { buildAppArmor, buildSeccompProfile, findProfileError } from "./security-profiles.ts";

const { RuntimeDefault, Unconfined, Localhost } = ProfileType;
const ANNOTATION = "container.apparmor.security.beta.kubernetes.io/main";

interface Case {
  why: string;
  pod?: PodSecurityContext;
  own?: SecurityContext;
  annotations?: NonNullable<ObjectMeta["annotations"]>;
}

function make({ pod = {}, own = {}, annotations = {} }: Case): [Pod, Container] {
  const container: Container = { name: "main", securityContext: own };
  return [{ metadata: { annotations }, spec: { containers: [container], securityContext: pod } }, container];
}

describe("seccomp", () => {
  const local = { type: "Localhost", localhostProfile: "a/b.json" };

  it.each<Case & { seccompDefault?: boolean; expected: object }>([
    { why: "unconfined by default", expected: { profileType: Unconfined, localhostRef: "" } },
    { why: "the runtime's by the node's default", seccompDefault: true, expected: { profileType: RuntimeDefault } },
    {
      why: "the pod's",
      pod: { seccompProfile: { type: "RuntimeDefault" } },
      expected: { profileType: RuntimeDefault },
    },
    {
      why: "the container's wins",
      pod: { seccompProfile: { type: "RuntimeDefault" } },
      own: { seccompProfile: { type: "Unconfined" } },
      seccompDefault: true,
      expected: { profileType: Unconfined },
    },
    {
      why: "a file of the node",
      own: { seccompProfile: local },
      expected: { profileType: Localhost, localhostRef: "/var/lib/kubelet/seccomp/a/b.json" },
    },
  ])("$why", ({ seccompDefault = false, expected, ...input }) => {
    const node = { rootDirectory: "/var/lib/kubelet", seccompDefault };
    expect(buildSeccompProfile(...make(input), node)).toMatchObject(expected);
    expect(findProfileError(...make(input))).toBeUndefined();
  });
});

describe("AppArmor", () => {
  it.each<Case & { expected: object }>([
    { why: "nothing by default", expected: {} },
    {
      why: "the pod's",
      pod: { appArmorProfile: { type: "RuntimeDefault" } },
      expected: { apparmor: { profileType: RuntimeDefault, localhostRef: "" }, apparmorProfile: "runtime/default" },
    },
    {
      why: "the old annotation before the pod's",
      pod: { appArmorProfile: { type: "RuntimeDefault" } },
      annotations: { [ANNOTATION]: "localhost/strict" },
      expected: { apparmor: { profileType: Localhost, localhostRef: "strict" }, apparmorProfile: "localhost/strict" },
    },
    {
      why: "the container's before both",
      own: { appArmorProfile: { type: "Unconfined" } },
      annotations: { [ANNOTATION]: "runtime/default" },
      expected: { apparmor: { profileType: Unconfined, localhostRef: "" }, apparmorProfile: "unconfined" },
    },
  ])("$why", ({ expected, ...input }) => {
    expect(buildAppArmor(...make(input))).toEqual(expected);
    expect(findProfileError(...make(input))).toBeUndefined();
  });
});

it("CVE-2023-2431: a local seccomp profile without a name is refused, and never means Unconfined", () => {
  for (const localhostProfile of [undefined, ""]) {
    const seccompProfile = { type: "Localhost", ...(localhostProfile !== undefined && { localhostProfile }) };
    for (const input of [
      { why: "", own: { seccompProfile } },
      { why: "", pod: { seccompProfile } },
    ]) {
      expect(findProfileError(...make(input))).toMatch(/^localhostProfile must be set/);
      const node = { rootDirectory: "/var/lib/kubelet", seccompDefault: false };
      expect(buildSeccompProfile(...make(input), node).profileType).toBe(Localhost);
    }
  }
});

it.each<Case & { error: RegExp }>([
  {
    why: "a local profile without a name",
    own: { seccompProfile: { type: "Localhost" } },
    error: /^localhostProfile must be set if seccompProfile type is Localhost\.$/,
  },
  {
    why: "an empty one",
    own: { seccompProfile: { type: "Localhost", localhostProfile: "" } },
    error: /^localhostProfile must be set if seccompProfile type is Localhost\.$/,
  },
  {
    why: "one outside the directory",
    pod: { seccompProfile: { type: "Localhost", localhostProfile: "../x" } },
    error: /relative path/,
  },
  {
    why: "an absolute one",
    pod: { seccompProfile: { type: "Localhost", localhostProfile: "/etc/x" } },
    error: /relative path/,
  },
  {
    why: "an unknown seccomp type",
    own: { seccompProfile: { type: "Odd" } },
    error: /unknown seccompProfile type "Odd"/,
  },
  {
    why: "a local AppArmor profile without a name",
    own: { appArmorProfile: { type: "Localhost" } },
    error: /^missing localhost apparmor profile name$/,
  },
  { why: "an unknown annotation", annotations: { [ANNOTATION]: "odd" }, error: /unknown appArmorProfile type "odd"/ },
])("refuses $why", ({ error, ...input }) => {
  expect(findProfileError(...make(input))).toMatch(error);
});
